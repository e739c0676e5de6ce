"""Projection onto the Coulomb cone: first the normal impulse, then the tangential one onto the disc that it allows.

Moments of torsional and rolling friction are projected onto the intervals and discs that the normal impulse allows them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...scalar import Scalar, maximum, select, sqrt, trace

_SMALLEST = 1e-300


def onto_cone(impulse: Sequence[Scalar], friction: Scalar) -> list[Scalar]:
    """The impulse (normal, tangent, tangent) [N·s] with λ_n ≥ 0 and |λ_t| ≤ μ λ_n enforced.

    λ = onto_cone(λ − ρ u) for any ρ > 0 is equivalent to all contact laws: λ_n ≥ 0, u_n ≥ 0, λ_n u_n = 0, friction within the
    circular cone, and opposite to the sliding velocity u_t where the point slides (Alart and Curnier 1991).
    """
    normal, *tangential = impulse
    normal = maximum(normal, 0.0)
    return [normal, *onto_disc(tangential, friction * normal)]


def onto_disc(parts: Sequence[Scalar], radius: Scalar) -> list[Scalar]:
    """The nearest vector of at most this length."""
    square = sum((part * part for part in parts[1:]), parts[0] * parts[0])
    inside = square <= radius * radius
    scale = select(inside, 1.0, radius / sqrt(maximum(square, _SMALLEST)))
    return [part * scale for part in parts]


def onto_limits(moment: Sequence[Scalar], limit: Sequence[Scalar], normal: Scalar) -> list[Scalar]:
    """Moments about the normal and about two tangents, with the limits of each in parts of the normal impulse."""
    return [*onto_disc(moment[:1], limit[0] * normal), *onto_disc(moment[1:], limit[1] * normal)]


#: The projection of one impulse as a program, and that of the moments of a point.
CONE = trace(onto_cone, {"impulse": 3, "friction": ()}, "cone")
LIMITED = trace(onto_limits, {"moment": 3, "limit": 2, "normal": ()}, "limited")
