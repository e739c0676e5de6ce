"""The face, edge or corner with which a convex solid looks in a direction."""

from __future__ import annotations

import math

from .....procedure import Floats, Shaped, procedure
from ..solids import Solids
from .support import furthest

#: The largest number of corners of a face.
LARGEST = 32
#: A face or an edge is one of several equally good ones only if it is better by this.
_BETTER = 1e-9
#: A cylinder whose axis is inclined by more than this to the direction looks there with an end [cosine].
_STEEP = 0.7
#: Corners that stand for a round end; where it leans, the closest point is one more.
_ROUND = 6


@procedure
def _hull_face(solids: Solids, i: int, x: float, y: float, z: float, polygon: Floats[4], plane: Shaped[4]) -> int:
    """The face of a hull whose normal is most along the vector."""
    first = solids.spans[i, 2]
    best = first
    most = -math.inf
    for f in range(first, first + solids.spans[i, 3]):
        along = solids.normals[f, 0] * x + solids.normals[f, 1] * y + solids.normals[f, 2] * z
        if along > most + _BETTER:
            most = along
            best = f
    count = solids.loops[best, 1]
    for k in range(count):
        corner = solids.spans[i, 0] + solids.corners[solids.loops[best, 0] + k]
        polygon[k, 0], polygon[k, 1], polygon[k, 2] = (
            solids.vertices[corner, 0], solids.vertices[corner, 1], solids.vertices[corner, 2]
        )  # fmt: skip
        polygon[k, 3] = float(k)
    plane[0], plane[1], plane[2] = solids.normals[best, 0], solids.normals[best, 1], solids.normals[best, 2]
    plane[3] = float(best - first)
    return count


@procedure
def _round_end(solids: Solids, i: int, axis: int, up: float, polygon: Floats[4]) -> int:
    """Corners on the rim of an end across an axis."""
    size = solids.sizes[i]
    i1 = (axis + 1) % 3
    i2 = (axis + 2) % 3
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
    size = solids.sizes[i]
    i1 = (axis + 1) % 3
    i2 = (axis + 2) % 3
    for k in range(4):
        polygon[k, i1] = size[i1] if k == 0 or k == 3 else -size[i1]
        polygon[k, i2] = up * (size[i2] if k < 2 else -size[i2])
        polygon[k, axis] = up * size[axis]
        polygon[k, 3] = float(k)
    return 4


@procedure
def _side(solids: Solids, i: int, axis: int, x: float, y: float, z: float, polygon: Floats[4]) -> int:
    """The line along an axis on the side of a cylinder or a capsule."""
    size = solids.sizes[i]
    px, py, pz = furthest(solids, i, 0.0 if axis == 0 else x, 0.0 if axis == 1 else y, 0.0 if axis == 2 else z)
    for k in range(2):
        polygon[k, 0], polygon[k, 1], polygon[k, 2], polygon[k, 3] = px, py, pz, float(k)
        polygon[k, axis] = size[axis] if k == 0 else -size[axis]
    return 2


@procedure
def facing(solids: Solids, i: int, x: float, y: float, z: float, polygon: Floats[4], plane: Shaped[4]) -> int:
    """Writes the corners of what solid i without its ball shows along a unit vector, and gives their number.

    Args:
        x, y, z: the vector, in the solid's frame.
        polygon: corners in the solid's frame, counter-clockwise as seen from outside, with the numbers of the sides that begin
            there: 3 or more of a face, 2 of an edge, 1 of a corner or of a round surface.
        plane: the face's outward normal, zero for edges and corners; and its number.
    """
    if solids.spans[i, 3] > 0:
        return _hull_face(solids, i, x, y, z, polygon, plane)
    size = solids.sizes[i]
    plane[0], plane[1], plane[2], plane[3] = 0.0, 0.0, 0.0, 0.0
    lengths = 0
    round_lengths = 0
    axis = 0
    along = -1.0
    thin = 2
    for c in range(3):
        lengths += 1 if size[c] > 0.0 else 0
        round_lengths += 1 if size[3 + c] > 0.0 else 0
        here = abs(x if c == 0 else y if c == 1 else z)
        if here > along + _BETTER:
            along = here
            axis = c
        if size[3 + c] == 0.0:
            thin = c
    straight = x if axis == 0 else y if axis == 1 else z
    if round_lengths == 0 and lengths == 3:
        up = math.copysign(1.0, straight)
        plane[axis] = up
        plane[3] = float(2 * axis + (1 if up > 0.0 else 0))
        return _box_face(solids, i, axis, up, polygon)
    if round_lengths == 2 and lengths == 1 and size[thin] > 0.0:
        slope = x if thin == 0 else y if thin == 1 else z
        if abs(slope) > _STEEP:
            up = math.copysign(1.0, slope)
            plane[thin] = up
            plane[3] = float(1 if up > 0.0 else 0)
            return _round_end(solids, i, thin, up, polygon)
        plane[3] = 2.0
        return _side(solids, i, thin, x, y, z, polygon)
    if round_lengths == 0 and lengths == 1:
        plane[3] = 2.0
        return _side(solids, i, 0 if size[0] > 0.0 else 1 if size[1] > 0.0 else 2, x, y, z, polygon)
    px, py, pz = furthest(solids, i, x, y, z)
    polygon[0, 0], polygon[0, 1], polygon[0, 2], polygon[0, 3] = px, py, pz, 0.0
    return 1
