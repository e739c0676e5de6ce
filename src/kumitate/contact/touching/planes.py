"""A plane against any solid: the corners within the margin."""

from __future__ import annotations

from ...procedure import Shaped, procedure
from .frames import inverse_turned, put, world_point
from .solids import Points

__all__ = ["plane_corners"]


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
