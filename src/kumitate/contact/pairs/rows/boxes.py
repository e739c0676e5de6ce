"""Box against box: the separating direction, then one face clipped to the other's, or two edges that cross."""

from __future__ import annotations

import math
from typing import NamedTuple

from ....procedure import Shaped, local, procedure
from .convex.faces import cut
from .solids import Points, Solid, put, relative

#: A point's number is that of the direction times this, plus that of the point.
_POINTS = 1024
#: The feet of two edges count as on them this far beyond their ends, as a part of the edges [1].
_BEYOND = 1e-9
#: A corner beyond a face is not over it if it is closer than the points over the face by this [m].
_CLOSER = 1e-9
#: A direction is changed, from faces of A to those of B to edges and from one step to the next, only for this much [m].
_BETTER = 1e-6
#: That of two edges is taken only if it is better by this [m]: next to a face, its edges would be found one after the other,
#: one point at a time, as a box rocks on it.
_EDGES = 2e-5
#: Edges with a smaller square of the sine between them are parallel, and faces suffice.
_PARALLEL = 1e-12


class _BoxByBox(NamedTuple):
    """A box with the half edges `half`, and in its frame another one: its axes C, its position t, its half edges."""

    C: Shaped[3, 3]
    t: Shaped[3]
    half: Shaped[8]
    other: Shaped[8]


@procedure
def _most_separating(pair: _BoxByBox, margin: float, before: int) -> tuple[int, float]:
    """The direction's number and the separation along it [m]; −1 if the boxes are further apart than the margin.

    The directions are the normals of A's faces (0 to 2), of B's faces (3 to 5) and the common perpendiculars of edge i of A
    and edge j of B (6 + 3 i + j) (Gottschalk, Lin, Manocha, SIGGRAPH 1996). `before`: that of the last step, −1 if none.
    """
    C, t, half_a, half_b, best, most, chosen = pair.C, pair.t, pair.half, pair.other, -1, -math.inf, -math.inf
    for i in range(3):
        apart = abs(t[i]) - half_a[i] - (abs(C[i, 0]) * half_b[0] + abs(C[i, 1]) * half_b[1] + abs(C[i, 2]) * half_b[2])
        if apart > margin:
            return -1, apart
        weight = apart + (_BETTER if before == i else 0.0)
        if weight > most:
            best, most, chosen = i, weight, apart
    for j in range(3):
        apart = abs(t[0] * C[0, j] + t[1] * C[1, j] + t[2] * C[2, j]) - half_b[j] - (
            abs(C[0, j]) * half_a[0] + abs(C[1, j]) * half_a[1] + abs(C[2, j]) * half_a[2]
        )  # fmt: skip
        if apart > margin:
            return -1, apart
        weight = apart - (_BETTER if before != 3 + j else 0.0)
        if weight > most:
            best, most, chosen = 3 + j, weight, apart
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            square = C[i1, j] * C[i1, j] + C[i2, j] * C[i2, j]  # of a_i × b_j
            reach = half_a[i1] * abs(C[i2, j]) + half_a[i2] * abs(C[i1, j])
            reach += half_b[j1] * abs(C[i, j2]) + half_b[j2] * abs(C[i, j1])
            along = abs(t[i2] * C[i1, j] - t[i1] * C[i2, j]) - reach
            # a sine is at most 1: where the edges overlap more than the best direction, dividing by it changes nothing
            if square > _PARALLEL and (along >= 0.0 or along > most):
                apart = along / math.sqrt(square)
                if apart > margin:
                    return -1, apart
                weight = apart - (_EDGES if before != 6 + 3 * i + j else _EDGES - _BETTER)
                if weight > most:
                    best, most, chosen = 6 + 3 * i + j, weight, apart
    return best, chosen


