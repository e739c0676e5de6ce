"""The points of two faces that lie on each other: one is clipped to the other; and of two lines along each other."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .....procedure import Floats, Shaped, local, procedure
from ..solids import MOST, Points, put

#: Of points equally far out, the first is taken unless another is further by this [m].
_FURTHER = 1e-9
#: Directions in which the outermost points of a face are kept, in its frame.
_DIRECTIONS = 8
#: A point this far outside counts as inside, so that faces with common edges keep their points [m].
_INSIDE = 1e-7
#: Lines inclined to each other by less than this lie along each other [square of the sine].
_LEANING = 0.01


class Listing(NamedTuple):
    """Where points are written: row k and those after it."""

    pose: Shaped[4, 3]  # of A, in whose frame points are found
    both: float  # sum of the radii of both balls [m]
    margin: float  # the largest gap of points that are written [m]
    out: Points
    k: int


@procedure
def cut(polygon: Floats[4], count: int, kept: Floats[4], a: float, b: float, most: float, side: int) -> int:
    """The part of a polygon with a x + b y ≤ most, and its number of corners (Sutherland and Hodgman, CACM 17, 1974).

    Args:
        polygon: corners x, y, any third number linear in these, and the number of the side that begins there. Overwritten.
        count: of its corners; two are a line between these. kept: room for one corner more.
        a, b, most: the line, (a, b) of unit length; side: the number of the new side.
    """
    outside = False
    for i in range(count):
        outside = outside or a * polygon[i, 0] + b * polygon[i, 1] - most > _INSIDE
    if not outside:
        return count
    found = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        here = a * polygon[i, 0] + b * polygon[i, 1] - most
        there = a * polygon[j, 0] + b * polygon[j, 1] - most
        if here <= _INSIDE:
            kept[found] = polygon[i]
            found += 1
        if (here <= _INSIDE) != (there <= _INSIDE):
            part = min(max(here / (here - there), 0.0), 1.0)  # a corner that counts as inside may lie beyond the line
            kept[found, 0:3] = polygon[i, 0:3] + part * (polygon[j, 0:3] - polygon[i, 0:3])
            kept[found, 3] = float(side) if here <= _INSIDE else polygon[i, 3]
            found += 1
    polygon[0:found] = kept[0:found]
    return found


@procedure
def to_frame(pose: Shaped[4, 3], polygon: Floats[4], count: int, plane: Shaped[4]) -> None:
    """Turns a polygon and its normal from the frame A to the frame in which the pose is given."""
    for k in range(count):
        polygon[k, 0:3] = pose[0:3] @ polygon[k, 0:3] + pose[3]
    plane[0:3] = pose[0:3] @ plane[0:3]


@procedure
def clipped(
    face: Floats[4], sides: int, plane: Shaped[4], other: Floats[4], count: int, kept: Floats[4], frame: Shaped[4, 3]
) -> int:
    """What of another polygon lies over a face, in the frame of the face: x and y along it, the height as third number.

    Args:
        face: its corners, counter-clockwise as seen from the tip of its normal, with which `plane` begins.
        other: the other polygon, overwritten; kept: room.
        frame: where the frame of the face is written: its axes as columns, its origin the first corner.
    """
    n, u = plane[0:3], face[1, 0:3] - face[0, 0:3]
    u -= u @ n * n
    u *= 1.0 / math.sqrt(u @ u)
    v = np.cross(n, u)
    for c in range(3):
        frame[c, 0], frame[c, 1], frame[c, 2] = u[c], v[c], n[c]
    frame[3] = face[0, 0:3]
    for k in range(count):
        other[k, 0:3] = (other[k, 0:3] - frame[3]) @ frame[0:3]
    for k in range(sides):
        side = face[k + 1 if k + 1 < sides else 0, 0:3] - face[k, 0:3]
        a, b = side @ v, -(side @ u)
        length = math.sqrt(a * a + b * b)
        if length > 0.0:
            out = face[k, 0:3] - frame[3]
            a, b = a / length, b / length
            count = cut(other, count, kept, a, b, a * (out @ u) + b * (out @ v), 32 + k)
    return count


@procedure
def _outermost(points: Floats[4], count: int, chosen: Floats) -> None:
    """Marks with 1 those of more than eight points that are furthest in eight directions, except for the least different."""
    for d in range(_DIRECTIONS):
        angle = 2.0 * math.pi / _DIRECTIONS * d
        c, s, best, most = math.cos(angle), math.sin(angle), 0, -math.inf
        for k in range(count):
            out = c * points[k, 0] + s * points[k, 1]
            if out > most + _FURTHER:
                best, most = k, out
        chosen[best] = 1.0


@procedure
def write_face(
    points: Floats[4], count: int, frame: Shaped[4, 3], sign: float, radius: float, kind: int, listing: Listing
) -> int:
    """Writes the points over a face that are within the margin, at most eight, and gives their number.

    Args:
        points: as `clipped` gives them, overwritten; frame: of the face in A.
        sign: 1 if the face is A's, −1 if it is B's; radius: of the ball of the solid with the face.
        kind: the number of the two faces, to which that of the point is added.
    """
    pose, both, near, found = listing.pose, listing.both, local(64, 4), 0
    for i in range(count):
        if points[i, 2] - both <= listing.margin and found < 64:
            near[found, 0:3] = points[i, 0:3]
            near[found, 3] = 64.0 * points[i - 1 if i > 0 else count - 1, 3] + points[i, 3]
            found += 1
    chosen = local(64)
    if found > MOST:
        _outermost(near, found, chosen)
    normal, point = local(3), local(3)
    for c in range(3):
        normal[c] = sign * frame[c, 2]
    normal[:] = pose[0:3] @ normal
    count = 0
    for i in range(found):
        if found <= MOST or chosen[i] > 0.0:
            gap = near[i, 2] - both
            point[0], point[1], point[2] = near[i, 0], near[i, 1], radius + 0.5 * gap
            point[:] = frame[0:3] @ point + frame[3]
            put(listing.out, listing.k + count, pose[0:3] @ point + pose[3], normal, gap, kind + int(near[i, 3]))
            count += 1
    return count


@procedure
def write_lines(first: Floats[4], second: Floats[4], normal: Shaped[3], radius: float, kind: int, listing: Listing) -> int:
    """Writes the points at the two ends of the overlap of two lines that are within the margin, and gives their number.

    The ends of the lines and the normal from A to B are in the frame of A; `radius` is that of its ball.
    """
    u, v, d = first[1, 0:3] - first[0, 0:3], second[1, 0:3] - second[0, 0:3], second[0, 0:3] - first[0, 0:3]
    uu, vv, uv = u @ u, v @ v, u @ v
    if uu * vv - uv * uv > _LEANING * uu * vv:
        return 0
    start = d @ u / uu  # where the other line begins and ends, as parts of this one
    end = start + uv / uu
    low, high = max(0.0, min(start, end)), min(1.0, max(start, end))
    if low >= high:
        return 0
    pose = listing.pose
    world, found = pose[0:3] @ normal, 0
    for side in range(2):
        s = low if side == 0 else high
        t = min(1.0, max(0.0, (s * uv - d @ v) / vv))
        gap = normal @ (d + t * v - s * u) - listing.both
        if gap <= listing.margin:
            point = first[0, 0:3] + s * u + (radius + 0.5 * gap) * normal
            put(listing.out, listing.k + found, pose[0:3] @ point + pose[3], world, gap, kind + side)
            found += 1
    return found
