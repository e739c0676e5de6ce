"""The spherical joint, by a unit quaternion: no singular coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...spatial import (
    Inertia,
    Motion,
    Transform,
    Vector3,
    quaternion_exp,
    quaternion_log,
    quaternion_normalized,
    quaternion_of,
    quaternion_product,
    quaternion_rate,
    quaternion_rotation,
)  # fmt: skip
from .coordinate import CoordinateJoint


@dataclass(frozen=True)
class Spherical(CoordinateJoint):
    """q = (x, y, z, w), the orientation of M in F (thesis eq. 3.31-3.34); v = the angular velocity of M in F, in M [rad/s]."""

    name = "spherical"
    is_group = True
    coordinates = ("qx", "qy", "qz", "qw")
    velocities = ("wx", "wy", "wz")
    axes = (0, 1, 2)

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(quaternion_rotation(q))

    def locate(self, X_FM: Transform) -> list[Any]:
        return quaternion_of(X_FM.rotation)

    def deviation(self, X_FM: Transform) -> Motion:
        return Motion(Vector3(), X_FM.rotation.unrotate(X_FM.translation))  # any orientation is allowed

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0, 1.0]

    def random(self, rng: np.random.Generator) -> list[float]:
        return random_quaternion(rng)

    def rate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return quaternion_rate(q, Vector3.of(v))

    def integrate(self, q: Sequence[Any], dv: Sequence[Any]) -> list[Any]:
        return quaternion_normalized(quaternion_product(q, quaternion_exp(Vector3.of(dv))))

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        x, y, z, w = q0
        return list(quaternion_log(quaternion_product([-x, -y, -z, w], q1)))

    def normalized(self, q: Sequence[Any]) -> list[Any]:
        return quaternion_normalized(q)

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        return Inertia(inertia.mass)  # a point mass at the center

    def off_manifold(self, q: Sequence[Any]) -> Any:
        return abs(1.0 - np.sqrt(sum(part * part for part in q)))


def random_quaternion(rng: np.random.Generator) -> list[float]:
    """A unit quaternion, uniform over all orientations."""
    q = rng.normal(size=4)
    return [float(part) for part in q / np.linalg.norm(q)]
