"""Distances between solids on bodies, for many poses at once, and what a ray meets first."""

from __future__ import annotations

import math
from typing import NamedTuple

from ....procedure import Floats, Ints, Shaped, local, procedure
from .convex.pair import closest
from .convex.support import Couple, extent, outermost
from .solids import PLANE, Solid, Solids, relative

#: A ray has hit where it is closer than this part of the solid's size, and after so many rounds.
_HIT, _ROUNDS = 1e-13, 100


class OnBody(NamedTuple):
    """Rows of `Solids`, and their poses on their bodies."""

    rows: Ints
    mounts: Floats[4, 3]


@procedure
def _mounted(pose: Shaped[4, 3], mount: Shaped[4, 3], placed: Shaped[4, 3]) -> None:
    """The pose of a solid on a body, X_WS = X_WB X_BS."""
    placed[0:3] = pose[0:3] @ mount[0:3]
    placed[3] = pose[0:3] @ mount[3] + pose[3]


@procedure
def _over_plane(plane: Solid, b: Solid, found: Shaped[8]) -> None:
    """The gap of a solid over a plane, the normal of the plane, and the point of the plane."""
    p, n = local(3), local(3)
    for c in range(3):
        n[c] = plane.pose[c, 2]
    outermost(b, -n, p)
    height = n @ (p - plane.pose[3])
    found[0:3] = n
    found[3] = height - b.solids.sizes[b.row, 6]
    found[4:7] = p - height * n


@procedure
def _gap(a: Solid, b: Solid, found: Shaped[8]) -> None:
    """The gap, the normal from A to B, and the closest point of A, in the world."""
    if a.solids.kinds[a.row] == PLANE:
        _over_plane(a, b, found)
    elif b.solids.kinds[b.row] == PLANE:
        _over_plane(b, a, found)
        found[4:7] += found[3] * found[0:3]
        found[0:3] *= -1.0
    else:
        B, pose = local(4, 3), a.pose
        relative(pose, b.pose, B)
        closest(Couple(a.solids, a.row, b.row, B), math.inf, found)
        found[0:3] = pose[0:3] @ found[0:3]
        found[4:7] = pose[0:3] @ found[4:7] + pose[3]


@procedure
def least_gaps(
    solids: Solids, first: OnBody, first_poses: Floats[4, 3], second: OnBody, second_poses: Floats[4, 3], results: Floats[10]
) -> None:  # fmt: skip
    """For every row of poses of two bodies, the least gap between their solids.

    Results are the gap [m], the normal from the first to the second, and the closest points of both [m].
    """
    A, B, found = local(4, 3), local(4, 3), local(8)
    for row in range(len(first_poses)):
        results[row, 0] = math.inf
        for i in range(len(first.rows)):
            _mounted(first_poses[row], first.mounts[i], A)
            for j in range(len(second.rows)):
                _mounted(second_poses[row], second.mounts[j], B)
                _gap(Solid(solids, first.rows[i], A), Solid(solids, second.rows[j], B), found)
                if found[3] < results[row, 0]:
                    results[row, 0] = found[3]
                    results[row, 1:4] = found[0:3]
                    results[row, 4:7] = found[4:7]
                    results[row, 7:10] = found[4:7] + found[3] * found[0:3]


@procedure
def _hit(solid: Solid, point: int, ray: Shaped[6], most: float, found: Shaped[8]) -> float:
    """Where along a ray it enters a solid [m], infinite if it does not up to `most`; the outward normal there is in `found`.

    The ray goes on to the plane across the shortest way to the solid, which it cannot have passed (van den Bergen, Journal of
    Graphics Tools 9(4), 2004). `point` is a solid of one point.
    """
    solids, i, pose = solid.solids, solid.row, solid.pose
    start, along = (ray[0:3] - pose[3]) @ pose[0:3], ray[3:6] @ pose[0:3]
    if solids.kinds[i] == PLANE:
        for c in range(3):
            found[c] = pose[c, 2]
        return 0.0 if start[2] <= 0.0 else -start[2] / along[2] if along[2] < 0.0 else math.inf
    at = local(4, 3)
    for c in range(3):
        at[c, c] = 1.0
    t = 0.0
    small = _HIT * (extent(solids, i) + solids.sizes[i, 6])
    for _ in range(_ROUNDS):
        at[3] = start + t * along
        closest(Couple(solids, i, point, at), math.inf, found)
        closing = -(found[0:3] @ along)
        if found[3] <= small:
            break
        if closing <= 0.0:
            return math.inf
        step = found[3] / closing
        t += step
        if t > most:
            return math.inf
        if step <= small:
            break
    found[0:3] = pose[0:3] @ found[0:3]
    return t


@procedure
def first_hit(solids: Solids, point: int, shapes: OnBody, poses: Floats[4, 3], ray: Shaped[6], result: Shaped[5]) -> None:
    """The first solid that a ray from an origin [m] in a direction of unit length hits; `point`: a row that is one point.

    The result is the place in `shapes`, −1 if nothing is hit; the distance [m]; the outward normal.
    """
    X, found = local(4, 3), local(8)
    result[0], result[1] = -1.0, math.inf
    for k in range(len(shapes.rows)):
        _mounted(poses[k], shapes.mounts[k], X)
        t = _hit(Solid(solids, shapes.rows[k], X), point, ray, result[1], found)
        if t < result[1]:
            result[0], result[1] = float(k), t
            result[2:5] = found[0:3]
