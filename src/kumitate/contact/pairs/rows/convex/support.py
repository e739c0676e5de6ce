"""The furthest points of convex solids, and those of the difference of two."""

from __future__ import annotations

import math
from typing import NamedTuple

from .....procedure import Floats, Shaped, local, procedure
from ..solids import Solid, Solids


class Couple(NamedTuple):
    """Two solids, rows a and b, and the pose of B in the frame A."""

    solids: Solids
    a: int
    b: int
    B: Shaped[4, 3]


class Difference(NamedTuple):
    """Some points of {q − p: q of B, p of A}, and their p, in the frame A."""

    W: Floats[3]
    P: Floats[3]


@procedure
def furthest(solids: Solids, i: int, along: Shaped[3], point: Shaped[3]) -> None:
    """The point of solid i without its ball that is furthest along a vector, both in the solid's frame."""
    count = solids.spans[i, 1]
    if count > 0:
        first = solids.spans[i, 0]
        best = first
        most = -math.inf
        for k in range(first, first + count):
            out = solids.vertices[k] @ along
            if out > most:
                most = out
                best = k
        point[:] = solids.vertices[best]
        return
    size = solids.sizes[i]
    for c in range(3):
        point[c] = math.copysign(size[c], along[c])
    curved = size[3:6] * along
    square = curved @ curved
    if square > 0.0:
        point += size[3:6] * curved * (1.0 / math.sqrt(square))


@procedure
def outermost(solid: Solid, along: Shaped[3], point: Shaped[3]) -> None:
    """The same of a solid where it is, along a vector of the world."""
    own = local(3)
    furthest(solid.solids, solid.row, along @ solid.pose[0:3], own)
    point[:] = solid.pose[0:3] @ own + solid.pose[3]


@procedure
def lift(couple: Couple, along: Shaped[3], points: Difference, k: int) -> float:
    """Writes the point of the difference that is least along a vector; gives how far along it that is."""
    q = local(3)
    furthest(couple.solids, couple.a, along, points.P[k])
    furthest(couple.solids, couple.b, -along @ couple.B[0:3], q)
    points.W[k] = couple.B[0:3] @ q + couple.B[3] - points.P[k]
    return points.W[k] @ along


@procedure
def extent(solids: Solids, i: int) -> float:
    """A length of which solid i without its ball is about half as large [m]."""
    size = solids.sizes[i]
    return size[7] + size[0] + size[1] + size[2] + max(size[3], size[4], size[5])
