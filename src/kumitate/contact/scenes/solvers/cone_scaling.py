"""The algebra of the second-order cone in space: products, the scaling of Nesterov and Todd, steps to the boundary."""

from __future__ import annotations

import math

from ....procedure import Shaped, procedure

__all__ = ["divided", "product", "scale_point", "step_to_cone"]


@procedure
def product(a: Shaped[3], b: Shaped[3], ab: Shaped[3]) -> None:
    """a∘b = (a·b, a₀ b_t + b₀ a_t)."""
    ab[0] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    ab[1] = a[0] * b[1] + b[0] * a[1]
    ab[2] = a[0] * b[2] + b[0] * a[2]


@procedure
def divided(a: Shaped[3], d: Shaped[3], x: Shaped[3]) -> None:
    """The x of a∘x = d, for an a inside the cone."""
    first, each = (a[0] * d[0] - a[1] * d[1] - a[2] * d[2]) / inner(a), 1.0 / a[0]
    x[0] = first
    x[1] = (d[1] - first * a[1]) * each
    x[2] = (d[2] - first * a[2]) * each


@procedure
def inner(a: Shaped[3]) -> float:
    """a₀² − |a_t|², positive inside the cone; as a product, which keeps its digits near the boundary."""
    length = math.sqrt(a[1] * a[1] + a[2] * a[2])
    return max((a[0] - length) * (a[0] + length), 1e-300)


@procedure
def scale_point(x: Shaped[3], z: Shaped[3], W: Shaped[3, 3]) -> None:
    """The symmetric W with W z = W⁻¹ x (Nesterov and Todd 1997; Vandenberghe's notes on CVXOPT, section 4)."""
    of_x, of_z = math.sqrt(inner(x)), math.sqrt(inner(z))
    per_x, per_z = 1.0 / of_x, 1.0 / of_z
    x1, x2, z1, z2 = per_x * x[1], per_x * x[2], per_z * z[1], per_z * z[2]
    half = 1.0 / math.sqrt(2.0 * (1.0 + per_x * x[0] * per_z * z[0] + x1 * z1 + x2 * z2))
    w1, w2 = half * (x1 - z1), half * (x2 - z2)
    w0 = math.sqrt(1.0 + w1 * w1 + w2 * w2)
    eta, part = math.sqrt(of_x / of_z), 1.0 / (1.0 + w0)
    W[0, 0] = eta * w0
    W[0, 1] = eta * w1
    W[1, 0] = eta * w1
    W[0, 2] = eta * w2
    W[2, 0] = eta * w2
    W[1, 1] = eta * (1.0 + w1 * w1 * part)
    W[1, 2] = eta * w1 * w2 * part
    W[2, 1] = eta * w1 * w2 * part
    W[2, 2] = eta * (1.0 + w2 * w2 * part)


@procedure
def step_to_cone(x: Shaped[3], dx: Shaped[3]) -> float:
    """The largest share of a step dx from inside the cone that stays in it; infinite if all do."""
    a = dx[0] * dx[0] - dx[1] * dx[1] - dx[2] * dx[2]
    b = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2]
    c = inner(x)
    # the least positive root of a s² + 2 b s + c, without cancellation
    root = b * b - a * c
    if root < 0.0:
        return math.inf
    q = -(b + math.sqrt(root)) if b >= 0.0 else -b + math.sqrt(root)
    if b >= 0.0:
        return q / a if a < 0.0 else math.inf
    return c / q
