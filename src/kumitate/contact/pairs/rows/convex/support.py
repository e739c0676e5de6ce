"""The furthest points of convex solids, and those of the difference of two."""

from __future__ import annotations

import math
from typing import NamedTuple

from .....procedure import Floats, Shaped, procedure
from ..frames import inverse_turned, turned, world_point
from ..solids import Solid, Solids


class Couple(NamedTuple):
    """Two solids, rows a and b, and the pose of B in the frame A."""

    solids: Solids
    a: int
    b: int
    B: Shaped[12]


class Difference(NamedTuple):
    """Some points of {q − p: q of B, p of A}, and their p, in the frame A."""

    W: Floats[3]
    P: Floats[3]


@procedure
def furthest(solids: Solids, i: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """The point of solid i without its ball that is furthest along a vector, both in the solid's frame."""
    px, py, pz = 0.0, 0.0, 0.0
    count = solids.spans[i, 1]
    if count > 0:
        first = solids.spans[i, 0]
        best = first
        most = -math.inf
        for k in range(first, first + count):
            along = solids.vertices[k, 0] * x + solids.vertices[k, 1] * y + solids.vertices[k, 2] * z
            if along > most:
                most = along
                best = k
        px, py, pz = solids.vertices[best, 0], solids.vertices[best, 1], solids.vertices[best, 2]
    else:
        size = solids.sizes[i]
        px, py, pz = math.copysign(size[0], x), math.copysign(size[1], y), math.copysign(size[2], z)
        ex, ey, ez = size[3] * x, size[4] * y, size[5] * z
        square = ex * ex + ey * ey + ez * ez
        if square > 0.0:
            scale = 1.0 / math.sqrt(square)
            px += size[3] * ex * scale
            py += size[4] * ey * scale
            pz += size[5] * ez * scale
    return px, py, pz


@procedure
def outermost(solid: Solid, x: float, y: float, z: float) -> tuple[float, float, float]:
    """The same of a solid where it is, along a vector of the world."""
    u, v, w = inverse_turned(solid.pose, x, y, z)
    px, py, pz = furthest(solid.solids, solid.row, u, v, w)
    return world_point(solid.pose, px, py, pz)


@procedure
def relative(pose_a: Shaped[12], pose_b: Shaped[12], B: Shaped[12]) -> None:
    """The pose of B in the frame A."""
    for i in range(3):
        for j in range(3):
            B[3 * i + j] = pose_a[i] * pose_b[j] + pose_a[3 + i] * pose_b[3 + j] + pose_a[6 + i] * pose_b[6 + j]
        B[9 + i] = (
            pose_a[i] * (pose_b[9] - pose_a[9]) + pose_a[3 + i] * (pose_b[10] - pose_a[10])
            + pose_a[6 + i] * (pose_b[11] - pose_a[11])
        )  # fmt: skip


@procedure
def lift(couple: Couple, x: float, y: float, z: float, points: Difference, k: int) -> float:
    """Writes the point of the difference that is least along a vector; gives how far along it that is."""
    W, P, B = points.W, points.P, couple.B
    px, py, pz = furthest(couple.solids, couple.a, x, y, z)
    bx, by, bz = inverse_turned(B, -x, -y, -z)
    sx, sy, sz = furthest(couple.solids, couple.b, bx, by, bz)
    qx, qy, qz = turned(B, sx, sy, sz)
    P[k, 0], P[k, 1], P[k, 2] = px, py, pz
    wx, wy, wz = qx + B[9] - px, qy + B[10] - py, qz + B[11] - pz
    W[k, 0], W[k, 1], W[k, 2] = wx, wy, wz
    return wx * x + wy * y + wz * z


@procedure
def extent(solids: Solids, i: int) -> float:
    """A length of which solid i without its ball is about half as large [m]."""
    size = solids.sizes[i]
    return size[7] + size[0] + size[1] + size[2] + max(size[3], size[4], size[5])
