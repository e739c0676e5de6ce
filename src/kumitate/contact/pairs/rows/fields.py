"""A height field against any convex solid: the triangles under it, one by one.

A triangle is solid below: what has sunk into it is pushed out along its normal. Beside an edge a solid has a normal of its own,
unless the neighbor across that edge is closer to it, so that level ground has no edges. A triangle pushes only what has its
middle above the triangle's plane, or has sunk below the surface: the other side of a thin ridge does not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ....procedure import Floats, Ints, Shaped, local, local_ints, procedure
from .convex.faces import clipped, to_frame
from .convex.pair import closest
from .convex.support import Couple, facing, outermost
from .solids import MOST, Points, Solid, Solids, put, relative

#: The most points of which eight are chosen.
_ROOM = 64
#: A normal is that of the triangle if it differs by less than this; an edge is where a point is so near to it [m].
_SAME, _ON_EDGE = 1e-7, 1e-9
#: The closest point is a point of its own where it is deeper than those of the face by this, and away from others [m].
_DEEPER, _APART = 1e-7, 1e-7
#: A point's number is that of the triangle times this, plus its own; this one is that of the closest point.
_POINTS, _CLOSEST = 8192, 8191


class _Found(NamedTuple):
    """Points that are found: place, normal and gap of each, and its feature."""

    rows: Floats[7]
    features: Ints


class _Cell(NamedTuple):
    """Triangle t, 0 or 1, of the cell in column i and row j."""

    i: int
    j: int
    t: int


@procedure
def _reach(solid: Solid, along: Shaped[3]) -> float:
    """How far a solid extends along a unit vector [m]."""
    point = local(3)
    outermost(solid, along, point)
    return point @ along + solid.solids.sizes[solid.row, 6]


@procedure
def _add(points: _Found, count: int, place: Shaped[3], normal: Shaped[3], gap: float, feature: int) -> int:
    """Adds a point to those found, or replaces the shallowest where there is no room; the number found."""
    rows, k = points.rows, count
    if count == _ROOM:
        k = 0
        for i in range(count):
            if rows[i, 6] > rows[k, 6]:
                k = i
        if rows[k, 6] <= gap:
            return count
    rows[k, 0:3] = place
    rows[k, 3:6] = normal
    rows[k, 6] = gap
    points.features[k] = feature
    return count + 1 if k == count else count


@procedure
def _is_hidden(solids: Solids, a: int, cell: _Cell, n: Shaped[8]) -> bool:
    """Whether a point on an edge of a triangle is closer to the neighbor across that edge; `n`: normal, gap, and that point."""
    i, j, t = cell.i, cell.j, cell.t
    first, columns, rows = solids.spans[a, 0], solids.spans[a, 2], solids.spans[a, 3]
    for edge in range(3):
        # the columns and rows of the edge's ends, and of the third corner of the triangle across it
        c0, r0, c1, r1, c2, r2 = i, j, i + 1, j + 1, i if t == 0 else i + 1, j + 1 if t == 0 else j
        if edge == 0 and t == 0:
            c0, r0, c1, r1, c2, r2 = i, j, i + 1, j, i, j - 1
        elif edge == 1 and t == 0:
            c0, r0, c1, r1, c2, r2 = i + 1, j, i + 1, j + 1, i + 2, j + 1
        elif edge == 0:
            c0, r0, c1, r1, c2, r2 = i, j, i, j + 1, i - 1, j
        elif edge == 1:
            c0, r0, c1, r1, c2, r2 = i, j + 1, i + 1, j + 1, i + 1, j + 2
        if 0 <= c2 < columns and 0 <= r2 < rows:
            p, q, s = first + r0 * columns + c0, first + r1 * columns + c1, first + r2 * columns + c2
            e, w = solids.vertices[q] - solids.vertices[p], solids.vertices[s] - solids.vertices[p]
            d, square = n[4:7] - solids.vertices[p], e @ e
            d -= d @ e / square * e
            w -= w @ e / square * e
            if d @ d < _ON_EDGE * _ON_EDGE and n[0:3] @ w > _ON_EDGE * math.sqrt(w @ w):
                return True
    return False


@procedure
def _over_triangle(
    corners: Floats[4], plane: Shaped[4], solid: Solid, margin: float, feature: int, points: _Found, count: int
) -> int:
    """Adds the points of the solid over a triangle, along its normal; the number found."""
    n, solids, b, B = plane[0:3], solid.solids, solid.row, solid.pose
    radius, point, other, kept, side, frame = solids.sizes[b, 6], local(3), local(64, 4), local(64, 4), local(4), local(4, 3)
    size = facing(solids, b, -n @ B[0:3], other, side)
    to_frame(B, other, size, side)
    size = clipped(corners, 3, plane, other, size, kept, frame)
    least = math.inf
    for k in range(size):
        gap = other[k, 2] - radius
        if gap <= margin:
            least = min(least, gap)
            point[0], point[1], point[2] = other[k, 0], other[k, 1], 0.5 * gap
            previous = int(other[k - 1 if k > 0 else size - 1, 3])
            number = feature + 64 * previous + int(other[k, 3])
            count = _add(points, count, frame[0:3] @ point + frame[3], n, gap, number)
    outermost(solid, -n, point)
    other[0, 0:3] = point
    other[0, 3] = 0.0
    size = clipped(corners, 3, plane, other, 1, kept, frame)
    if size == 1:
        gap = other[0, 2] - radius
        if gap <= margin and gap < least - _DEEPER:
            point[0], point[1], point[2] = other[0, 0], other[0, 1], 0.5 * gap
            count = _add(points, count, frame[0:3] @ point + frame[3], n, gap, feature + _CLOSEST)
    return count


@procedure
def _is_lowest_over(corners: Floats[4], plane: Shaped[4], solid: Solid) -> bool:
    """Whether the point of the solid that is lowest along a triangle's normal lies over the triangle."""
    lowest = local(3)
    outermost(solid, -plane[0:3], lowest)
    for k in range(3):
        u = corners[(k + 1) % 3, 0:3] - corners[k, 0:3]
        if plane[0:3] @ np.cross(u, lowest - corners[k, 0:3]) < -_ON_EDGE * math.sqrt(u @ u):
            return False
    return True


