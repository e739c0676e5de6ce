"""Vectors by components, and poses as rows of twelve: a rotation R_WA row by row, then the position of A in W."""

from __future__ import annotations

import math

from ....procedure import Shaped, procedure
from .solids import Points

#: A vector or a place.
Triple = tuple[float, float, float]


@procedure
def turned(pose: Shaped[12], x: float, y: float, z: float) -> tuple[float, float, float]:
    """R_WA v: a vector of the frame A in the axes of W."""
    return (
        pose[0] * x + pose[1] * y + pose[2] * z,
        pose[3] * x + pose[4] * y + pose[5] * z,
        pose[6] * x + pose[7] * y + pose[8] * z,
    )


@procedure
def inverse_turned(pose: Shaped[12], x: float, y: float, z: float) -> tuple[float, float, float]:
    """R_AW v: a vector of W in the axes of A."""
    return (
        pose[0] * x + pose[3] * y + pose[6] * z,
        pose[1] * x + pose[4] * y + pose[7] * z,
        pose[2] * x + pose[5] * y + pose[8] * z,
    )


@procedure
def world_point(pose: Shaped[12], x: float, y: float, z: float) -> tuple[float, float, float]:
    """A point of the frame A in W."""
    u, v, w = turned(pose, x, y, z)
    return u + pose[9], v + pose[10], w + pose[11]


@procedure
def local_point(pose: Shaped[12], x: float, y: float, z: float) -> tuple[float, float, float]:
    """A point of W in the frame A."""
    return inverse_turned(pose, x - pose[9], y - pose[10], z - pose[11])


@procedure
def across(x: float, y: float, z: float) -> tuple[float, float, float]:
    """A unit vector across another one."""
    if abs(x) < 0.6:
        scale = 1.0 / math.sqrt(y * y + z * z)
        return 0.0, -z * scale, y * scale
    scale = 1.0 / math.sqrt(x * x + y * y)
    return -y * scale, x * scale, 0.0


@procedure
def put(out: Points, k: int, place: Triple, normal: Triple, gap: float, feature: int) -> None:
    """Writes a point in row k."""
    out.positions[k, 0], out.positions[k, 1], out.positions[k, 2] = place
    out.normals[k, 0], out.normals[k, 1], out.normals[k, 2] = normal
    out.gaps[k] = gap
    out.features[k] = feature
