"""The shallowest way apart of two convex solids that overlap or nearly touch.

The difference {q − p: q of B, p of A} is approached by the hull of some of its points, from inside; the face of this hull that
is nearest to the origin is moved outward until it is one of the difference (van den Bergen, Proximity queries and penetration
depth computation on 3D game objects, 2001). Distances of faces have a sign, so that an origin on the boundary or a little
outside needs nothing special.
"""

from __future__ import annotations

import math

from .....procedure import Floats, Ints, Shaped, local, local_ints, procedure
from ..frames import across
from ..solids import Solids
from .support import lift

__all__ = ["depth"]

_POINTS, _FACES = 64, 128
#: A first tetrahedron lower than this part of the size is flat; a triangle with a smaller square of the sine is a line.
_FLAT, _THIN = 1e-9, 1e-14
#: A tetrahedron to begin with has at least this square of its volume, as part of that of a box of its edges.
_THICK = 1e-6


@procedure
def _spread(
    solids: Solids, a: int, b: int, B: Shaped[12], size: float, x: float, y: float, z: float, W: Floats[3], P: Floats[3], k: int
) -> bool:  # fmt: skip
    """Writes point k, furthest from the first one to either side along a unit vector; whether it is away from that."""
    here = W[0, 0] * x + W[0, 1] * y + W[0, 2] * z
    down = here - lift(solids, a, b, B, x, y, z, W, P, k)
    if down > _FLAT * size:
        return True
    up = -lift(solids, a, b, B, -x, -y, -z, W, P, k) - here
    return up > _FLAT * size


@procedure
def _is_thick(W: Floats[3]) -> bool:
    """Whether a tetrahedron has faces whose directions are certain."""
    ux, uy, uz = W[1, 0] - W[0, 0], W[1, 1] - W[0, 1], W[1, 2] - W[0, 2]
    tx, ty, tz = W[2, 0] - W[0, 0], W[2, 1] - W[0, 1], W[2, 2] - W[0, 2]
    px, py, pz = W[3, 0] - W[0, 0], W[3, 1] - W[0, 1], W[3, 2] - W[0, 2]
    volume = (uy * tz - uz * ty) * px + (uz * tx - ux * tz) * py + (ux * ty - uy * tx) * pz
    lengths = (ux * ux + uy * uy + uz * uz) * (tx * tx + ty * ty + tz * tz) * (px * px + py * py + pz * pz)
    return volume * volume > _THICK * lengths


@procedure
def _tetrahedron(
    solids: Solids, a: int, b: int, B: Shaped[12], size: float, W: Floats[3], P: Floats[3], n: Shaped[4]
) -> bool:  # fmt: skip
    """Writes four points of the difference that are not in one plane; if there are none, its normal and offset."""
    lift(solids, a, b, B, 1.0, 0.0, 0.0, W, P, 0)
    x, y, z = 1.0, 0.0, 0.0
    away = _spread(solids, a, b, B, size, 1.0, 0.0, 0.0, W, P, 1)
    if not away:
        x, y, z = 0.0, 1.0, 0.0
        away = _spread(solids, a, b, B, size, 0.0, 1.0, 0.0, W, P, 1)
    if not away:
        x, y, z = 0.0, 0.0, 1.0
        away = _spread(solids, a, b, B, size, 0.0, 0.0, 1.0, W, P, 1)
    if away:
        x, y, z = W[1, 0] - W[0, 0], W[1, 1] - W[0, 1], W[1, 2] - W[0, 2]
        length = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / length, y / length, z / length
        ux, uy, uz = across(x, y, z)
        away = _spread(solids, a, b, B, size, ux, uy, uz, W, P, 2)
        if not away:
            ux, uy, uz = y * uz - z * uy, z * ux - x * uz, x * uy - y * ux
            away = _spread(solids, a, b, B, size, ux, uy, uz, W, P, 2)
        if away:
            tx, ty, tz = W[2, 0] - W[0, 0], W[2, 1] - W[0, 1], W[2, 2] - W[0, 2]
            ux, uy, uz = y * tz - z * ty, z * tx - x * tz, x * ty - y * tx
            length = math.sqrt(ux * ux + uy * uy + uz * uz)
            ux, uy, uz = ux / length, uy / length, uz / length
            away = _spread(solids, a, b, B, size, ux, uy, uz, W, P, 3)
        x, y, z = ux, uy, uz
    n[0], n[1], n[2] = x, y, z
    n[3] = x * W[0, 0] + y * W[0, 1] + z * W[0, 2]
    return away