@procedure
def _faces(pair: _BoxByBox, pose: Shaped[4, 3], sign: float, direction: int, margin: float, out: Points, k: int) -> int:
    """The other box's face that looks at the face of this one, clipped to it.

    `direction`: of the normal of the face, its axis if this box is A, for which `sign` is 1; that and 3 if it is B, with −1.
    """
    C, t, half, other, axis = pair.C, pair.t, pair.half, pair.other, direction % 3
    up = math.copysign(1.0, t[axis])
    i1, i2 = (axis + 1) % 3, (axis + 2) % 3
    inner = 0  # the axis of the other box most along the normal
    for j in range(1, 3):
        if abs(C[axis, j]) > abs(C[axis, inner]) + 1e-9:
            inner = j
    j1, j2 = (inner + 1) % 3, (inner + 2) % 3
    facing, polygon, kept = -up * math.copysign(1.0, C[axis, inner]), local(12, 4), local(12, 4)
    for corner in range(4):
        x = other[j1] if corner == 0 or corner == 3 else -other[j1]
        y = other[j2] if corner < 2 else -other[j2]
        z = facing * other[inner]
        polygon[corner, 0] = t[i1] + C[i1, j1] * x + C[i1, j2] * y + C[i1, inner] * z
        polygon[corner, 1] = t[i2] + C[i2, j1] * x + C[i2, j2] * y + C[i2, inner] * z
        polygon[corner, 2] = up * (t[axis] + C[axis, j1] * x + C[axis, j2] * y + C[axis, inner] * z) - half[axis]
        polygon[corner, 3] = float(corner)
    count = cut(polygon, 4, kept, 1.0, 0.0, half[i1], 4)
    count = cut(polygon, count, kept, -1.0, 0.0, half[i1], 5)
    count = cut(polygon, count, kept, 0.0, 1.0, half[i2], 6)
    count = cut(polygon, count, kept, 0.0, -1.0, half[i2], 7)

    normal, point, found = local(3), local(3), 0
    normal[axis] = sign * up
    normal[:] = pose[0:3] @ normal
    face = (direction * 2 + (1 if up > 0.0 else 0)) * 8 + inner * 2 + (1 if facing > 0.0 else 0)
    for i in range(count):
        gap = polygon[i, 2]
        if gap <= margin and found < 8:
            point[i1], point[i2], point[axis] = polygon[i, 0], polygon[i, 1], up * (half[axis] + 0.5 * gap)
            previous = int(polygon[i - 1 if i > 0 else count - 1, 3])
            feature = (face * 8 + previous) * 8 + int(polygon[i, 3])
            put(out, k + found, pose[0:3] @ point + pose[3], normal, gap, feature)
            found += 1
    return found


@procedure
def _edges(pair: _BoxByBox, pose: Shaped[4, 3], direction: int, apart: float, out: Points, k: int) -> int:
    """The closest points of two edges; −1 if these are beyond the edges' ends."""
    C, t, size_a, size_b = pair.C, pair.t, pair.half, pair.other
    i, j = (direction - 6) // 3, (direction - 6) % 3
    i1, i2, n = (i + 1) % 3, (i + 2) % 3, local(3)
    scale = 1.0 / math.sqrt(C[i1, j] * C[i1, j] + C[i2, j] * C[i2, j])
    n[i1] = -C[i2, j] * scale  # a_i × b_j
    n[i2] = C[i1, j] * scale
    if n @ t < 0.0:
        n *= -1.0
    p, q, signs = local(3), local(3), 0  # the middles of A's edge and of B's edge, in A
    for axis in range(3):
        q[axis] += t[axis]
        if axis != i:
            p[axis] = math.copysign(size_a[axis], n[axis])
        along = C[0, axis] * n[0] + C[1, axis] * n[1] + C[2, axis] * n[2]
        if axis != j:
            reach = -math.copysign(size_b[axis], along)
            for row in range(3):
                q[row] += C[row, axis] * reach
            signs = 2 * signs + (1 if reach > 0.0 else 0)
    d = q - p
    cosine = C[i, j]
    sine2 = 1.0 / (scale * scale)
    along_u, along_v = d[i], d[0] * C[0, j] + d[1] * C[1, j] + d[2] * C[2, j]
    s, r = (along_u - cosine * along_v) / sine2, (cosine * along_u - along_v) / sine2
    if apart > 0.0 and (abs(s) > size_a[i] * (1.0 + _BEYOND) or abs(r) > size_b[j] * (1.0 + _BEYOND)):
        return -1
    p[i] = min(size_a[i], max(-size_a[i], s))
    p += 0.5 * apart * n
    which = signs * 4 + (2 if n[i1] > 0.0 else 0) + (1 if n[i2] > 0.0 else 0)
    put(out, k, pose[0:3] @ p + pose[3], pose[0:3] @ n, apart, direction * _POINTS + which)
    return 1


@procedure
def _is_closest(apart: float, out: Points, k: int, count: int) -> bool:
    """Whether boxes that are apart have a point over the face as close as their separation along its normal."""
    least = math.inf
    for i in range(k, k + count):
        least = min(least, out.gaps[i])
    return apart <= 0.0 or least <= apart + _CLOSER


@procedure
def box_box(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
    """Up to eight points, those of two faces or that of two edges; −1 if corners are closest, which no direction separates.

    The direction of `before`, any feature of the last step, is kept unless another one separates the boxes by 1e-6 m more.
    """
    size_a, size_b, B = a.solids.sizes[a.row], a.solids.sizes[b.row], local(4, 3)
    relative(a.pose, b.pose, B)
    C, t = B[0:3], B[3]
    pair = _BoxByBox(C, t, size_a, size_b)
    last = before // _POINTS if before >= 0 else -1
    direction, apart = _most_separating(pair, margin, last)
    if direction < 0:
        return 0
    if direction >= 6:
        return _edges(pair, a.pose, direction, apart, out, k)
    if direction < 3:
        count = _faces(pair, a.pose, 1.0, direction, margin, out, k)
        return count if _is_closest(apart, out, k, count) else -1
    # The face is B's: the same with the names exchanged, and the normal from B to A turned round.
    back, s = local(3, 3), -t @ C
    back[:] = C.T
    count = _faces(_BoxByBox(back, s, size_b, size_a), b.pose, -1.0, direction, margin, out, k)
    return count if _is_closest(apart, out, k, count) else -1