@procedure
def _height(solids: Solids, a: int, x: float, y: float) -> float:
    """The height of the surface above a point, or above the nearest one of the grid's outer cells."""
    first, columns = solids.spans[a, 0], solids.spans[a, 2]
    u = (x - solids.vertices[first, 0]) / solids.sizes[a, 0]
    v = (y - solids.vertices[first, 1]) / solids.sizes[a, 1]
    i = min(columns - 2, max(0, math.floor(u)))
    j = min(solids.spans[a, 3] - 2, max(0, math.floor(v)))
    u, v = u - i, v - j
    p = first + j * columns + i
    here, right = solids.vertices[p, 2], solids.vertices[p + 1, 2]
    behind, across = solids.vertices[p + columns, 2], solids.vertices[p + columns + 1, 2]
    return here + u * (right - here) + v * (across - right) if u >= v else here + v * (behind - here) + u * (across - behind)


@procedure
def _triangle(field: Solid, cell: _Cell, solid: Solid, middle: Shaped[4], margin: float, points: _Found, count: int) -> int:
    """Adds the points of one triangle; the number found. `middle`: of the solid, and 1 if that is below the surface."""
    solids, a = field.solids, field.row
    number = 2 * (cell.j * (solids.spans[a, 2] - 1) + cell.i) + cell.t
    row = int(solids.sizes[a, 7]) + number
    feature, first, corners = number * _POINTS, solids.spans[row, 0], local(3, 4)
    for k in range(3):
        corners[k, 0:3] = solids.vertices[first + k]
        corners[k, 3] = float(k)
    start = corners[0, 0:3]
    n, plane = np.cross(corners[1, 0:3] - start, corners[2, 0:3] - start), local(4)
    n *= 1.0 / math.sqrt(n @ n)
    plane[0:3] = n
    if -_reach(solid, -n) - n @ start > margin:
        return count
    active = middle[3] > 0.0 or n @ (middle[0:3] - start) > 0.0
    if active and _is_lowest_over(corners, plane, solid):
        return _over_triangle(corners, plane, solid, margin, feature, points, count)
    found = local(8)
    if not closest(Couple(solids, row, solid.row, solid.pose), margin, found):
        return count
    up = found[0:3] @ n
    crossing = found[3] + solids.sizes[solid.row, 6] <= 0.0
    if crossing or up > 1.0 - _SAME:
        if not active:
            return count
        return _over_triangle(corners, plane, solid, margin, feature, points, count)
    if up <= 0.0 or _is_hidden(solids, a, cell, found):
        return count
    place = found[4:7] + 0.5 * found[3] * found[0:3]
    return _add(points, count, place, found[0:3], found[3], feature + _CLOSEST)


