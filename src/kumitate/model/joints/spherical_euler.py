"""The spherical joint by z-y-z Euler angles (S-joint of thesis table 2.1), singular where the second angle is a multiple of π.

The printed table has misprints (its a_2 is s_2, the second column of S and an entry of T_a have the wrong sign or value); the
columns here are derived from the rotation Rz(θ1) Ry(θ2) Rz(θ3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...scalar import arctan2, cos, sin, sqrt
from ...spatial import AxisTurn, Force, Inertia, Motion, Transform, Vector3
from .contract import JointKind, basis_forces


@dataclass(frozen=True)
class SphericalEuler(JointKind):
    """q = (θ1 about z, θ2 about the new y, θ3 about the new z) [rad]; v = q̇. For joints whose angles are limited one by one."""

    name = "spherical_euler"
    is_group = True
    coordinates = velocities = ("first_angle", "second_angle", "third_angle")
    angles = (0, 1, 2)

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(AxisTurn.by(2, q[0]) @ AxisTurn.by(1, q[1]) @ AxisTurn.by(2, q[2]))

    def locate(self, X_FM: Transform) -> list[Any]:
        R = X_FM.rotation.matrix()
        s2 = sqrt(R[0][2] * R[0][2] + R[1][2] * R[1][2])
        return [arctan2(R[1][2], R[0][2]), arctan2(s2, R[2][2]), arctan2(R[2][1], -R[2][0])]

    def deviation(self, X_FM: Transform) -> Motion:
        return Motion(Vector3(), X_FM.rotation.unrotate(X_FM.translation))  # any orientation is allowed

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        return Motion(Vector3(-s2 * c3, s2 * s3, c2)), Motion(Vector3(s3, c3, 0.0)), Motion(Vector3(0.0, 0.0, 1.0))

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        first = Vector3(
            -c2 * c3 * v[1] + s2 * s3 * v[2],
            c2 * s3 * v[1] + s2 * c3 * v[2],
            -s2 * v[1],
        )
        return Motion(first), Motion(Vector3(c3 * v[2], -s3 * v[2], 0.0)), Motion()

    def active(self, q: Sequence[Any]) -> tuple[Force, ...]:
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        return (
            Force(Vector3(-c3 / s2, s3 / s2, 0.0)),
            Force(Vector3(s3, c3, 0.0)),
            Force(Vector3(c2 * c3 / s2, -c2 * s3 / s2, 1.0)),
        )

    def constraint(self, q: Sequence[Any]) -> tuple[Force, ...]:
        return basis_forces((3, 4, 5))

    def singularity(self, q: Sequence[float]) -> float:
        return abs(math.sin(q[1]))

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        return Inertia(inertia.mass)  # a point mass at the center