@procedure
def _make_face(W: Floats[3], corners: Ints[3], planes: Floats[4], f: int, i: int, j: int, k: int) -> None:
    """Writes the corners and the plane of face f: its outward normal and its offset, infinite if it is a line."""
    corners[f, 0], corners[f, 1], corners[f, 2] = i, j, k
    ux, uy, uz = W[j, 0] - W[i, 0], W[j, 1] - W[i, 1], W[j, 2] - W[i, 2]
    tx, ty, tz = W[k, 0] - W[i, 0], W[k, 1] - W[i, 1], W[k, 2] - W[i, 2]
    x, y, z = uy * tz - uz * ty, uz * tx - ux * tz, ux * ty - uy * tx
    square = x * x + y * y + z * z
    if square <= _THIN * (ux * ux + uy * uy + uz * uz) * (tx * tx + ty * ty + tz * tz):
        planes[f, 3] = math.inf
        return
    scale = 1.0 / math.sqrt(square)
    planes[f, 0], planes[f, 1], planes[f, 2] = x * scale, y * scale, z * scale
    planes[f, 3] = (x * W[i, 0] + y * W[i, 1] + z * W[i, 2]) * scale


@procedure
def _first_faces(W: Floats[3], corners: Ints[3], planes: Floats[4], beside: Ints[3]) -> None:
    """The four faces of the tetrahedron, counter-clockwise as seen from outside."""
    ux, uy, uz = W[1, 0] - W[0, 0], W[1, 1] - W[0, 1], W[1, 2] - W[0, 2]
    tx, ty, tz = W[2, 0] - W[0, 0], W[2, 1] - W[0, 1], W[2, 2] - W[0, 2]
    px, py, pz = W[3, 0] - W[0, 0], W[3, 1] - W[0, 1], W[3, 2] - W[0, 2]
    volume = (uy * tz - uz * ty) * px + (uz * tx - ux * tz) * py + (ux * ty - uy * tx) * pz
    one = 2 if volume > 0.0 else 1
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
def _find_seen(
    planes: Floats[4], beside: Ints[3], marks: Ints, lists: Ints[3], face: int, x: float, y: float, z: float, size: float
) -> int:  # fmt: skip
    """Marks the faces that a point outside of `face` sees, and gives their number.

    They are found from neighbor to neighbor, so that they have one rim whatever rounding does. Faces that are lines are seen
    from anywhere.
    """
    seen = 1
    lists[0, 0] = face
    marks[face] = 1
    k = 0
    while k < seen:
        for e in range(3):
            g = beside[lists[k, 0], e]
            if marks[g] == 0:
                above = planes[g, 0] * x + planes[g, 1] * y + planes[g, 2] * z - planes[g, 3]
                if planes[g, 3] == math.inf or above > 1e-15 * size:
                    marks[g] = 1
                    lists[seen, 0] = g
                    seen += 1
        k += 1
    return seen


