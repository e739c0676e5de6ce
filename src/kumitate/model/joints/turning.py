"""Joints that turn about a point, and the free joint.

`EulerAngles` has any three axes, as hips and shoulders of robots have others than the thesis, z-y-z (table 2.1) and z-y-x
(3.29); all of it follows from R = R(a_1, θ1) R(a_2, θ2) R(a_3, θ3).

The S-joint of thesis table 2.1 is spherical, by a unit quaternion and by z-y-z angles. The printed table has misprints in the
angles (its a_2 is s_2, the second column of S and an entry of T_a have the wrong sign or value); the columns here are derived
from the rotation Rz(θ1) Ry(θ2) Rz(θ3). The free joint has six degrees of freedom, by a unit quaternion (thesis 3.4.2), and by
z-y-x Euler angles (thesis 3.4.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...errors import ModelError
from ...scalar import arctan2, cos, maximum, sin, sqrt
from ...spatial import (
    AxisTurn,
    DenseRotation,
    Force,
    Inertia,
    Matrix3,
    Motion,
    Rotation,
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
from ..values import checked_numbers, shown
from .along_axes import CoordinateJoint
from .contract import JointKind, basis_forces

#: The tolerance within which vectors count as unit vectors, and as coordinate axes.
_UNIT, _ALONG = 4e-16, 1e-15
#: Axes closer to parallel than this do not span all directions.
_PLANE = 1e-6
#: Nearer to the singularity, two of the rotations are about the same axis, and one of them is arbitrary.
_FREE = 1e-9


@dataclass(frozen=True)
class EulerAngles(JointKind):
    """q = (θ1, θ2, θ3) about three axes, each rotated by the angles before it [rad]; v = q̇.

    Singular where the first and the third axis are parallel, or in one plane with the second: `singularity`.

    Attributes:
        axes: three directions in the joint's frame at zero angles; or letters, "zyx". The second must not be parallel to
            either neighbour. With axes at right angles to the second the joint reaches every orientation.

    Raises:
        ModelError: if the axes are not three directions, or two neighbours are parallel.

    >>> EulerAngles("zxy").axes
    ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    """

    name = "euler_angles"
    coordinates = velocities = ("first_angle", "second_angle", "third_angle")
    angles = (0, 1, 2)

    axes: str | Sequence[Sequence[float]] = "zyx"

    def __post_init__(self) -> None:
        given = [[float(letter == name) for name in "xyz"] for letter in self.axes] if isinstance(self.axes, str) else self.axes
        if not isinstance(given, Iterable) or len(given := list(given)) != 3:
            rule = 'they must be three directions. Give three vectors, or "zyx"'
            raise ModelError(f"euler_angles: the axes are {shown(self.axes)}; {rule}")
        rows = np.array([checked_numbers("euler_angles", f"axis {k + 1}", row, 3) for k, row in enumerate(given)])
        if not (np.linalg.norm(rows, axis=1) > 1e-12).all():
            rule = "give three vectors that are not zero"
            raise ModelError(f"euler_angles: one of the axes {shown(self.axes)} has no direction; {rule}")
        object.__setattr__(self, "axes", tuple(_direction(row) for row in rows))
        a, b, c = self._axes
        if min(float(a.cross(b).norm()), float(b.cross(c).norm())) < _PLANE:
            raise ModelError(
                f"euler_angles: of the axes {self.axes} two neighbours are parallel, so that one direction is never turned "
                "about; give other axes, or take a joint of fewer degrees of freedom"
            )

    @property
    def _axes(self) -> tuple[Vector3, Vector3, Vector3]:
        a, b, c = (Vector3.of(axis) for axis in self.axes)  # type: ignore[arg-type]
        return a, b, c

    def _turns(self, q: Sequence[Any]) -> list[Rotation]:
        return [_turn(axis, angle) for axis, angle in zip(self._axes, q, strict=True)]

    def _swing(self) -> tuple[float, float, float]:
        """A, B, C of a_1·R(a_2, θ2) a_3 = A + B cos θ2 + C sin θ2."""
        a, b, c = self._axes
        along = float(a.dot(b) * b.dot(c))
        return along, float(a.dot(c)) - along, float(a.dot(b.cross(c)))

    @property
    def reaches_all(self) -> bool:
        """Whether every orientation has angles: the second axis is at right angles to both others, to 1e-9."""
        a, b, c = self._axes
        return max(abs(float(a.dot(b))), abs(float(b.dot(c)))) < 1e-9

    def transform(self, q: Sequence[Any]) -> Transform:
        first, second, third = self._turns(q)
        return Transform(first @ second @ third)

    # --- from orientations to angles ------------------------------------------------------------------------------------
    def locate(self, X_FM: Transform) -> list[Any]:
        # of the two solutions, the one whose second angle is in the half turn around zero
        return self._triple(X_FM.rotation, -1.0 if self._swing()[2] > 0.0 else 1.0)

    def _triple(self, R_FM: Rotation, side: float) -> list[Any]:
        a, b, c = self._axes
        A, B, C = self._swing()
        u = R_FM.rotate(c)  # the third axis, which the last rotation does not move
        x = a.dot(u)  # = A + B cos θ2 + C sin θ2, as the first rotation does not move a_1
        ahead = x - A
        # √(B² + C² − ahead²), written without cancellation for a_2 at right angles to both others
        beside = side * sqrt(maximum(a.cross(u).dot(a.cross(u)) + (B * B + C * C - 1.0 - A * A) + 2.0 * A * x, 0.0))
        second = arctan2(C * ahead + B * beside, B * ahead - C * beside)
        w = _turn(b, second).rotate(c)
        first = arctan2(a.dot(w.cross(u)), w.dot(u) - a.dot(w) * x)
        return [first, second, self._third(R_FM, first, second)]

    def _third(self, R_FM: Rotation, first: Any, second: Any) -> Any:
        a, b, c = self._axes
        across = b.cross(c) * (1.0 / float(b.cross(c).norm()))
        seen = _turn(b, second).unrotate(_turn(a, first).unrotate(R_FM.rotate(across)))
        return arctan2(c.dot(across.cross(seen)), across.dot(seen))

    def nearest(self, X_FM: Transform, q: Sequence[float]) -> list[float]:
        """The angles of an orientation nearest to the angles q: of both solutions, with whole turns added.

        At the singularity, where only a sum of the first and third angles is determined, the first is taken from q, so that
        angles are continuous along a motion where possible.
        """
        found = []
        for side in (1.0, -1.0):
            angles = self._triple(X_FM.rotation, side)
            if self.singularity(angles) < _FREE:
                angles = [q[0], angles[1], self._third(X_FM.rotation, q[0], angles[1])]
            turns = (round((there - here) / math.tau) for here, there in zip(angles, q, strict=True))
            found.append([float(here + math.tau * turn) for here, turn in zip(angles, turns, strict=True)])
        return min(found, key=lambda angles: sum((here - there) ** 2 for here, there in zip(angles, q, strict=True)))

    def deviation(self, X_FM: Transform) -> Motion:
        return Motion(Vector3(), X_FM.rotation.unrotate(X_FM.translation))  # the rotation angle is arbitrary

    # --- motions and forces ---------------------------------------------------------------------------------------------
    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        return tuple(Motion(axis) for axis in self._turned(q))

    def _turned(self, q: Sequence[Any]) -> tuple[Vector3, Vector3, Vector3]:
        """The three axes in M."""
        a, b, c = self._axes
        _, second, third = self._turns(q)
        return third.unrotate(second.unrotate(a)), third.unrotate(b), c

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        first, second, third = self._turned(q)
        spin = third * v[2]  # of M relative to the frame of the second axis; with the second rotation, of the first
        return Motion(first.cross(second * v[1] + spin)), Motion(second.cross(spin)), Motion()

    def _volume(self, q: Sequence[Any]) -> Any:
        """a_1·(a_2 × a_3) in the posture: det S."""
        _, B, C = self._swing()
        return C * cos(q[1]) - B * sin(q[1])

    def active(self, q: Sequence[Any]) -> tuple[Force, ...]:
        first, second, third = self._turned(q)
        share = 1.0 / self._volume(q)
        return tuple(Force(x.cross(y) * share) for x, y in ((second, third), (third, first), (first, second)))

    def constraint(self, q: Sequence[Any]) -> tuple[Force, ...]:
        return basis_forces((3, 4, 5))

    def consistent_rates(self, q: Sequence[float], omega: Sequence[float], damping: float) -> list[float]:
        """The rates q̇ for the angular velocity ω of M in F, in M [rad/s], finite at the singularity too.

        Singularity-consistent (Nenchev, Tsumaki, Uchiyama 2000): q̇ = adj(S) ω · d/(d² + λ²) with d = det S. The direction
        adj(S) ω of the motion in q is exact in every posture; only the speed along it is bounded, by |adj(S) ω|/2λ, which
        without damping λ would be |adj(S) ω|/|d|. The relative error of the speed is λ²/(d² + λ²).
        """
        first, second, third = self._turned(q)
        w, volume = Vector3.of(omega), float(self._volume(q))
        scaled = [x.cross(y).dot(w) for x, y in ((second, third), (third, first), (first, second))]
        if damping == 0.0 and volume == 0.0:
            return [math.copysign(math.inf, x) if x else 0.0 for x in scaled]
        return [float(x) * volume / (volume * volume + damping * damping) for x in scaled]

    def singularity(self, q: Sequence[float]) -> float:
        return abs(float(self._volume(q)))

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        return Inertia(inertia.mass)  # a point mass at the center


def _direction(row: np.ndarray) -> tuple[float, ...]:
    """The unit vector along it: exactly a coordinate axis if it is one up to rounding; unchanged if of unit length."""
    length = float(np.linalg.norm(row))
    unit = row if abs(length - 1.0) < _UNIT else row / length
    whole = np.round(unit)
    near = np.abs(unit - whole).max() < _ALONG
    return tuple(float(x) + 0.0 for x in (whole if near else unit))


def _turn(axis: Vector3, angle: Any) -> Rotation:
    """The rotation about an axis; about a coordinate axis, one that takes two products per row."""
    for k, part in enumerate(axis):
        if abs(part) == 1.0:
            return AxisTurn.by(k, angle if part > 0.0 else -angle)
    c, s = cos(angle), sin(angle)  # Rodrigues' formula
    rest = Matrix3.outer(axis, axis)
    cross = ((0.0, -axis.z, axis.y), (axis.z, 0.0, -axis.x), (-axis.y, axis.x, 0.0))
    rows = [[(1.0 - c) * rest[i][j] + s * cross[i][j] + (c if i == j else 0.0) for j in range(3)] for i in range(3)]
    return DenseRotation(Matrix3.of(rows))


# --- joints by quaternions, and the universal joint -----------------------------------------------------------------------
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
        first = Vector3(-c2 * c3 * v[1] + s2 * s3 * v[2], c2 * s3 * v[1] + s2 * c3 * v[2], -s2 * v[1])
        return Motion(first), Motion(Vector3(c3 * v[2], -s3 * v[2], 0.0)), Motion()

    def active(self, q: Sequence[Any]) -> tuple[Force, ...]:
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        axes = (Vector3(-c3 / s2, s3 / s2, 0.0), Vector3(s3, c3, 0.0), Vector3(c2 * c3 / s2, -c2 * s3 / s2, 1.0))
        return tuple(Force(axis) for axis in axes)


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
