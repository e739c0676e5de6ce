"""The points of two faces that lie on each other: one is clipped to the other."""

from __future__ import annotations

import math

from .....procedure import Floats, Shaped, local, procedure
from ..frames import put, turned, world_point
from ..solids import MOST, Points
from .clip import cut

__all__ = ["clipped", "to_frame", "write_face"]

#: Of points equally far out, the first is taken unless another is further by this [m].
_FURTHER = 1e-9
#: Directions in which the outermost points of a face are kept, in its frame.
_DIRECTIONS = 8


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
    face: Floats[4], sides: int, nx: float, ny: float, nz: float, other: Floats[4], count: int, kept: Floats[4],
    frame: Shaped[12],
) -> int:  # fmt: skip
    """What of another polygon lies over a face, in the frame of the face: x and y along it, the height as third number.

    Args:
        face: its corners, counter-clockwise as seen from the tip of its normal (nx, ny, nz).
        other: the other polygon; overwritten.
        kept: room.
        frame: where the frame of the face is written: its axes as columns, its origin the first corner.
    """
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
    points: Floats[4], count: int, frame: Shaped[12], pose: Shaped[12], sign: float, radius: float, both: float, margin: float,
    kind: int, out: Points, k: int,
) -> int:  # fmt: skip
    """Writes the points over a face that are within the margin, at most eight, and gives their number.

    Args:
        points: as `clipped` gives them; overwritten.
        frame, pose: of the face in A, and of A.
        sign: 1 if the face is A's, −1 if it is B's.
        radius: of the ball of the solid with the face.
        both: sum of both radii.
        kind: the number of the two faces, to which that of the point is added.
    """
    near = local(64, 4)
    found = 0
    for i in range(count):
        if points[i, 2] - both <= margin and found < 64:
            for c in range(3):
                near[found, c] = points[i, c]
            near[found, 3] = 64.0 * points[i - 1 if i > 0 else count - 1, 3] + points[i, 3]
            found += 1
    chosen = local(64)
    if found > MOST:
        _outermost(near, found, chosen)
    nx, ny, nz = turned(frame, 0.0, 0.0, sign)
    nx, ny, nz = turned(pose, nx, ny, nz)
    count = 0
    for i in range(found):
        if found <= MOST or chosen[i] > 0.0:
            gap = near[i, 2] - both
            x, y, z = world_point(frame, near[i, 0], near[i, 1], radius + 0.5 * gap)
            x, y, z = world_point(pose, x, y, z)
            put(out, k + count, x, y, z, nx, ny, nz, gap, kind + int(near[i, 3]))
            count += 1
    return count
