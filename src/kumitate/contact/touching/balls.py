"""Spheres and capsules: balls about points of a segment."""

from __future__ import annotations

import math

from ...procedure import Shaped, procedure
from .frames import across, local_point, put, turned
from .solids import Points

__all__ = ["ball_ball", "capsule_capsule", "sphere_box", "sphere_capsule", "sphere_sphere"]

#: Centers closer than this are one point, which gives no direction [m].
_ONE = 1e-12
#: Capsules inclined to each other by less than this touch at both ends of their overlap [square of the sine].
_LEANING = 0.01
#: A closest point is a point of its own where it is deeper than both ends of the overlap by this [m].
_DEEPER = 1e-7


@procedure
def ball_ball(
    ra: float, ax: float, ay: float, az: float, rb: float, bx: float, by: float, bz: float,
    ux: float, uy: float, uz: float, margin: float, out: Points, k: int, feature: int,
) -> int:  # fmt: skip
    """Two balls; where their centers are one, the normal is u."""
    dx, dy, dz = bx - ax, by - ay, bz - az
    square = dx * dx + dy * dy + dz * dz
    reach = ra + rb + margin
    if square > reach * reach:
        return 0
    distance = math.sqrt(square)
    nx, ny, nz = ux, uy, uz
    if distance > _ONE:
        scale = 1.0 / distance
        nx, ny, nz = dx * scale, dy * scale, dz * scale
    gap = distance - ra - rb
    along = ra + 0.5 * gap
    put(out, k, ax + along * nx, ay + along * ny, az + along * nz, nx, ny, nz, gap, feature)
    return 1


@procedure
def sphere_sphere(
    size_a: Shaped[8], pose_a: Shaped[12], size_b: Shaped[8], pose_b: Shaped[12], margin: float, out: Points, k: int
) -> int:  # fmt: skip
    """One point."""
    return ball_ball(
        size_a[6], pose_a[9], pose_a[10], pose_a[11], size_b[6], pose_b[9], pose_b[10], pose_b[11],
        0.0, 0.0, 1.0, margin, out, k, 0,
    )  # fmt: skip


@procedure
def sphere_capsule(
    size_a: Shaped[8], pose_a: Shaped[12], size_b: Shaped[8], pose_b: Shaped[12], margin: float, out: Points, k: int
) -> int:  # fmt: skip
    """One point, at the point of the capsule's axis closest to the sphere's center."""
    ax, ay, az = pose_a[9], pose_a[10], pose_a[11]
    half = size_b[2]
    t = (ax - pose_b[9]) * pose_b[2] + (ay - pose_b[10]) * pose_b[5] + (az - pose_b[11]) * pose_b[8]
    t = min(half, max(-half, t))
    return ball_ball(
        size_a[6], ax, ay, az,
        size_b[6], pose_b[9] + t * pose_b[2], pose_b[10] + t * pose_b[5], pose_b[11] + t * pose_b[8],
        pose_b[0], pose_b[3], pose_b[6], margin, out, k, 0,
    )  # fmt: skip


@procedure
def sphere_box(
    size_a: Shaped[8], pose_a: Shaped[12], size_b: Shaped[8], pose_b: Shaped[12], margin: float, out: Points, k: int
) -> int:  # fmt: skip
    """One point, on a face, an edge or a corner; at the nearest face if the sphere's center is inside the box."""
    radius = size_a[6]
    x, y, z = local_point(pose_b, pose_a[9], pose_a[10], pose_a[11])
    dx = x - min(size_b[0], max(-size_b[0], x))
    dy = y - min(size_b[1], max(-size_b[1], y))
    dz = z - min(size_b[2], max(-size_b[2], z))
    square = dx * dx + dy * dy + dz * dz
    reach = radius + margin
    if square > reach * reach:
        return 0
    distance = math.sqrt(square)
    if distance > _ONE:
        dx, dy, dz = dx / distance, dy / distance, dz / distance
    else:
        depth_x, depth_y, depth_z = size_b[0] - abs(x), size_b[1] - abs(y), size_b[2] - abs(z)
        dx, dy, dz = 0.0, 0.0, 0.0
        if depth_x <= depth_y and depth_x <= depth_z:
            dx = math.copysign(1.0, x)
            distance = -depth_x
        elif depth_y <= depth_z:
            dy = math.copysign(1.0, y)
            distance = -depth_y
        else:
            dz = math.copysign(1.0, z)
            distance = -depth_z
    gap = distance - radius
    if gap > margin:
        return 0
    nx, ny, nz = turned(pose_b, -dx, -dy, -dz)
    along = radius + 0.5 * gap
    px, py, pz = pose_a[9] + along * nx, pose_a[10] + along * ny, pose_a[11] + along * nz
    put(out, k, px, py, pz, nx, ny, nz, gap, 0)
    return 1


