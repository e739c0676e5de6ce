"""The Coulomb cone, as a projection: first the normal impulse, then the tangential one onto the disc that it allows."""

from __future__ import annotations

from collections.abc import Sequence

from ...scalar import Scalar, maximum, select, sqrt

__all__ = ["onto_cone"]

_SMALLEST = 1e-300


def onto_cone(impulse: Sequence[Scalar], friction: Scalar) -> list[Scalar]:
    """λ_n ≥ 0 and |λ_t| ≤ μ λ_n, of an impulse (normal, tangent, tangent) [N·s].

    λ = onto_cone(λ − ρ u) for any ρ > 0 says all of contact at once: λ_n ≥ 0, u_n ≥ 0, λ_n u_n = 0, friction within the round
    cone, and against the sliding velocity u_t where it slides (Alart and Curnier 1991).
    """
    normal, x, y = impulse
    normal = maximum(normal, 0.0)
    radius, square = friction * normal, x * x + y * y
    inside = square <= radius * radius
    scale = select(inside, 1.0, radius / sqrt(maximum(square, _SMALLEST)))
    return [normal, x * scale, y * scale]
