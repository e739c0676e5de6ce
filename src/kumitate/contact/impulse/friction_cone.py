"""Projection onto the Coulomb cone: first the normal impulse, then the tangential one onto the disc that it allows."""

from __future__ import annotations

from collections.abc import Sequence

from ...scalar import Scalar, maximum, select, sqrt

__all__ = ["onto_cone"]

_SMALLEST = 1e-300


def onto_cone(impulse: Sequence[Scalar], friction: Scalar) -> list[Scalar]:
    """The impulse (normal, tangent, tangent) [N·s] with λ_n ≥ 0 and |λ_t| ≤ μ λ_n enforced.

    λ = onto_cone(λ − ρ u) for any ρ > 0 is equivalent to all contact laws: λ_n ≥ 0, u_n ≥ 0, λ_n u_n = 0, friction within the
    circular cone, and opposite to the sliding velocity u_t where the point slides (Alart and Curnier 1991).
    """
    normal, x, y = impulse
    normal = maximum(normal, 0.0)
    radius, square = friction * normal, x * x + y * y
    inside = square <= radius * radius
    scale = select(inside, 1.0, radius / sqrt(maximum(square, _SMALLEST)))
    return [normal, x * scale, y * scale]
