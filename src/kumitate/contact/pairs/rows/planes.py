"""A plane against any convex solid: the corners within the margin."""

from __future__ import annotations

import math

from ....procedure import local, procedure
from .convex.faces import Listing, to_frame, write_face
from .convex.features import facing
from .convex.support import outermost
from .solids import MOST, Points, Solid, put

#: The lowest point is a point of its own where it is deeper than the corners of the face by this [m].
_DEEPER = 1e-7
#: The number of that point.
_LOWEST = 1 << 32


@procedure
def plane_convex(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
    """The half space z ≤ 0 of A against any convex solid: the corners of the face that looks down, and the lowest point."""
    up, lowest, radius = local(3), local(3), a.solids.sizes[b.row, 6]
    for c in range(3):
        up[c] = a.pose[c, 2]
    outermost(Solid(a.solids, b.row, b.pose), -up, lowest)
    gap = up @ (lowest - a.pose[3]) - radius
    if gap > margin:
        return 0
    polygon, plane, same = local(64, 4), local(4), local(4, 3)
    for c in range(3):
        same[c, c] = 1.0
    count = facing(a.solids, b.row, -up @ b.pose[0:3], polygon, plane)
    to_frame(b.pose, polygon, count, plane)
    for i in range(count):
        polygon[i, 0:3] = (polygon[i, 0:3] - a.pose[3]) @ a.pose[0:3]
    found = write_face(polygon, count, same, 1.0, 0.0, int(plane[3]) << 12, Listing(a.pose, radius, margin, out, k))
    least = math.inf
    for i in range(k, k + found):
        least = min(least, out.gaps[i])
    if gap < least - _DEEPER:
        row = min(found, MOST - 1)
        put(out, k + row, lowest - (radius + 0.5 * gap) * up, up, gap, _LOWEST)
        found = row + 1
    return found
