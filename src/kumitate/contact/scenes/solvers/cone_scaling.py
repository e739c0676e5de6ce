"""The second-order cone in space, in scalars: products, the scaling of Nesterov and Todd, steps to the boundary."""

from __future__ import annotations

import math
from typing import Any

from ....scalar import maximum, select, sqrt

__all__ = ["divided", "product", "scaling", "step_to_cone", "times"]


def product(a: Any, b: Any) -> list[Any]:
    """a∘b = (a·b, a₀ b_t + b₀ a_t)."""
    return [a[0] * b[0] + a[1] * b[1] + a[2] * b[2], a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]]


def divided(a: Any, d: Any) -> list[Any]:
    """The x of a∘x = d, for an a inside the cone."""
    first, each = (a[0] * d[0] - a[1] * d[1] - a[2] * d[2]) / inner(a), 1.0 / a[0]
    return [first, (d[1] - first * a[1]) * each, (d[2] - first * a[2]) * each]


def inner(a: Any) -> Any:
    """a₀² − |a_t|², positive inside the cone; as a product, which keeps its digits near the boundary."""
    length = sqrt(a[1] * a[1] + a[2] * a[2])
    return maximum((a[0] - length) * (a[0] + length), 1e-300)


def scaling(x: Any, z: Any) -> list[list[Any]]:
    """The symmetric W with W z = W⁻¹ x (Nesterov and Todd 1997; Vandenberghe's notes on CVXOPT, section 4)."""
    of_x, of_z = sqrt(inner(x)), sqrt(inner(z))
    per_x, per_z = 1.0 / of_x, 1.0 / of_z
    x0, x1, x2 = (per_x * x[k] for k in range(3))
    z0, z1, z2 = (per_z * z[k] for k in range(3))
    half = 1.0 / sqrt(2.0 * (1.0 + x0 * z0 + x1 * z1 + x2 * z2))
    w1, w2 = half * (x1 - z1), half * (x2 - z2)
    w0 = sqrt(1.0 + w1 * w1 + w2 * w2)
    eta, part = sqrt(of_x * per_z), 1.0 / (1.0 + w0)
    middle = eta * w1 * w2 * part
    return [
        [eta * w0, eta * w1, eta * w2],
        [eta * w1, eta * (1.0 + w1 * w1 * part), middle],
        [eta * w2, middle, eta * (1.0 + w2 * w2 * part)],
    ]


def times(W: Any, a: Any) -> list[Any]:
    """W a."""
    return [W[i][0] * a[0] + W[i][1] * a[1] + W[i][2] * a[2] for i in range(3)]


def step_to_cone(x: Any, dx: Any) -> Any:
    """The largest share of a step dx from inside the cone that stays in it; infinite if all do."""
    a = dx[0] * dx[0] - dx[1] * dx[1] - dx[2] * dx[2]
    b = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2]
    c = inner(x)
    # the least positive root of a s² + 2 b s + c, without cancellation; b² ≥ a c for any dx, as x is inside, but for rounding:
    # of a smooth point both are the same number
    root = sqrt(maximum(b * b - a * c, 0.0))
    outwards = select(a < 0.0, (b + root) / maximum(-a, 1e-300), math.inf)
    return select(b < 0.0, c / maximum(root - b, 1e-300), outwards)
