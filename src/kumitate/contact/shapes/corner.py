"""The distance to a corner, shared by boxes (in three directions) and cylinders (in two)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...scalar import Scalar, either, maximum, minimum, select, sqrt

__all__ = ["outside_corner"]

#: A point this close to the surface counts as inside, where the nearest face gives the direction [m].
_INSIDE = 1e-12


def outside_corner(offsets: Sequence[Scalar]) -> tuple[Scalar, list[Scalar]]:
    """The signed distance to the set where all offsets are ≤ 0, and the unit vector away from it.

    Args:
        offsets: how far the point lies beyond each face, along mutually perpendicular directions [m].

    Returns:
        The distance [m], which inside is minus the depth below the nearest face; and the components along those directions.
    """
    beyond = [maximum(offset, 0.0) for offset in offsets]
    square = sum((part * part for part in beyond[1:]), beyond[0] * beyond[0])
    outside = square > _INSIDE * _INSIDE
    length = sqrt(square)
    scale = 1.0 / select(outside, length, 1.0)
    nearest = reduce(maximum, offsets)
    away, taken = [], False
    for offset, part in zip(offsets, beyond, strict=True):
        here = offset >= nearest
        face = select(taken, 0.0, select(here, 1.0, 0.0))  # the first of equally near faces
        taken = either(taken, here)
        away.append(select(outside, part * scale, face))
    return select(outside, length, minimum(nearest, 0.0)), away
