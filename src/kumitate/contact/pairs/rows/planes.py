"""A plane against any convex solid: the corners within the margin."""

from __future__ import annotations

import math

from ....procedure import local, procedure
from .convex.faces import Listing, to_frame, write_face
from .convex.features import facing
from .convex.support import outermost
from .frames import inverse_turned, local_point, put, world_point
from .solids import MOST, Points, Solid

#: The lowest point is a point of its own where it is deeper than the corners of the face by this [m].
_DEEPER = 1e-7
#: The number of that point.
_LOWEST = 1 << 32
#: The pose of a frame in itself.
_SAME = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


@procedure
def plane_convex(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
    """The half space z ≤ 0 of A against any convex solid: the corners of the face that looks down, and the lowest point."""
    pose_a, pose_b = a.pose, b.pose
    x, y, z = inverse_turned(pose_b, -pose_a[2], -pose_a[5], -pose_a[8])
    px, py, pz = outermost(Solid(a.solids, b.row, b.pose), -pose_a[2], -pose_a[5], -pose_a[8])
    px, py, pz = local_point(pose_a, px, py, pz)
    radius = a.solids.sizes[b.row, 6]
    gap = pz - radius
    if gap > margin:
        return 0
    polygon = local(64, 4)
    plane = local(4)
    same = local(12)
    for c in range(12):
        same[c] = _SAME[c]
    count = facing(a.solids, b.row, x, y, z, polygon, plane)
    to_frame(pose_b, polygon, count, plane)
    for i in range(count):
        qx, qy, qz = local_point(pose_a, polygon[i, 0], polygon[i, 1], polygon[i, 2])
        polygon[i, 0], polygon[i, 1], polygon[i, 2] = qx, qy, qz
    found = write_face(polygon, count, same, 1.0, 0.0, int(plane[3]) << 12, Listing(pose_a, radius, margin, out, k))
    least = math.inf
    for i in range(k, k + found):
        least = min(least, out.gaps[i])
    if gap < least - _DEEPER:
        row = min(found, MOST - 1)
        put(out, k + row, world_point(pose_a, px, py, 0.5 * gap), (pose_a[2], pose_a[5], pose_a[8]), gap, _LOWEST)
        found = row + 1
    return found
