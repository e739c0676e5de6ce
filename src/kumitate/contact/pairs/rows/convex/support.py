"""The furthest points of convex solids and of the difference of two; the face, edge or corner that one shows along a vector."""

from __future__ import annotations

import math
from typing import NamedTuple

from .....procedure import Floats, Shaped, local, procedure
from ..solids import Solid, Solids

#: The largest number of corners of a face.
LARGEST = 32
#: A face or an edge is one of several equally good ones only if it is better by this.
_BETTER = 1e-9
#: A cylinder whose axis is inclined by more than this to the direction looks there with an end [cosine].
_STEEP = 0.7
#: Corners that stand for a round end; where it leans, the closest point is one more.
_ROUND = 6


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
        best, most = first, -math.inf
        for k in range(first, first + count):
            out = solids.vertices[k] @ along
            if out > most:
                best, most = k, out
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


@procedure
def _hull_face(solids: Solids, i: int, along: Shaped[3], polygon: Floats[4], plane: Shaped[4]) -> int:
    """The face of a hull whose normal is most along the vector."""
    first = solids.spans[i, 2]
    best, most = first, -math.inf
    for f in range(first, first + solids.spans[i, 3]):
        out = solids.normals[f, 0:3] @ along
        if out > most + _BETTER:
            best, most = f, out
    count = solids.loops[best, 1]
    for k in range(count):
        corner = solids.spans[i, 0] + solids.corners[solids.loops[best, 0] + k]
        polygon[k, 0:3] = solids.vertices[corner]
        polygon[k, 3] = float(k)
    plane[0:3] = solids.normals[best, 0:3]
    plane[3] = float(best - first)
    return count


@procedure
def _round_end(solids: Solids, i: int, axis: int, up: float, polygon: Floats[4]) -> int:
    """Corners on the rim of an end across an axis."""
    size, i1, i2 = solids.sizes[i], (axis + 1) % 3, (axis + 2) % 3
    for k in range(_ROUND):
        angle = 2.0 * math.pi / _ROUND * k
        polygon[k, i1] = size[3 + i1] * math.cos(angle)
        polygon[k, i2] = up * size[3 + i2] * math.sin(angle)
        polygon[k, axis] = up * size[axis]
        polygon[k, 3] = float(k)
    return _ROUND


@procedure
def _box_face(solids: Solids, i: int, axis: int, up: float, polygon: Floats[4]) -> int:
    """The corners of a box's face across an axis."""
    size, i1, i2 = solids.sizes[i], (axis + 1) % 3, (axis + 2) % 3
    for k in range(4):
        polygon[k, i1] = size[i1] if k == 0 or k == 3 else -size[i1]
        polygon[k, i2] = up * (size[i2] if k < 2 else -size[i2])
        polygon[k, axis] = up * size[axis]
        polygon[k, 3] = float(k)
    return 4


@procedure
def _side(solids: Solids, i: int, axis: int, along: Shaped[3], polygon: Floats[4]) -> int:
    """The line along an axis on the side of a cylinder or a capsule."""
    size, aside, point = solids.sizes[i], 1.0 * along, local(3)
    aside[axis] = 0.0
    furthest(solids, i, aside, point)
    for k in range(2):
        polygon[k, 0:3] = point
        polygon[k, axis] = size[axis] if k == 0 else -size[axis]
        polygon[k, 3] = float(k)
    return 2


@procedure
def facing(solids: Solids, i: int, along: Shaped[3], polygon: Floats[4], plane: Shaped[4]) -> int:
    """Writes the corners of what solid i without its ball shows along a unit vector, and gives their number.

    Args:
        along: the vector, in the solid's frame.
        polygon: corners in the solid's frame, counter-clockwise as seen from outside, with the numbers of the sides that begin
            there: 3 or more of a face, 2 of an edge, 1 of a corner or of a round surface.
        plane: the face's outward normal, zero for edges and corners; and its number.
    """
    if solids.spans[i, 3] > 0:
        return _hull_face(solids, i, along, polygon, plane)
    size, lengths, round_lengths, axis, most, thin = solids.sizes[i], 0, 0, 0, -1.0, 2
    plane[:] = 0.0
    for c in range(3):
        lengths += 1 if size[c] > 0.0 else 0
        round_lengths += 1 if size[3 + c] > 0.0 else 0
        if abs(along[c]) > most + _BETTER:
            axis, most = c, abs(along[c])
        if size[3 + c] == 0.0:
            thin = c
    if round_lengths == 0 and lengths == 3:
        up = math.copysign(1.0, along[axis])
        plane[axis] = up
        plane[3] = float(2 * axis + (1 if up > 0.0 else 0))
        return _box_face(solids, i, axis, up, polygon)
    if round_lengths == 2 and lengths == 1 and size[thin] > 0.0:
        if abs(along[thin]) > _STEEP:
            up = math.copysign(1.0, along[thin])
            plane[thin] = up
            plane[3] = float(1 if up > 0.0 else 0)
            return _round_end(solids, i, thin, up, polygon)
        plane[3] = 2.0
        return _side(solids, i, thin, along, polygon)
    if round_lengths == 0 and lengths == 1:
        plane[3] = 2.0
        return _side(solids, i, 0 if size[0] > 0.0 else 1 if size[1] > 0.0 else 2, along, polygon)
    point = local(3)
    furthest(solids, i, along, point)
    polygon[0, 0:3] = point
    polygon[0, 3] = 0.0
    return 1
