"""The shallowest way apart of two convex solids that overlap or nearly touch.

The difference {q − p: q of B, p of A} is approached by the hull of some of its points, from inside; the face of this hull that
is nearest to the origin is moved outward until it is one of the difference (van den Bergen, Proximity queries and penetration
depth computation on 3D game objects, 2001). Distances of faces have a sign, so that an origin on the boundary or a little
outside needs nothing special.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .....procedure import Floats, Ints, Shaped, local, local_ints, procedure
from ..solids import across
from .support import Couple, Difference, lift

_POINTS, _FACES = 64, 128
#: A first tetrahedron lower than this part of the size is flat; a triangle with a smaller square of the sine is a line.
_FLAT, _THIN = 1e-9, 1e-14
#: A tetrahedron to begin with has at least this square of its volume, as part of that of a box of its edges.
_THICK = 1e-6


class _Polytope(NamedTuple):
    """The hull of some points of the difference, in rows of which some are free."""

    corners: Ints[3]  # of every face, its points
    planes: Floats[4]  # its outward normal and offset
    beside: Ints[3]  # the faces beside its sides
    marks: Ints  # 1 while it is seen
    lists: Ints[3]  # faces that are seen, new faces, rows that are free (of which row 0 is the number)
    rim: Ints[2]  # of every point, the new faces whose sides along the rim begin and end there


@procedure
def _spread(couple: Couple, size: float, along: Shaped[3], points: Difference, k: int) -> bool:
    """Writes point k, furthest from the first one to either side along a unit vector; whether it is away from that."""
    here = points.W[0] @ along
    down = here - lift(couple, along, points, k)
    if down > _FLAT * size:
        return True
    up = -lift(couple, -along, points, k) - here
    return up > _FLAT * size


@procedure
def _is_thick(W: Floats[3]) -> bool:
    """Whether a tetrahedron has faces whose directions are certain."""
    u, t, p = W[1] - W[0], W[2] - W[0], W[3] - W[0]
    volume = np.cross(u, t) @ p
    return volume * volume > _THICK * (u @ u) * (t @ t) * (p @ p)


@procedure
def _tetrahedron(couple: Couple, size: float, points: Difference, n: Shaped[4]) -> bool:
    """Writes four points of the difference that are not in one plane; if there are none, its normal and offset."""
    W, u, v = points.W, local(3), local(3)
    u[0] = 1.0
    lift(couple, u, points, 0)
    away = _spread(couple, size, u, points, 1)
    for axis in range(1, 3):
        if not away:
            u[:] = 0.0
            u[axis] = 1.0
            away = _spread(couple, size, u, points, 1)
    if away:
        u[:] = W[1] - W[0]
        u *= 1.0 / math.sqrt(u @ u)
        across(u, v)
        away = _spread(couple, size, v, points, 2)  # else v is normal to all points, whether they are in a plane or a line
        if away:
            v[:] = np.cross(u, W[2] - W[0])
            v *= 1.0 / math.sqrt(v @ v)
            away = _spread(couple, size, v, points, 3)
        u[:] = v
    n[0:3] = u
    n[3] = u @ W[0]
    return away


@procedure
def _make_face(W: Floats[3], corners: Ints[3], planes: Floats[4], f: int, i: int, j: int, k: int) -> None:
    """Writes the corners and the plane of face f: its outward normal and its offset, infinite if it is a line."""
    corners[f, 0], corners[f, 1], corners[f, 2] = i, j, k
    u, t = W[j] - W[i], W[k] - W[i]
    n = np.cross(u, t)
    square = n @ n
    if square <= _THIN * (u @ u) * (t @ t):
        planes[f, 3] = math.inf
        return
    scale = 1.0 / math.sqrt(square)
    planes[f, 0:3] = scale * n
    planes[f, 3] = (n @ W[i]) * scale


@procedure
def _first_faces(W: Floats[3], corners: Ints[3], planes: Floats[4], beside: Ints[3]) -> None:
    """The four faces of the tetrahedron, counter-clockwise as seen from outside."""
    one = 2 if np.cross(W[1] - W[0], W[2] - W[0]) @ (W[3] - W[0]) > 0.0 else 1
    two = 3 - one
    _make_face(W, corners, planes, 0, 0, one, two)
    _make_face(W, corners, planes, 1, 0, two, 3)
    _make_face(W, corners, planes, 2, two, one, 3)
    _make_face(W, corners, planes, 3, one, 0, 3)
    beside[0, 0], beside[0, 1], beside[0, 2] = 3, 2, 1
    beside[1, 0], beside[1, 1], beside[1, 2] = 0, 2, 3
    beside[2, 0], beside[2, 1], beside[2, 2] = 0, 3, 1
    beside[3, 0], beside[3, 1], beside[3, 2] = 0, 1, 2


@procedure
def _find_seen(hull: _Polytope, face: int, point: Shaped[3], size: float) -> int:
    """Marks the faces that a point outside of `face` sees, and gives their number.

    They are found from neighbor to neighbor, so that they have one rim whatever rounding does. Faces that are lines are seen
    from anywhere.
    """
    planes, marks, lists = hull.planes, hull.marks, hull.lists
    lists[0, 0], marks[face] = face, 1
    seen, k = 1, 0
    while k < seen:
        for e in range(3):
            g = hull.beside[lists[k, 0], e]
            if marks[g] == 0:
                above = planes[g, 0:3] @ point - planes[g, 3]
                if planes[g, 3] == math.inf or above > 1e-15 * size:
                    marks[g] = 1
                    lists[seen, 0] = g
                    seen += 1
        k += 1
    return seen


@procedure
def _enlarge(hull: _Polytope, W: Floats[3], face: int, new: int, top: int, size: float) -> int:
    """Adds point `new`, which is outside of `face`: the faces that it sees are replaced by one for every side of their rim.

    Returns the number of face rows in use; −1 if there is no room.
    """
    corners, planes, beside, marks, lists = hull.corners, hull.planes, hull.beside, hull.marks, hull.lists
    seen = _find_seen(hull, face, W[new], size)
    made = 0
    for k in range(seen):
        f = lists[k, 0]
        for e in range(3):
            g = beside[f, e]
            if marks[g] == 0:
                h = top
                if lists[0, 2] > 0:
                    h = lists[lists[0, 2], 2]
                    lists[0, 2] -= 1
                elif top == _FACES:
                    return -1
                else:
                    top += 1
                i, j = corners[f, e], corners[f, (e + 1) % 3]
                _make_face(W, corners, planes, h, i, j, new)
                beside[h, 0] = g
                for c in range(3):
                    if beside[g, c] == f:
                        beside[g, c] = h
                hull.rim[i, 0], hull.rim[j, 1], lists[made, 1] = h, h, h
                made += 1
    for k in range(made):
        h = lists[k, 1]
        beside[h, 1] = hull.rim[corners[h, 1], 0]
        beside[h, 2] = hull.rim[corners[h, 0], 1]
    for k in range(seen):
        f = lists[k, 0]
        marks[f] = 0
        planes[f, 3] = math.inf
        lists[0, 2] += 1
        lists[lists[0, 2], 2] = f
    return top


@procedure
def _foot(W: Floats[3], corners: Ints[3], planes: Floats[4], f: int, weights: Shaped[4]) -> None:
    """Writes the weights of the corners of face f in its point closest to the origin."""
    i, j, k, n = corners[f, 0], corners[f, 1], corners[f, 2], planes[f, 0:3]
    u, t, d = W[j] - W[i], W[k] - W[i], planes[f, 3] * n - W[i]
    area = n @ np.cross(u, t)
    of_j, of_k = n @ np.cross(d, t) / area, n @ np.cross(u, d) / area
    of_j = min(1.0, max(0.0, of_j))
    of_k = min(1.0 - of_j, max(0.0, of_k))
    weights[0], weights[1], weights[2] = 1.0 - of_j - of_k, of_j, of_k


@procedure
def depth(
    couple: Couple, size: float, exact: float, inside: bool, ends: Difference, weights: Shaped[4], found: Shaped[8]
) -> None:
    """Writes the normal from A to B and the gap along it, for the solids without their balls.

    Args:
        size: of both solids together [m].
        exact: a face that is moved outward by less than this part of the size is one of the difference.
        inside: whether the next are those of a tetrahedron around the origin.
        ends: corners; those of the face closest to the origin are written there.
        weights: of the corners of that face in its point closest to the origin.
        found: the normal, the gap, and in [7] the number of corners.
    """
    W, P, n = local(_POINTS, 3), local(_POINTS, 3), local(4)
    points = Difference(W, P)
    W[0:4] = ends.W[0:4]
    P[0:4] = ends.P[0:4]
    if not (inside and _is_thick(W)) and not _tetrahedron(couple, size, points, n):
        sign = 1.0 if n[3] >= 0.0 else -1.0
        found[0:4] = sign * n
        weights[0], found[7] = 1.0, 1.0
        ends.W[0] = W[0]
        ends.P[0] = P[0]
        return
    corners, planes, beside = local_ints(_FACES, 3), local(_FACES, 4), local_ints(_FACES, 3)
    marks, lists, rim = local_ints(_FACES), local_ints(_FACES, 3), local_ints(_POINTS, 2)
    hull = _Polytope(corners, planes, beside, marks, lists, rim)
    _first_faces(W, corners, planes, beside)
    top, best, least = 4, 0, math.inf
    for new in range(4, _POINTS + 1):
        best = 0
        for f in range(1, top):
            if planes[f, 3] < planes[best, 3]:
                best = f
        if new == _POINTS:
            break
        offset = planes[best, 3]
        reach = -lift(couple, -planes[best, 0:3], points, new)
        if reach < least:
            least = reach
            found[0:3] = -planes[best, 0:3]
            found[3] = -reach
        if reach - offset <= exact * size:
            break
        top = _enlarge(hull, W, best, new, top, size)
        if top < 0:
            break
    _foot(W, corners, planes, best, weights)
    found[7] = 3.0
    for i in range(3):
        ends.W[i] = W[corners[best, i]]
        ends.P[i] = P[corners[best, i]]
