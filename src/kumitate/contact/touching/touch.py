"""Where two solids touch, by their kinds."""

from __future__ import annotations

from ...procedure import Shaped, procedure
from .balls import capsule_capsule, sphere_box, sphere_capsule, sphere_sphere
from .boxes import box_box
from .convex import convex_convex
from .fields import field_convex
from .planes import plane_convex, plane_corners
from .solids import BOX, CAPSULE, CONVEX, FIELD, PLANE, SPHERE, Points, Solids

__all__ = ["touch"]


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
        out: where they are written, from row k on; eight rows must be free there. Where `convex_convex` finds none, an axis
            from A to B along which they are further apart than the margin is the normal of row k.
    """
    # Pairs are named in the order of the kinds, so that there is one call of each routine, which can be inlined.
    swapped = solids.kinds[a] > solids.kinds[b]
    i, j = (b, a) if swapped else (a, b)
    X = pose_b if swapped else pose_a
    Y = pose_a if swapped else pose_b
    first = solids.kinds[i]
    second = solids.kinds[j]
    size_x = solids.sizes[i]
    size_y = solids.sizes[j]
    found = -1
    if first == SPHERE and second == SPHERE:
        found = sphere_sphere(size_x, X, size_y, Y, margin, out, k)
    elif first == BOX and second == BOX:
        found = box_box(size_x, X, size_y, Y, margin, before, out, k)
    elif first == SPHERE and second == BOX:
        found = sphere_box(size_x, X, size_y, Y, margin, out, k)
    elif first == PLANE and second == CONVEX:
        found = plane_convex(X, solids, j, Y, margin, out, k)
    elif first == PLANE:
        found = plane_corners(X, size_y, Y, margin, out, k) if second > FIELD else 0
    elif first == FIELD:
        found = field_convex(solids, i, X, j, Y, margin, out, k) if second > FIELD else 0
    elif first == SPHERE and second == CAPSULE:
        found = sphere_capsule(size_x, X, size_y, Y, margin, out, k)
    elif first == CAPSULE and second == CAPSULE:
        found = capsule_capsule(size_x, X, size_y, Y, margin, out, k)
    if found < 0:
        found = convex_convex(solids, i, X, j, Y, margin, before, out, k)
    if swapped:
        for row in range(k, k + max(found, 1)):
            for c in range(3):
                out.normals[row, c] = -out.normals[row, c]
    return found
