"""The points of two lines that lie along each other."""

from __future__ import annotations

from .....procedure import Floats, Shaped, procedure
from ..frames import put, turned, world_point
from ..solids import Points

__all__ = ["write_lines"]

#: Lines inclined to each other by less than this lie along each other [square of the sine].
_LEANING = 0.01


@procedure
def write_lines(
    first: Floats[4], second: Floats[4], nx: float, ny: float, nz: float, pose: Shaped[12], radius: float, both: float,
    margin: float, kind: int, out: Points, k: int,
) -> int:  # fmt: skip
    """Writes the points at the two ends of the overlap of two lines that are within the margin, and gives their number.

    Args:
        first, second: the two ends of each line, in the frame of A.
        nx, ny, nz: the normal from A to B, in the frame of A.
        radius: of A's ball.
        both: sum of both radii.
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
    px, py, pz = turned(pose, nx, ny, nz)
    found = 0
    for side in range(2):
        s = low if side == 0 else high
        t = min(1.0, max(0.0, (s * uv - dx * vx - dy * vy - dz * vz) / vv))
        x, y, z = first[0, 0] + s * ux, first[0, 1] + s * uy, first[0, 2] + s * uz
        gap = nx * (dx + t * vx - s * ux) + ny * (dy + t * vy - s * uy) + nz * (dz + t * vz - s * uz) - both
        if gap <= margin:
            along = radius + 0.5 * gap
            x, y, z = world_point(pose, x + along * nx, y + along * ny, z + along * nz)
            put(out, k + found, x, y, z, px, py, pz, gap, kind + side)
            found += 1
    return found
