"""The free joint of six degrees of freedom: by a unit quaternion (thesis 3.4.2), and by z-y-x Euler angles (thesis 3.4.1).

The angles are singular where the second is ±90 deg. Eq. 3.29 prints c_3 for c_2 in the middle factor; (3.30) is right and
equals the product of the rotations here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...scalar import arctan2, cos, sin, sqrt
from ...spatial import AxisTurn, Force, Motion, Transform, Vector3, quaternion_rate, quaternion_rotation
from .along_axes import CoordinateJoint
from .contract import JointKind
from .turning import Spherical, random_quaternion

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


@dataclass(frozen=True)
class FloatingEuler(JointKind):
    """q = (θ1 about z, θ2 about the new y, θ3 about the new x [rad], x, y, z in F [m]); v = q̇."""

    name = "floating_euler"
    is_group = True
    drawn_as = ""
    coordinates = velocities = ("yaw", "pitch", "roll", "x", "y", "z")
    angles = (0, 1, 2)

    def _rotation(self, q: Sequence[Any]) -> Any:
        return AxisTurn.by(2, q[0]) @ AxisTurn.by(1, q[1]) @ AxisTurn.by(0, q[2])

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(self._rotation(q), Vector3.of(q[3:6]))

    def locate(self, X_FM: Transform) -> list[Any]:
        R = X_FM.rotation.matrix()
        level = sqrt(R[2][1] * R[2][1] + R[2][2] * R[2][2])
        return [arctan2(R[1][0], R[0][0]), arctan2(-R[2][0], level), arctan2(R[2][1], R[2][2]), *X_FM.translation]

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        turns = (Vector3(-s2, c2 * s3, c2 * c3), Vector3(0.0, c3, -s3), Vector3(1.0, 0.0, 0.0))
        shifts = (self._rotation(q).unrotate(Vector3.unit(axis)) for axis in range(3))
        return (*(Motion(turn) for turn in turns), *(Motion(linear=shift) for shift in shifts))

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        first = Vector3(-c2 * v[1], -s2 * s3 * v[1] + c2 * c3 * v[2], -s2 * c3 * v[1] - c2 * s3 * v[2])
        turns = (first, Vector3(0.0, -s3 * v[2], -c3 * v[2]), Vector3())
        columns = self.subspace(q)
        omega = columns[0].angular * v[0] + columns[1].angular * v[1] + columns[2].angular * v[2]
        # the axes of F rotate in the opposite direction as seen from M
        shifts = (column.linear.cross(omega) for column in columns[3:])
        return (*(Motion(turn) for turn in turns), *(Motion(linear=shift) for shift in shifts))

    def active(self, q: Sequence[Any]) -> tuple[Force, ...]:
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        turns = (Vector3(0.0, s3 / c2, c3 / c2), Vector3(0.0, c3, -s3), Vector3(1.0, s2 * s3 / c2, s2 * c3 / c2))
        shifts = (self._rotation(q).unrotate(Vector3.unit(axis)) for axis in range(3))
        return (*(Force(turn) for turn in turns), *(Force(force=shift) for shift in shifts))

    def constraint(self, q: Sequence[Any]) -> tuple[Force, ...]:
        return ()

    def random(self, rng: np.random.Generator) -> list[float]:
        yaw, roll = rng.uniform(-math.pi, math.pi, 2)
        return [float(yaw), float(rng.uniform(-1.4, 1.4)), float(roll), *(float(x) for x in rng.uniform(-1.0, 1.0, 3))]

    def singularity(self, q: Sequence[float]) -> float:
        return abs(math.cos(q[1]))
