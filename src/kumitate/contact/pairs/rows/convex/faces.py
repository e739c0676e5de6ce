"""The points of two faces that lie on each other: one is clipped to the other; and of two lines along each other."""

from __future__ import annotations

import math
from typing import NamedTuple

from .....procedure import Floats, Shaped, local, procedure
from ..frames import put, turned, world_point
from ..solids import MOST, Points

#: Of points equally far out, the first is taken unless another is further by this [m].
_FURTHER = 1e-9
#: Directions in which the outermost points of a face are kept, in its frame.
_DIRECTIONS = 8
#: A point this far outside counts as inside, so that faces with common edges keep their points [m].
_INSIDE = 1e-7
#: Lines inclined to each other by less than this lie along each other [square of the sine].
_LEANING = 0.01


class Listing(NamedTuple):
    """Where points are written: row k and those after it.

    Attributes:
        pose: of A, in whose frame points are found.
        both: sum of the radii of both balls [m].
        margin: the largest gap of points that are written [m].
    """

    pose: Shaped[12]
    both: float
    margin: float
    out: Points
    k: int


@procedure
def cut(polygon: Floats[4], count: int, kept: Floats[4], a: float, b: float, most: float, side: int) -> int:
    """The part of a polygon with a x + b y ≤ most, and its number of corners (Sutherland and Hodgman, CACM 17, 1974).

    Args:
        polygon: corners x, y, any third number linear in these, and the number of the side that begins there. Overwritten.
        count: of its corners; two are a line between these.
        kept: room for one corner more.
        a, b, most: the line, (a, b) of unit length.
        side: the number of the new side.
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
            for c in range(4):
                kept[found, c] = polygon[i, c]
            found += 1
        if (here <= _INSIDE) != (there <= _INSIDE):
            part = min(max(here / (here - there), 0.0), 1.0)  # a corner that counts as inside may lie beyond the line
            for c in range(3):
                kept[found, c] = polygon[i, c] + part * (polygon[j, c] - polygon[i, c])
            kept[found, 3] = float(side) if here <= _INSIDE else polygon[i, 3]
            found += 1
    for i in range(found):
        for c in range(4):
            polygon[i, c] = kept[i, c]
    return found


@procedure
def to_frame(pose: Shaped[12], polygon: Floats[4], count: int, plane: Shaped[4]) -> None:
    """Turns a polygon and its normal from the frame A to the frame in which the pose is given."""
    for k in range(count):
        x, y, z = world_point(pose, polygon[k, 0], polygon[k, 1], polygon[k, 2])
        polygon[k, 0], polygon[k, 1], polygon[k, 2] = x, y, z
    x, y, z = turned(pose, plane[0], plane[1], plane[2])
    plane[0], plane[1], plane[2] = x, y, z


@procedure
def clipped(
    face: Floats[4], sides: int, plane: Shaped[4], other: Floats[4], count: int, kept: Floats[4], frame: Shaped[12]
) -> int:
    """What of another polygon lies over a face, in the frame of the face: x and y along it, the height as third number.

    Args:
        face: its corners, counter-clockwise as seen from the tip of its normal, with which `plane` begins.
        other: the other polygon; overwritten.
        kept: room.
        frame: where the frame of the face is written: its axes as columns, its origin the first corner.
    """
    nx, ny, nz = plane[0], plane[1], plane[2]
    ux, uy, uz = face[1, 0] - face[0, 0], face[1, 1] - face[0, 1], face[1, 2] - face[0, 2]
    along = ux * nx + uy * ny + uz * nz
    ux, uy, uz = ux - along * nx, uy - along * ny, uz - along * nz
    scale = 1.0 / math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux * scale, uy * scale, uz * scale
    vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
    frame[0], frame[3], frame[6] = ux, uy, uz
    frame[1], frame[4], frame[7] = vx, vy, vz
    frame[2], frame[5], frame[8] = nx, ny, nz
    frame[9], frame[10], frame[11] = face[0, 0], face[0, 1], face[0, 2]
    for k in range(count):
        dx, dy, dz = other[k, 0] - face[0, 0], other[k, 1] - face[0, 1], other[k, 2] - face[0, 2]
        other[k, 0] = dx * ux + dy * uy + dz * uz
        other[k, 1] = dx * vx + dy * vy + dz * vz
        other[k, 2] = dx * nx + dy * ny + dz * nz
    for k in range(sides):
        j = k + 1 if k + 1 < sides else 0
        dx, dy, dz = face[j, 0] - face[k, 0], face[j, 1] - face[k, 1], face[j, 2] - face[k, 2]
        a = dx * vx + dy * vy + dz * vz
        b = -(dx * ux + dy * uy + dz * uz)
        length = math.sqrt(a * a + b * b)
        if length > 0.0:
            dx, dy, dz = face[k, 0] - face[0, 0], face[k, 1] - face[0, 1], face[k, 2] - face[0, 2]
            a, b = a / length, b / length
            most = a * (dx * ux + dy * uy + dz * uz) + b * (dx * vx + dy * vy + dz * vz)
            count = cut(other, count, kept, a, b, most, 32 + k)
    return count


@procedure
def _outermost(points: Floats[4], count: int, chosen: Floats) -> None:
    """Marks with 1 those of more than eight points that are furthest in eight directions, except for the least different."""
    for d in range(_DIRECTIONS):
        angle = 2.0 * math.pi / _DIRECTIONS * d
        c, s = math.cos(angle), math.sin(angle)
        best = 0
        most = -math.inf
        for k in range(count):
            out = c * points[k, 0] + s * points[k, 1]
            if out > most + _FURTHER:
                most = out
                best = k
        chosen[best] = 1.0


@procedure
def write_face(
    points: Floats[4], count: int, frame: Shaped[12], sign: float, radius: float, kind: int, listing: Listing
) -> int:
    """Writes the points over a face that are within the margin, at most eight, and gives their number.

    Args:
        points: as `clipped` gives them; overwritten.
        frame: of the face in A.
        sign: 1 if the face is A's, −1 if it is B's.
        radius: of the ball of the solid with the face.
        kind: the number of the two faces, to which that of the point is added.
    """
    pose, both = listing.pose, listing.both
    near = local(64, 4)
    found = 0
    for i in range(count):
        if points[i, 2] - both <= listing.margin and found < 64:
            for c in range(3):
                near[found, c] = points[i, c]
            near[found, 3] = 64.0 * points[i - 1 if i > 0 else count - 1, 3] + points[i, 3]
            found += 1
    chosen = local(64)
    if found > MOST:
        _outermost(near, found, chosen)
    nx, ny, nz = turned(frame, 0.0, 0.0, sign)
    normal = turned(pose, nx, ny, nz)
    count = 0
    for i in range(found):
        if found <= MOST or chosen[i] > 0.0:
            gap = near[i, 2] - both
            x, y, z = world_point(frame, near[i, 0], near[i, 1], radius + 0.5 * gap)
            put(listing.out, listing.k + count, world_point(pose, x, y, z), normal, gap, kind + int(near[i, 3]))
            count += 1
    return count


@procedure
def write_lines(first: Floats[4], second: Floats[4], normal: Shaped[3], radius: float, kind: int, listing: Listing) -> int:
    """Writes the points at the two ends of the overlap of two lines that are within the margin, and gives their number.

    Args:
        first, second: the two ends of each line, in the frame of A.
        normal: from A to B, in the frame of A.
        radius: of A's ball.
    """
    ux, uy, uz = first[1, 0] - first[0, 0], first[1, 1] - first[0, 1], first[1, 2] - first[0, 2]
    vx, vy, vz = second[1, 0] - second[0, 0], second[1, 1] - second[0, 1], second[1, 2] - second[0, 2]
    uu, vv, uv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, ux * vx + uy * vy + uz * vz
    if uu * vv - uv * uv > _LEANING * uu * vv:
        return 0
    dx, dy, dz = second[0, 0] - first[0, 0], second[0, 1] - first[0, 1], second[0, 2] - first[0, 2]
    start = (dx * ux + dy * uy + dz * uz) / uu  # where the other line begins and ends, as parts of this one
    end = start + uv / uu
    low, high = max(0.0, min(start, end)), min(1.0, max(start, end))
    if low >= high:
        return 0
    nx, ny, nz = normal[0], normal[1], normal[2]
    found = 0
    for side in range(2):
        s = low if side == 0 else high
        t = min(1.0, max(0.0, (s * uv - dx * vx - dy * vy - dz * vz) / vv))
        x, y, z = first[0, 0] + s * ux, first[0, 1] + s * uy, first[0, 2] + s * uz
        gap = nx * (dx + t * vx - s * ux) + ny * (dy + t * vy - s * uy) + nz * (dz + t * vz - s * uz) - listing.both
        if gap <= listing.margin:
            along = radius + 0.5 * gap
            place = world_point(listing.pose, x + along * nx, y + along * ny, z + along * nz)
            put(listing.out, listing.k + found, place, turned(listing.pose, nx, ny, nz), gap, kind + side)
            found += 1
    return found
