"""The free joint of six degrees of freedom, by a unit quaternion (thesis 3.4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...spatial import Transform, Vector3, quaternion_rate, quaternion_rotation
from .coordinate import CoordinateJoint
from .spherical import Spherical, random_quaternion

_SPHERICAL = Spherical()


@dataclass(frozen=True)
class Floating(CoordinateJoint):
    """q = (qx, qy, qz, qw, x, y, z): orientation of M in F and position in F [m].

    v = (ω, v): angular and linear velocity of M in F, in the axes of M and at its origin [rad/s, m/s].
    """

    name = "floating"
    is_group = True
    drawn_as = ""
    coordinates = ("qx", "qy", "qz", "qw", "x", "y", "z")
    velocities = ("wx", "wy", "wz", "vx", "vy", "vz")
    axes = (0, 1, 2, 3, 4, 5)

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(quaternion_rotation(q[:4]), Vector3.of(q[4:7]))

    def locate(self, X_FM: Transform) -> list[Any]:
        return [*_SPHERICAL.locate(X_FM), *X_FM.translation]

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]

    def random(self, rng: np.random.Generator) -> list[float]:
        return [*random_quaternion(rng), *(float(x) for x in rng.uniform(-1.0, 1.0, 3))]

    def rate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        linear = quaternion_rotation(q[:4]).rotate(Vector3.of(v[3:6]))
        return [*quaternion_rate(q[:4], Vector3.of(v[:3])), *linear]

    def integrate(self, q: Sequence[Any], dv: Sequence[Any]) -> list[Any]:
        # rotation and translation are separate motions, not one screw: the position moves along the axes of M at the start
        shift = quaternion_rotation(q[:4]).rotate(Vector3.of(dv[3:6]))
        moved = [a + b for a, b in zip(q[4:7], shift, strict=True)]
        return [*_SPHERICAL.integrate(q[:4], dv[:3]), *moved]

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        shift = Vector3.of(q1[4:7]) - Vector3.of(q0[4:7])
        return [*_SPHERICAL.difference(q0[:4], q1[:4]), *quaternion_rotation(q0[:4]).unrotate(shift)]

    def turning(self, v: Sequence[Any]) -> list[Any]:
        return [0.0, 0.0, 0.0, *Vector3.of(v[3:6]).cross(Vector3.of(v[:3]))]

    def carried(self, v: Sequence[Any], dv: Sequence[Any]) -> list[Any]:
        turn = quaternion_rotation(_SPHERICAL.integrate(_SPHERICAL.neutral(), dv[:3]))
        return [*v[:3], *turn.unrotate(Vector3.of(v[3:6]))]

    def normalized(self, q: Sequence[Any]) -> list[Any]:
        return [*_SPHERICAL.normalized(q[:4]), *q[4:7]]

    def off_manifold(self, q: Sequence[Any]) -> Any:
        return _SPHERICAL.off_manifold(q[:4])
