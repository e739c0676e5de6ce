"""Distances and rays for many poses at once."""

from __future__ import annotations

import math

from ....procedure import Floats, Ints, Shaped, local, procedure
from .convex.pair import closest
from .convex.support import extent, furthest, relative
from .frames import inverse_turned, local_point, turned, world_point
from .solids import PLANE, Solids

__all__ = ["first_hits", "least_gaps"]

#: A ray has hit where it is closer than this part of the solid's size, and after so many rounds.
_HIT, _ROUNDS = 1e-13, 100


@procedure
def _mounted(pose: Shaped[12], mount: Shaped[12], placed: Shaped[12]) -> None:
    """The pose of a solid on a body, X_WS = X_WB X_BS."""
    for i in range(3):
        for j in range(3):
            placed[3 * i + j] = pose[3 * i] * mount[j] + pose[3 * i + 1] * mount[3 + j] + pose[3 * i + 2] * mount[6 + j]
        placed[9 + i] = (
            pose[9 + i] + pose[3 * i] * mount[9] + pose[3 * i + 1] * mount[10] + pose[3 * i + 2] * mount[11]
        )  # fmt: skip


@procedure
def _gap_to_plane(solids: Solids, b: int, B: Shaped[12], found: Shaped[8]) -> None:
    """The gap of solid b over the plane z = 0 of the frame A, in which the results are given as by `closest`."""
    x, y, z = inverse_turned(B, 0.0, 0.0, -1.0)
    px, py, pz = furthest(solids, b, x, y, z)
    px, py, pz = world_point(B, px, py, pz)
    found[0], found[1], found[2], found[3] = 0.0, 0.0, 1.0, pz - solids.sizes[b, 6]
    found[4], found[5], found[6] = px, py, 0.0


@procedure
def _gap(solids: Solids, a: int, pose_a: Shaped[12], b: int, pose_b: Shaped[12], found: Shaped[8]) -> None:
    """The gap, the normal from A to B, and the closest point of A, in the world."""
    B = local(12)
    if solids.kinds[b] == PLANE:
        relative(pose_b, pose_a, B)
        _gap_to_plane(solids, a, B, found)
        found[6] += found[3]  # the closest point of the other one
        nx, ny, nz = turned(pose_b, -found[0], -found[1], -found[2])
        px, py, pz = world_point(pose_b, found[4], found[5], found[6])
    else:
        relative(pose_a, pose_b, B)
        if solids.kinds[a] == PLANE:
            _gap_to_plane(solids, b, B, found)
        else:
            closest(solids, a, b, B, math.inf, found)
        nx, ny, nz = turned(pose_a, found[0], found[1], found[2])
        px, py, pz = world_point(pose_a, found[4], found[5], found[6])
    found[0], found[1], found[2] = nx, ny, nz
    found[4], found[5], found[6] = px, py, pz


@procedure
def least_gaps(
    solids: Solids, first: Ints, first_mounts: Floats[12], first_poses: Floats[12], second: Ints, second_mounts: Floats[12],
    second_poses: Floats[12], results: Floats[10],
) -> None:  # fmt: skip
    """For every row of poses, the least gap between solids on two bodies.

    Args:
        first, second: the solids on each body.
        first_mounts, second_mounts: their poses on their bodies.
        first_poses, second_poses: poses of the bodies, one row per state.
        results: for every state the gap [m], the normal from the first to the second, and the closest points of both [m].
    """
    A = local(12)
    B = local(12)
    found = local(8)
    for row in range(len(first_poses)):
        results[row, 0] = math.inf
        for i in range(len(first)):
            _mounted(first_poses[row], first_mounts[i], A)
            for j in range(len(second)):
                _mounted(second_poses[row], second_mounts[j], B)
                _gap(solids, first[i], A, second[j], B, found)
                if found[3] < results[row, 0]:
                    results[row, 0] = found[3]
                    for c in range(3):
                        results[row, 1 + c] = found[c]
                        results[row, 4 + c] = found[4 + c]
                        results[row, 7 + c] = found[4 + c] + found[3] * found[c]


@procedure
def _hit(solids: Solids, point: int, i: int, pose: Shaped[12], ray: Shaped[6], most: float, found: Shaped[8]) -> float:
    """Where along a ray it enters solid i [m], infinite if it does not up to `most`; the outward normal there is in `found`.

    The ray goes on to the plane across the shortest way to the solid, which it cannot have passed (van den Bergen, Journal of
    Graphics Tools 9(4), 2004).

    Args:
        point: a solid of one point.
        ray: origin, and direction of unit length.
    """
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
        closest(solids, i, point, at, math.inf, found)
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
def first_hits(
    solids: Solids, point: int, rows: Ints, bodies: Ints, mounts: Floats[12], poses: Floats[12], states: int, rays: Floats[6],
    results: Floats[5],
) -> None:  # fmt: skip
    """For every state and its ray, the first solid that is hit.

    Args:
        point: a row of `solids` that is one point.
        rows, bodies, mounts: the solids, the bodies on which they are, and their poses there.
        poses: of all bodies of the first state, of the second, and so on.
        states: the number of states.
        rays: origin [m] and direction of unit length, of every state.
        results: for every state the place in `rows`, −1 if nothing is hit; the distance [m]; the outward normal.
    """
    X = local(12)
    found = local(8)
    count = len(poses) // states if states > 0 else 0
    for row in range(states):
        results[row, 0] = -1.0
        results[row, 1] = math.inf
        for k in range(len(rows)):
            _mounted(poses[row * count + bodies[k]], mounts[k], X)
            t = _hit(solids, point, rows[k], X, rays[row], results[row, 1], found)
            if t < results[row, 1]:
                results[row, 0] = float(k)
                results[row, 1] = t
                for c in range(3):
                    results[row, 2 + c] = found[c]
