"""Joints that turn about a point, and the free joint.

The S-joint of thesis table 2.1 is spherical, by a unit quaternion and by z-y-z angles. The printed table has misprints in the
angles (its a_2 is s_2, the second column of S and an entry of T_a have the wrong sign or value); the columns here are derived
from the rotation Rz(θ1) Ry(θ2) Rz(θ3). The free joint has six degrees of freedom, by a unit quaternion (thesis 3.4.2), and by
z-y-x Euler angles (thesis 3.4.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...scalar import arctan2, cos, sin, sqrt
from ...spatial import (
    AxisTurn,
    Force,
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
)
from .along_axes import CoordinateJoint
from .contract import JointKind, basis_forces
from .euler_angles import EulerAngles


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


@dataclass(frozen=True)
class SphericalEuler(EulerAngles):
    """q = (θ1 about z, θ2 about the new y, θ3 about the new z) [rad]; v = q̇. For joints whose angles are limited one by one.

    What is written out here takes fewer operations than for any three axes.
    """

    name = "spherical_euler"
    is_group = True
    axes: ClassVar[str] = "zyz"  # type: ignore[misc]  # no field of it: a joint of no parameters

    def locate(self, X_FM: Transform) -> list[Any]:
        R = X_FM.rotation.matrix()
        s2 = sqrt(R[0][2] * R[0][2] + R[1][2] * R[1][2])
        return [arctan2(R[1][2], R[0][2]), arctan2(s2, R[2][2]), arctan2(R[2][1], -R[2][0])]

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


@dataclass(frozen=True)
class Universal(JointKind):
    """q = (first angle about z of F, second about y of M) [rad]; v = q̇."""

    name = "universal"
    coordinates = velocities = ("first_angle", "second_angle")
    angles = (0, 1)

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(AxisTurn.by(2, q[0]) @ AxisTurn.by(1, q[1]))

    def locate(self, X_FM: Transform) -> list[Any]:
        # the second axis, y of M, and the third row of Ry
        return [arctan2(*pair) for pair in self.facing(X_FM).values()]

    def facing(self, X_FM: Transform) -> dict[int, tuple[Any, Any]]:
        R = X_FM.rotation.matrix()
        return {0: (-R[0][1], R[1][1]), 1: (-R[2][0], R[2][2])}

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        s2, c2 = sin(q[1]), cos(q[1])
        return Motion(Vector3(-s2, 0.0, c2)), Motion(Vector3(0.0, 1.0, 0.0))

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        s2, c2 = sin(q[1]), cos(q[1])
        return Motion(Vector3(-c2 * v[1], 0.0, -s2 * v[1])), Motion()

    def active(self, q: Sequence[Any]) -> tuple[Force, ...]:
        s2, c2 = sin(q[1]), cos(q[1])
        return Force(Vector3(-s2, 0.0, c2)), Force(Vector3(0.0, 1.0, 0.0))

    def constraint(self, q: Sequence[Any]) -> tuple[Force, ...]:
        s2, c2 = sin(q[1]), cos(q[1])
        return (Force(Vector3(c2, 0.0, s2)), *basis_forces((3, 4, 5)))

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        return Inertia(inertia.mass)  # a point mass at the center


# --- the free joint -------------------------------------------------------------------------------------------------------
# The angles are singular where the second is ±90 deg. Eq. 3.29 prints c_3 for c_2 in the middle factor; (3.30) is right and
# equals the product of the rotations here.


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
