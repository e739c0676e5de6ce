"""A plane against any solid: the corners within the margin."""

from __future__ import annotations

import math

from ...procedure import Shaped, local, procedure
from .convex.faces import to_frame, write_face
from .convex.features import facing
from .convex.support import furthest
from .frames import inverse_turned, local_point, put, world_point
from .solids import MOST, Points, Solids

__all__ = ["plane_convex", "plane_corners"]

#: The lowest point is a point of its own where it is deeper than the corners of the face by this [m].
_DEEPER = 1e-7
#: The number of that point.
_LOWEST = 1 << 32
#: The pose of a frame in itself.
_SAME = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


@procedure
def plane_corners(
    pose_a: Shaped[12], size_b: Shaped[8], pose_b: Shaped[12], margin: float, out: Points, k: int
) -> int:  # fmt: skip
    """The half space z ≤ 0 of A against a sphere, a capsule or a box: balls at the corners, numbered 0 to 7 by their signs."""
    nx, ny, nz = pose_a[2], pose_a[5], pose_a[8]
    height = nx * (pose_b[9] - pose_a[9]) + ny * (pose_b[10] - pose_a[10]) + nz * (pose_b[11] - pose_a[11])
    x, y, z = inverse_turned(pose_b, nx, ny, nz)
    ux, uy, uz = x * size_b[0], y * size_b[1], z * size_b[2]
    if height - abs(ux) - abs(uy) - abs(uz) - size_b[6] > margin:
        return 0
    found = 0
    for corner in range(8):
        right, behind, above = corner & 1, corner & 2, corner & 4
        missing = (right > 0 and size_b[0] == 0.0) or (behind > 0 and size_b[1] == 0.0) or (above > 0 and size_b[2] == 0.0)
        if not missing:
            gap = height + (ux if right > 0 else -ux) + (uy if behind > 0 else -uy) + (uz if above > 0 else -uz) - size_b[6]
            if gap <= margin:
                px, py, pz = world_point(
                    pose_b,
                    size_b[0] if right > 0 else -size_b[0],
                    size_b[1] if behind > 0 else -size_b[1],
                    size_b[2] if above > 0 else -size_b[2],
                )
                down = size_b[6] + 0.5 * gap
                put(out, k + found, px - down * nx, py - down * ny, pz - down * nz, nx, ny, nz, gap, corner)
                found += 1
    return found


@procedure
def plane_convex(
    pose_a: Shaped[12], solids: Solids, b: int, pose_b: Shaped[12], margin: float, out: Points, k: int
) -> int:  # fmt: skip
    """The half space z ≤ 0 of A against any convex solid: the corners of the face that looks down, and the lowest point."""
    x, y, z = inverse_turned(pose_b, -pose_a[2], -pose_a[5], -pose_a[8])
    px, py, pz = furthest(solids, b, x, y, z)
    px, py, pz = world_point(pose_b, px, py, pz)
    px, py, pz = local_point(pose_a, px, py, pz)
    radius = solids.sizes[b, 6]
    gap = pz - radius
    if gap > margin:
        return 0
    polygon = local(64, 4)
    plane = local(4)
    same = local(12)
    for c in range(12):
        same[c] = _SAME[c]
    count = facing(solids, b, x, y, z, polygon, plane)
    to_frame(pose_b, polygon, count, plane)
    for i in range(count):
        qx, qy, qz = local_point(pose_a, polygon[i, 0], polygon[i, 1], polygon[i, 2])
        polygon[i, 0], polygon[i, 1], polygon[i, 2] = qx, qy, qz
    found = write_face(polygon, count, same, pose_a, 1.0, 0.0, radius, margin, int(plane[3]) << 12, out, k)
    least = math.inf
    for i in range(k, k + found):
        least = min(least, out.gaps[i])
    if gap < least - _DEEPER:
        row = min(found, MOST - 1)
        px, py, pz = world_point(pose_a, px, py, 0.5 * gap)
        put(out, k + row, px, py, pz, pose_a[2], pose_a[5], pose_a[8], gap, _LOWEST)
        found = row + 1
    return found
