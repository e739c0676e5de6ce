"""Any convex solid against any other: distance or depth, then the points of the faces that meet."""

from __future__ import annotations

from typing import NamedTuple

from .....procedure import Floats, Shaped, local, procedure
from ..solids import MOST, Points, Solid, put, relative
from .depth import depth
from .distance import APART, FAR_APART, INSIDE, distance
from .faces import Listing, clipped, to_frame, write_face, write_lines
from .polish import closest_point, polish
from .support import Couple, Difference, extent, facing, outermost

#: A normal is that of a face if it differs by less than this.
_SAME = 1e-7
#: Distances are exact to this part; with round parts they are made exact from near, and if that fails from nearer.
_EXACT, _NEAR, _ROUND = 1e-13, 1e-6, 1e-10
#: The closest point is a point of its own where it is deeper than those of the faces by this [m].
_DEEPER = 1e-7
#: What a point's number begins with: a face of A, a face of B, two lines, the closest point; the lowest one over a plane.
_BY_A, _BY_B, _LINES, _CLOSEST, _LOWEST = 1 << 44, 2 << 44, 3 << 44, 4 << 44, 1 << 32
#: The places of the numbers of the two faces.
_FACE, _OTHER = 28, 12


class _Side(NamedTuple):
    """The face, edge or corner of a solid that looks at the other one: see `facing`."""

    corners: Floats[4]
    size: int
    plane: Shaped[4]


@procedure
def _over(face: _Side, other: _Side, sign: float, radius: float, kind: int, listing: Listing) -> int:
    """Clips the other polygon to the face, and writes what is left."""
    kept, frame = local(64, 4), local(4, 3)
    left = clipped(face.corners, face.size, face.plane, other.corners, other.size, kept, frame)
    return write_face(other.corners, left, frame, sign, radius, kind, listing)


@procedure
def _by_faces(couple: Couple, before: int, found: Shaped[8], listing: Listing) -> int:
    """Writes the points of the faces or lines that meet; none where a corner or two edges meet."""
    solids, a, b, B, n = couple.solids, couple.a, couple.b, couple.B, found[0:3]
    radius_a, radius_b = solids.sizes[a, 6], solids.sizes[b, 6]
    first, second, plane_a, plane_b = local(64, 4), local(64, 4), local(4), local(4)
    count_a, count_b = facing(solids, a, n, first, plane_a), facing(solids, b, -n @ B[0:3], second, plane_b)
    to_frame(B, second, count_b, plane_b)
    one, other = _Side(first, count_a, plane_a), _Side(second, count_b, plane_b)
    flat_a = count_a > 2 and abs(plane_a[0] - n[0]) + abs(plane_a[1] - n[1]) + abs(plane_a[2] - n[2]) < _SAME
    flat_b = count_b > 2 and abs(plane_b[0] + n[0]) + abs(plane_b[1] + n[1]) + abs(plane_b[2] + n[2]) < _SAME
    if flat_a and not (flat_b and before >> 44 == 2):
        kind = _BY_A + (int(plane_a[3]) << _FACE) + (int(plane_b[3]) << _OTHER)
        return _over(one, other, 1.0, radius_a, kind, listing)
    if flat_b:
        kind = _BY_B + (int(plane_b[3]) << _FACE) + (int(plane_a[3]) << _OTHER)
        return _over(other, one, -1.0, radius_b, kind, listing)
    if count_a == 2 and count_b == 2:
        return write_lines(first, second, n, radius_a, _LINES, listing)
    return 0


@procedure
def closest(couple: Couple, margin: float, found: Shaped[8]) -> bool:
    """Whether two solids are at most `margin` apart; found: the normal from A to B, the gap [m], a point of A, in its frame."""
    solids, a, b = couple.solids, couple.a, couple.b
    both = solids.sizes[a, 6] + solids.sizes[b, 6]
    size = extent(solids, a) + extent(solids, b)
    weights, W, P = local(4), local(4, 3), local(4, 3)
    points = Difference(W, P)
    round_parts = solids.sizes[a, 3] + solids.sizes[a, 4] + solids.sizes[b, 3] + solids.sizes[b, 4] > 0.0
    exact = _NEAR if round_parts else _EXACT
    for _ in range(2):
        status = distance(couple, size, margin + both, exact, points, weights, found)
        if status == FAR_APART:
            return False
        if status != APART:
            depth(couple, size, exact, status == INSIDE, points, weights, found)
        if not round_parts or polish(couple, size, points, weights, found):
            break
        exact = _ROUND
    closest_point(solids, a, P, weights, found)
    found[3] -= both
    found[4:7] += solids.sizes[a, 6] * found[0:3]
    return found[3] <= margin


@procedure
def gap_along(one: Solid, other: Solid, axis: Shaped[3]) -> float:
    """The gap of two convex solids along an axis from one to the other, of unit length or zero: at most their distance [m]."""
    p, q = local(3), local(3)
    outermost(one, axis, p)
    outermost(Solid(one.solids, other.row, other.pose), -axis, q)
    return (q - p) @ axis - one.solids.sizes[one.row, 6] - one.solids.sizes[other.row, 6]


@procedure
def convex_convex(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
    """Up to eight points. Arguments as those of `touch`."""
    pose, B, found = a.pose, local(4, 3), local(8)
    relative(pose, b.pose, B)
    couple = Couple(a.solids, a.row, b.row, B)
    if not closest(couple, margin, found):
        out.normals[k] = pose[0:3] @ found[0:3]
        return 0
    both = a.solids.sizes[a.row, 6] + a.solids.sizes[b.row, 6]
    count = _by_faces(couple, before, found, Listing(pose, both, margin, out, k))
    middle, normal = found[4:7] + 0.5 * found[3] * found[0:3], pose[0:3] @ found[0:3]
    return _with_closest(count, pose[0:3] @ middle + pose[3], normal, found[3], _CLOSEST, out, k)


@procedure
def _with_closest(count: int, place: Shaped[3], normal: Shaped[3], gap: float, feature: int, out: Points, k: int) -> int:
    """Adds the closest point to those of the faces, if need be in place of the eighth, if it is deeper; gives their number."""
    for i in range(k, k + count):
        if not gap < out.gaps[i] - _DEEPER:
            return count
    row = min(count, MOST - 1)
    put(out, k + row, place, normal, gap, feature)
    return row + 1


@procedure
def plane_convex(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
    """The half space z ≤ 0 of A against any convex solid: the corners of the face that looks down, and the lowest point."""
    up, lowest, radius = local(3), local(3), a.solids.sizes[b.row, 6]
    for c in range(3):
        up[c] = a.pose[c, 2]
    outermost(Solid(a.solids, b.row, b.pose), -up, lowest)
    gap = up @ (lowest - a.pose[3]) - radius
    if gap > margin:
        return 0
    polygon, plane, same = local(64, 4), local(4), local(4, 3)
    for c in range(3):
        same[c, c] = 1.0
    count = facing(a.solids, b.row, -up @ b.pose[0:3], polygon, plane)
    to_frame(b.pose, polygon, count, plane)
    for i in range(count):
        polygon[i, 0:3] = (polygon[i, 0:3] - a.pose[3]) @ a.pose[0:3]
    found = write_face(polygon, count, same, 1.0, 0.0, int(plane[3]) << 12, Listing(a.pose, radius, margin, out, k))
    return _with_closest(found, lowest - (radius + 0.5 * gap) * up, up, gap, _LOWEST, out, k)