@procedure
def _at(
    size_a: Shaped[8], pose_a: Shaped[12], size_b: Shaped[8], pose_b: Shaped[12], s: float, t: float,
    fx: float, fy: float, fz: float, margin: float, out: Points, k: int, feature: int,
) -> int:  # fmt: skip
    """The balls of two capsules at places along their axes."""
    return ball_ball(
        size_a[6], pose_a[9] + s * pose_a[2], pose_a[10] + s * pose_a[5], pose_a[11] + s * pose_a[8],
        size_b[6], pose_b[9] + t * pose_b[2], pose_b[10] + t * pose_b[5], pose_b[11] + t * pose_b[8],
        fx, fy, fz, margin, out, k, feature,
    )  # fmt: skip


@procedure
def capsule_capsule(
    size_a: Shaped[8], pose_a: Shaped[12], size_b: Shaped[8], pose_b: Shaped[12], margin: float, out: Points, k: int
) -> int:  # fmt: skip
    """The closest points; where the capsules are nearly parallel, those at both ends of their overlap."""
    a, b = size_a[2], size_b[2]
    ux, uy, uz = pose_a[2], pose_a[5], pose_a[8]
    vx, vy, vz = pose_b[2], pose_b[5], pose_b[8]
    dx, dy, dz = pose_b[9] - pose_a[9], pose_b[10] - pose_a[10], pose_b[11] - pose_a[11]
    reach = a + b + size_a[6] + size_b[6] + margin
    if dx * dx + dy * dy + dz * dz > reach * reach:
        return 0
    cosine = ux * vx + uy * vy + uz * vz
    cx, cy, cz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    sine2 = cx * cx + cy * cy + cz * cz
    along_u = dx * ux + dy * uy + dz * uz
    along_v = dx * vx + dy * vy + dz * vz

    # Closest points of two segments: Ericson, Real-Time Collision Detection (2005), section 5.1.9.
    s = 0.0
    if sine2 > 1e-20:
        s = min(a, max(-a, (along_u - cosine * along_v) / sine2))
    t = min(b, max(-b, s * cosine - along_v))
    s = min(a, max(-a, t * cosine + along_u))
    fx, fy, fz = across(ux, uy, uz)
    if sine2 > 1e-20:
        scale = 1.0 / math.sqrt(sine2)
        fx, fy, fz = cx * scale, cy * scale, cz * scale
    count = 0
    least = math.inf
    if sine2 < _LEANING:
        low = max(-a, along_u - b * abs(cosine))
        high = min(a, along_u + b * abs(cosine))
        if low < high:
            for end in range(2):
                here = low if end == 0 else high
                there = min(b, max(-b, here * cosine - along_v))
                found = _at(size_a, pose_a, size_b, pose_b, here, there, fx, fy, fz, margin, out, k + count, end + 1)
                if found > 0:
                    least = min(least, out.gaps[k + count])
                    count += 1
    found = _at(size_a, pose_a, size_b, pose_b, s, t, fx, fy, fz, margin, out, k + count, 0)
    if found > 0 and out.gaps[k + count] < least - _DEEPER:
        count += 1
    return count