@procedure
def _enlarge(
    W: Floats[3], corners: Ints[3], planes: Floats[4], beside: Ints[3], marks: Ints, lists: Ints[3], ends: Ints[2],
    face: int, new: int, top: int, size: float,
) -> int:  # fmt: skip
    """Adds point `new`, which is outside of `face`: the faces that it sees are replaced by one for every side of their rim.

    The columns of `lists`: faces that are seen, new faces, rows that are free (of which row 0 is the number).

    Returns:
        The number of face rows in use; −1 if there is no room.
    """
    seen = _find_seen(planes, beside, marks, lists, face, W[new, 0], W[new, 1], W[new, 2], size)
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
                i = corners[f, e]
                j = corners[f, (e + 1) % 3]
                _make_face(W, corners, planes, h, i, j, new)
                beside[h, 0] = g
                for c in range(3):
                    if beside[g, c] == f:
                        beside[g, c] = h
                ends[i, 0], ends[j, 1], lists[made, 1] = h, h, h
                made += 1
    for k in range(made):
        h = lists[k, 1]
        beside[h, 1] = ends[corners[h, 1], 0]
        beside[h, 2] = ends[corners[h, 0], 1]
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
    i, j, k = corners[f, 0], corners[f, 1], corners[f, 2]
    nx, ny, nz, offset = planes[f, 0], planes[f, 1], planes[f, 2], planes[f, 3]
    x, y, z = offset * nx, offset * ny, offset * nz
    ux, uy, uz = W[j, 0] - W[i, 0], W[j, 1] - W[i, 1], W[j, 2] - W[i, 2]
    tx, ty, tz = W[k, 0] - W[i, 0], W[k, 1] - W[i, 1], W[k, 2] - W[i, 2]
    dx, dy, dz = x - W[i, 0], y - W[i, 1], z - W[i, 2]
    area = nx * (uy * tz - uz * ty) + ny * (uz * tx - ux * tz) + nz * (ux * ty - uy * tx)
    of_j = (nx * (dy * tz - dz * ty) + ny * (dz * tx - dx * tz) + nz * (dx * ty - dy * tx)) / area
    of_k = (nx * (uy * dz - uz * dy) + ny * (uz * dx - ux * dz) + nz * (ux * dy - uy * dx)) / area
    of_j = min(1.0, max(0.0, of_j))
    of_k = min(1.0 - of_j, max(0.0, of_k))
    weights[0], weights[1], weights[2] = 1.0 - of_j - of_k, of_j, of_k


@procedure
def depth(
    solids: Solids, a: int, b: int, B: Shaped[12], size: float, exact: float, inside: bool, end_w: Floats[3], end_p: Floats[3],
    weights: Shaped[4], found: Shaped[8],
) -> None:  # fmt: skip
    """Writes the normal from A to B and the gap along it, for the solids without their balls.

    Args:
        B: pose of solid b in the frame of solid a.
        size: of both solids together [m].
        exact: a face that is moved outward by less than this part of the size is one of the difference.
        inside: whether the next are those of a tetrahedron around the origin.
        end_w, end_p: corners; those of the face closest to the origin are written there.
        weights: of the corners of that face in its point closest to the origin.
        found: the normal, the gap, and in [7] the number of corners.
    """
    W = local(_POINTS, 3)
    P = local(_POINTS, 3)
    n = local(4)
    for i in range(4):
        for c in range(3):
            W[i, c], P[i, c] = end_w[i, c], end_p[i, c]
    if not (inside and _is_thick(W)) and not _tetrahedron(solids, a, b, B, size, W, P, n):
        sign = 1.0 if n[3] >= 0.0 else -1.0
        found[0], found[1], found[2], found[3] = sign * n[0], sign * n[1], sign * n[2], abs(n[3])
        weights[0], found[7] = 1.0, 1.0
        for c in range(3):
            end_w[0, c], end_p[0, c] = W[0, c], P[0, c]
        return
    corners = local_ints(_FACES, 3)
    planes = local(_FACES, 4)
    beside = local_ints(_FACES, 3)
    marks = local_ints(_FACES)
    lists = local_ints(_FACES, 3)
    ends = local_ints(_POINTS, 2)
    _first_faces(W, corners, planes, beside)
    top = 4
    best = 0
    least = math.inf
    for new in range(4, _POINTS + 1):
        best = 0
        for f in range(1, top):
            if planes[f, 3] < planes[best, 3]:
                best = f
        if new == _POINTS:
            break
        x, y, z, offset = planes[best, 0], planes[best, 1], planes[best, 2], planes[best, 3]
        reach = -lift(solids, a, b, B, -x, -y, -z, W, P, new)
        if reach < least:
            least = reach
            found[0], found[1], found[2], found[3] = -x, -y, -z, -reach
        if reach - offset <= exact * size:
            break
        top = _enlarge(W, corners, planes, beside, marks, lists, ends, best, new, top, size)
        if top < 0:
            break
    _foot(W, corners, planes, best, weights)
    found[7] = 3.0
    for i in range(3):
        for c in range(3):
            end_w[i, c], end_p[i, c] = W[corners[best, i], c], P[corners[best, i], c]