@procedure
def _choose(rows: Floats[7], count: int, chosen: Ints) -> int:
    """Chooses at most eight points: the deepest, then those furthest from all chosen; their number."""
    picked, last, away = 0, -1, local(_ROOM)
    for k in range(count):
        away[k] = math.inf
        if last < 0 or rows[k, 6] < rows[last, 6] - _DEEPER:
            last = k
    while last >= 0 and picked < MOST:
        chosen[picked] = last
        picked += 1
        best = -1
        for k in range(count):
            between = rows[k, 0:3] - rows[last, 0:3]
            away[k] = min(away[k], between @ between)
            if away[k] > _APART * _APART and (best < 0 or away[k] > away[best] * (1.0 + 1e-6)):
                best = k
        last = best
    return picked


@procedure
def field_convex(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
    """Up to eight points. Arguments as those of `touch`."""
    solids, B, least, most, axis = a.solids, local(4, 3), local(3), local(3), local(3)
    relative(a.pose, b.pose, B)
    solid, dx, dy = Solid(solids, b.row, B), solids.sizes[a.row, 0], solids.sizes[a.row, 1]
    columns = solids.spans[a.row, 2]
    left, front = solids.vertices[solids.spans[a.row, 0], 0], solids.vertices[solids.spans[a.row, 0], 1]
    for c in range(3):
        axis[:] = 0.0
        axis[c] = 1.0
        least[c], most[c] = -_reach(solid, -axis), _reach(solid, axis)
    middle = local(4)
    middle[0:3] = 0.5 * (least + most)
    middle[3] = 1.0 if middle[2] < _height(solids, a.row, middle[0], middle[1]) else 0.0
    low = least[2] - margin
    i0 = max(0, math.floor((least[0] - margin - left) / dx))
    i1 = min(columns - 2, math.floor((most[0] + margin - left) / dx))
    j0 = max(0, math.floor((least[1] - margin - front) / dy))
    j1 = min(solids.spans[a.row, 3] - 2, math.floor((most[1] + margin - front) / dy))
    rows, features, chosen, count = local(_ROOM, 7), local_ints(_ROOM), local_ints(MOST), 0
    points = _Found(rows, features)
    for j in range(j0, j1 + 1):
        for i in range(i0, i1 + 1):
            p = solids.spans[a.row, 0] + j * columns + i
            top = max(solids.vertices[p, 2], solids.vertices[p + 1, 2])
            top = max(top, solids.vertices[p + columns, 2], solids.vertices[p + columns + 1, 2])
            if top >= low:
                for t in range(2):
                    count = _triangle(a, _Cell(i, j, t), solid, middle, margin, points, count)
    found = _choose(rows, count, chosen)
    for m in range(found):
        r = chosen[m]
        put(out, k + m, a.pose[0:3] @ rows[r, 0:3] + a.pose[3], a.pose[0:3] @ rows[r, 3:6], rows[r, 6], features[r])
    return found
