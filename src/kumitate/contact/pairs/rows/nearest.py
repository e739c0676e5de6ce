"""Distances between solids on bodies, for many poses at once, and what a ray meets first."""

from __future__ import annotations

import math
from typing import NamedTuple

from ....procedure import Floats, Ints, Shaped, local, procedure
from .convex.pair import closest
from .convex.support import Couple, extent, outermost, relative
from .frames import inverse_turned, local_point, turned, world_point
from .solids import PLANE, Solid, Solids

#: A ray has hit where it is closer than this part of the solid's size, and after so many rounds.
_HIT, _ROUNDS = 1e-13, 100


class OnBody(NamedTuple):
    """Rows of `Solids`, and their poses on their bodies."""

    rows: Ints
    mounts: Floats[12]


@procedure
def _mounted(pose: Shaped[12], mount: Shaped[12], placed: Shaped[12]) -> None:
    """The pose of a solid on a body, X_WS = X_WB X_BS."""
    for i in range(3):
        for j in range(3):
            placed[3 * i + j] = pose[3 * i] * mount[j] + pose[3 * i + 1] * mount[3 + j] + pose[3 * i + 2] * mount[6 + j]
    placed[9], placed[10], placed[11] = world_point(pose, mount[9], mount[10], mount[11])


@procedure
def _over_plane(plane: Solid, b: Solid, found: Shaped[8]) -> None:
    """The gap of a solid over a plane, the normal of the plane, and the point of the plane."""
    nx, ny, nz = plane.pose[2], plane.pose[5], plane.pose[8]
    px, py, pz = outermost(b, -nx, -ny, -nz)
    height = nx * (px - plane.pose[9]) + ny * (py - plane.pose[10]) + nz * (pz - plane.pose[11])
    found[0], found[1], found[2], found[3] = nx, ny, nz, height - b.solids.sizes[b.row, 6]
    found[4], found[5], found[6] = px - height * nx, py - height * ny, pz - height * nz


@procedure
def _gap(a: Solid, b: Solid, found: Shaped[8]) -> None:
    """The gap, the normal from A to B, and the closest point of A, in the world."""
    if a.solids.kinds[a.row] == PLANE:
        _over_plane(a, b, found)
    elif b.solids.kinds[b.row] == PLANE:
        _over_plane(b, a, found)
        for c in range(3):
            found[4 + c] += found[3] * found[c]
            found[c] = -found[c]
    else:
        B = local(12)
        relative(a.pose, b.pose, B)
        closest(Couple(a.solids, a.row, b.row, B), math.inf, found)
        nx, ny, nz = turned(a.pose, found[0], found[1], found[2])
        px, py, pz = world_point(a.pose, found[4], found[5], found[6])
        found[0], found[1], found[2] = nx, ny, nz
        found[4], found[5], found[6] = px, py, pz


@procedure
def least_gaps(
    solids: Solids, first: OnBody, first_poses: Floats[12], second: OnBody, second_poses: Floats[12], results: Floats[10]
) -> None:  # fmt: skip
    """For every row of poses, the least gap between solids on two bodies.

    Args:
        first_poses, second_poses: poses of the bodies, one row per state.
        results: for every state the gap [m], the normal from the first to the second, and the closest points of both [m].
    """
    A = local(12)
    B = local(12)
    found = local(8)
    for row in range(len(first_poses)):
        results[row, 0] = math.inf
        for i in range(len(first.rows)):
            _mounted(first_poses[row], first.mounts[i], A)
            for j in range(len(second.rows)):
                _mounted(second_poses[row], second.mounts[j], B)
                _gap(Solid(solids, first.rows[i], A), Solid(solids, second.rows[j], B), found)
                if found[3] < results[row, 0]:
                    results[row, 0] = found[3]
                    for c in range(3):
                        results[row, 1 + c] = found[c]
                        results[row, 4 + c] = found[4 + c]
                        results[row, 7 + c] = found[4 + c] + found[3] * found[c]


@procedure
def _hit(solid: Solid, point: int, ray: Shaped[6], most: float, found: Shaped[8]) -> float:
    """Where along a ray it enters a solid [m], infinite if it does not up to `most`; the outward normal there is in `found`.

    The ray goes on to the plane across the shortest way to the solid, which it cannot have passed (van den Bergen, Journal of
    Graphics Tools 9(4), 2004).

    Args:
        point: a solid of one point.
        ray: origin, and direction of unit length.
    """
    solids, i, pose = solid.solids, solid.row, solid.pose
    x, y, z = local_point(pose, ray[0], ray[1], ray[2])
    u, v, w = inverse_turned(pose, ray[3], ray[4], ray[5])
    if solids.kinds[i] == PLANE:
        found[0], found[1], found[2] = pose[2], pose[5], pose[8]
        return 0.0 if z <= 0.0 else -z / w if w < 0.0 else math.inf
    at = local(12)
    at[0], at[4], at[8] = 1.0, 1.0, 1.0
    t = 0.0
    small = _HIT * (extent(solids, i) + solids.sizes[i, 6])
    for _ in range(_ROUNDS):
        at[9], at[10], at[11] = x + t * u, y + t * v, z + t * w
        closest(Couple(solids, i, point, at), math.inf, found)
        closing = -(found[0] * u + found[1] * v + found[2] * w)
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
    nx, ny, nz = turned(pose, found[0], found[1], found[2])
    found[0], found[1], found[2] = nx, ny, nz
    return t


@procedure
def first_hit(solids: Solids, point: int, shapes: OnBody, poses: Floats[12], ray: Shaped[6], result: Shaped[5]) -> None:
    """The first solid that a ray hits.

    Args:
        point: a row of `solids` that is one point.
        poses: of the body of each solid.
        ray: origin [m] and direction of unit length.
        result: the place in `shapes`, −1 if nothing is hit; the distance [m]; the outward normal.
    """
    X = local(12)
    found = local(8)
    result[0], result[1] = -1.0, math.inf
    for k in range(len(shapes.rows)):
        _mounted(poses[k], shapes.mounts[k], X)
        t = _hit(Solid(solids, shapes.rows[k], X), point, ray, result[1], found)
        if t < result[1]:
            result[0], result[1] = float(k), t
            result[2], result[3], result[4] = found[0], found[1], found[2]
