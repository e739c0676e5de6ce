"""What the interior point method computes at a point, as traced programs, of which machine code evaluates several at a time.

The law dλ = push − K du of a point follows from x∘z = τ m and dz = A du + lack; see `interior_point`.
"""

from __future__ import annotations

from typing import Any

from ....scalar import maximum, minimum, select, sqrt, trace
from .cone_scaling import divided, product, scaling, step_to_cone, times

__all__ = ["AIMED", "SCALED", "SMOOTH", "STEPPED"]

#: ε of a sticking point, as a multiple of √τ; of a sliding one it is smaller by √τ / |u_t|.
ROUNDING = 0.3
#: Below this friction a point has only a normal law.
SMOOTH = 1e-6


def per_friction(mu: Any) -> Any:
    """1/μ, or 1 for a smooth point: λ_n is x₀ times this, and the part of u_n in z₀ is u_n times this."""
    return select(mu < SMOOTH, 1.0, 1.0 / maximum(mu, SMOOTH))


def scaled(mu: Any, target: Any, u: Any, x: Any, z: Any, given: Any) -> dict[str, Any]:
    """The scaling W, K = D⁻¹ W² A of dλ = push − K du, the slope ∂|u_t|/∂u_t in A, and the lack of z.

    given: √τ, and how much of the derivative of |u_t| is followed.
    """
    root, follow, first, smooth = given[0], given[1], per_friction(mu), mu < SMOOTH
    W = scaling(x, z)
    square = u[1] * u[1] + u[2] * u[2]
    epsilon = ROUNDING * root * root / (root + sqrt(square))
    length = sqrt(square + epsilon * epsilon)
    followed = follow / length
    slope = [select(smooth, 0.0, followed * u[k]) for k in (1, 2)]
    WW = [times(W, row) for row in W]
    K = [[first * row[0], *(select(smooth, 0.0, row[0] * slope[j - 1] + row[j]) for j in (1, 2))] for row in WW]
    K[0] = [first * k for k in K[0]]
    for i in (1, 2):
        K[i][0] = select(smooth, 0.0, K[i][0])
    lack = [first * (u[0] - target) - z[0] + select(smooth, 0.0, length - epsilon)]
    lack += [select(smooth, 0.0, u[k] - z[k]) for k in (1, 2)]
    return {"K": K, "W": W, "slope": slope, "lack": lack}


def aimed(mu: Any, mass: Any, x: Any, z: Any, W: Any, lack: Any, second: Any, given: Any) -> dict[str, Any]:
    """push = D⁻¹ (W ρ − W² lack), with λ̄∘ρ = τ m e − λ̄∘λ̄ − second and λ̄ = W z; and λ + push.

    given: τ, and 1 to correct by the products of the predictor's steps, else 0.
    """
    first, bar = per_friction(mu), times(W, z)
    d = [-a - given[1] * b for a, b in zip(product(bar, bar), [second[k] for k in range(3)], strict=True)]
    d[0] = d[0] + given[0] * mass
    push = times(W, [a - b for a, b in zip(divided(bar, d), times(W, lack), strict=True)])
    push[0] = first * push[0]
    return {"push": push, "total": [first * x[0] + push[0], x[1] + push[1], x[2] + push[2]]}


def stepped(mu: Any, K: Any, push: Any, slope: Any, lack: Any, du: Any, x: Any, z: Any, W: Any) -> dict[str, Any]:
    """dx and dz of a change of velocity, their product (W⁻¹ dx)∘(W dz), and the share of them that stays in the cones.

    W⁻¹ = J W J / η², η² = √(det W)^(2/3) of the scaling.
    """
    first, smooth, turned = per_friction(mu), mu < SMOOTH, times(K, du)
    dx = [push[k] - turned[k] for k in range(3)]
    dx[0] = select(smooth, 1.0, mu) * dx[0]
    dz = [lack[0] + first * du[0] + slope[0] * du[1] + slope[1] * du[2]]
    dz += [lack[k] + select(smooth, 0.0, du[k]) for k in (1, 2)]
    per_square = 1.0 / (W[0][0] * W[0][0] - W[0][1] * W[0][1] - W[0][2] * W[0][2])
    mirrored = times(W, [dx[0], -dx[1], -dx[2]])
    one = [per_square * mirrored[0], -per_square * mirrored[1], -per_square * mirrored[2]]
    share = minimum(step_to_cone(x, dx), step_to_cone(z, dz))
    return {"dx": dx, "dz": dz, "second": product(one, times(W, dz)), "share": share}


SCALED = trace(scaled, {"mu": (), "target": (), "u": 3, "x": 3, "z": 3, "given": 2}, "cone_scaled")
AIMED = trace(
    aimed, {"mu": (), "mass": (), "x": 3, "z": 3, "W": (3, 3), "lack": 3, "second": 3, "given": 2}, "cone_aimed"
)  # fmt: skip
STEPPED = trace(
    stepped, {"mu": (), "K": (3, 3), "push": 3, "slope": 2, "lack": 3, "du": 3, "x": 3, "z": 3, "W": (3, 3)}, "cone_stepped"
)  # fmt: skip
