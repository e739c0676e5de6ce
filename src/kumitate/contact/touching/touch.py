"""Where two solids touch, by their kinds."""

from __future__ import annotations

from ...procedure import Shaped, procedure
from .balls import capsule_capsule, sphere_box, sphere_capsule, sphere_sphere
from .boxes import box_box
from .convex import convex_convex
from .planes import plane_convex, plane_corners
from .solids import BOX, CAPSULE, CONVEX, PLANE, SPHERE, Points, Solids

__all__ = ["touch"]


@procedure
def _in_order(
    solids: Solids, a: int, pose_a: Shaped[12], b: int, pose_b: Shaped[12], margin: float, before: int, out: Points, k: int
) -> int:  # fmt: skip
    """The same for kinds in the order of their numbers."""
    first = solids.kinds[a]
    second = solids.kinds[b]
    if first == PLANE:
        if second == PLANE:
            return 0
        if second == CONVEX:
            return plane_convex(pose_a, solids, b, pose_b, margin, out, k)
        return plane_corners(pose_a, solids.sizes[b], pose_b, margin, out, k)
    if first == SPHERE:
        if second == SPHERE:
            return sphere_sphere(solids.sizes[a], pose_a, solids.sizes[b], pose_b, margin, out, k)
        if second == CAPSULE:
            return sphere_capsule(solids.sizes[a], pose_a, solids.sizes[b], pose_b, margin, out, k)
        if second == BOX:
            return sphere_box(solids.sizes[a], pose_a, solids.sizes[b], pose_b, margin, out, k)
    if first == CAPSULE and second == CAPSULE:
        return capsule_capsule(solids.sizes[a], pose_a, solids.sizes[b], pose_b, margin, out, k)
    if first == BOX and second == BOX:
        found = box_box(solids.sizes[a], pose_a, solids.sizes[b], pose_b, margin, before, out, k)
        if found >= 0:
            return found
    return convex_convex(solids, a, pose_a, b, pose_b, margin, before, out, k)


@procedure
def touch(
    solids: Solids, a: int, pose_a: Shaped[12], b: int, pose_b: Shaped[12], margin: float, before: int, out: Points, k: int
) -> int:  # fmt: skip
    """Writes the points at which solid a touches solid b, and gives their number, at most eight.

    Args:
        a, b: rows of `solids`.
        pose_a, pose_b: of their frames: the rotation to the world row by row, then the position [m].
        margin: the largest gap of a point that is written [m]; at least 0.
        before: the feature of any point of this pair in the last step, −1 if there was none; what touches is changed only
            where this is better by 1e-6 m, so that lists of points do not flicker.
        out: where they are written, from row k on; eight rows must be free there.
    """
    if solids.kinds[a] <= solids.kinds[b]:
        return _in_order(solids, a, pose_a, b, pose_b, margin, before, out, k)
    found = _in_order(solids, b, pose_b, a, pose_a, margin, before, out, k)
    for i in range(k, k + found):
        for c in range(3):
            out.normals[i, c] = -out.normals[i, c]
    return found
