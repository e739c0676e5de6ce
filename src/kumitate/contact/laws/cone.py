"""Projection onto the Coulomb cone: first the normal impulse, then the tangential one onto the disc that it allows.

Moments of torsional and rolling friction are projected onto the intervals and discs that the normal impulse allows them.
"""

from __future__ import annotations

from typing import Any

from ...scalar import Scalar, Scalars, jacobian, maximum, select, sqrt, trace
from ...spatial import Dense

_SMALLEST = 1e-300


def onto_cone(impulse: Scalars, friction: Scalar) -> list[Scalar]:
    """The impulse (normal, tangent, tangent) [N·s] with λ_n ≥ 0 and |λ_t| ≤ μ λ_n enforced.

    λ = onto_cone(λ − ρ u) for any ρ > 0 is equivalent to all contact laws: λ_n ≥ 0, u_n ≥ 0, λ_n u_n = 0, friction within the
    circular cone, and opposite to the sliding velocity u_t where the point slides (Alart and Curnier 1991).
    """
    normal, *tangential = impulse
    normal = maximum(normal, 0.0)
    return [normal, *onto_disc(tangential, friction * normal)]


def onto_disc(parts: Scalars, radius: Scalar) -> list[Scalar]:
    """The nearest vector of at most this length."""
    square = sum((part * part for part in parts[1:]), parts[0] * parts[0])
    inside = square <= radius * radius
    scale = select(inside, 1.0, radius / sqrt(maximum(square, _SMALLEST)))
    return [part * scale for part in parts]


def onto_limits(moment: Scalars, limit: Scalars, normal: Scalar) -> list[Scalar]:
    """Moments about the normal and about two tangents, with the limits of each in parts of the normal impulse."""
    return [*onto_disc(moment[:1], limit[0] * normal), *onto_disc(moment[1:], limit[1] * normal)]


def onto_friction_cone(a: Scalars, friction: Scalar) -> tuple[list[Scalar], list[list[Scalar]]]:
    """The nearest point of the cone |λ_t| ≤ μ λ_n, and how it changes with the point."""
    length = sqrt(maximum(a[1] * a[1] + a[2] * a[2], 1e-300))
    inside, apart = length <= friction * a[0], friction * length <= -a[0]
    share = 1.0 / (1.0 + friction * friction)
    normal = maximum(a[0] + friction * length, 0.0) * share
    x, y = a[1] / length, a[2] / length
    across, along = friction * normal / length, friction * friction * share
    point = [normal, friction * normal * x, friction * normal * y]
    D = [
        [share, friction * share * x, friction * share * y],
        [friction * share * x, along * x * x + across * y * y, (along - across) * x * y],
        [friction * share * y, (along - across) * x * y, along * y * y + across * x * x],
    ]
    chosen = [select(inside, one, select(apart, 0.0, other)) for one, other in zip(a, point, strict=True)]
    rows = [[select(inside, one, select(apart, 0.0, other)) for one, other in zip(*pair, strict=True)]
            for pair in zip(Dense.unit(3).rows, D, strict=True)]  # fmt: skip
    return chosen, rows


def _augmented(
    x: Any, z: Any, speed: Any, target: Scalar, friction: Scalar, mass: Scalar, softness: Scalar, strength: Scalar
) -> list[Scalar]:  # fmt: skip
    R = strength * mass
    give = sqrt(1.0 / (1.0 + softness * R))  # a soft point is less stiff along the normal
    aims = [(x[0] - R * (speed[0] - target + z[0])) * give, *(x[k] - R * speed[k] for k in (1, 2))]
    (normal, *tangential), _ = onto_friction_cone(aims, friction * give)
    return [normal * give, *tangential]


def _augmented_turns(x: Any, speed: Any, limit: Any, mass: Scalar, strength: Scalar, normal: Scalar) -> list[Scalar]:
    return onto_limits([a - strength * mass * rate for a, rate in zip(x, speed, strict=True)], limit, maximum(normal, 0.0))


#: The projection of one impulse as a program, and that of the moments of a point.
CONE = trace(onto_cone, {"impulse": 3, "friction": ()}, "cone")
LIMITED = trace(onto_limits, {"moment": 3, "limit": 2, "normal": ()}, "limited")
#: The impulse P of a point with the multiplier x and the normal velocity raised by z₀ (`impulse.cones`), and its moments, as a
#: normal impulse limits them; strength: their stiffness, in parts of their masses. And both with ∂P/∂u.
AUGMENTED = trace(
    _augmented,
    {"x": 3, "z": 3, "speed": 3, "target": (), "friction": (), "mass": (), "softness": (), "strength": ()}, "augmented",
)  # fmt: skip
AUGMENTED_TURNS = trace(
    _augmented_turns, {"x": 3, "speed": 3, "limit": 2, "mass": (), "strength": (), "normal": ()}, "augmented_turns"
)
AUGMENTED_SLOPES, AUGMENTED_SLOPES_OF_TURNS = jacobian(AUGMENTED, "speed"), jacobian(AUGMENTED_TURNS, "speed")
