"""Joints about and along fixed axes of M: fixed, revolute, prismatic, cylindrical, helical, planar (thesis table 2.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...scalar import Scalars, arctan2, cos, sin
from ...spatial import AxisTurn, Force, Inertia, Motion, Symmetric3, Transform, Vector3
from ..values import LARGEST, SMALLEST, Rule, checked_number
from .contract import JointKind, basis_forces, basis_motions


class CoordinateJoint(JointKind):
    """A joint that allows motion along the coordinate axes `axes` of M (0-2 angular, 3-5 linear) and constrains the others."""

    axes: ClassVar[tuple[int, ...]] = ()

    def subspace(self, q: Scalars) -> tuple[Motion, ...]:
        return basis_motions(self.axes)

    def active(self, q: Scalars) -> tuple[Force, ...]:
        return basis_forces(self.axes)

    def constraint(self, q: Scalars) -> tuple[Force, ...]:
        return basis_forces([axis for axis in range(6) if axis not in self.axes])


@dataclass(frozen=True)
class Fixed(CoordinateJoint):
    """Constrains all six directions (thesis table 2.2)."""

    name = "fixed"
    drawn_as = ""

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform()

    def locate(self, X_FM: Transform) -> list[Any]:
        return []


@dataclass(frozen=True)
class Revolute(CoordinateJoint):
    """Turns about z by q [rad]; v = q̇ [rad/s]. A continuous joint is one without limits."""

    name = "revolute"
    drawn_as = "hinge"
    coordinates = velocities = ("angle",)
    angles = (0,)
    axes = (2,)
    screw_symmetric = True
    turn = 0

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(AxisTurn.by(2, q[0]))

    def locate(self, X_FM: Transform) -> list[Any]:
        return [arctan2(*self.facing(X_FM)[0])]

    def facing(self, X_FM: Transform) -> dict[int, tuple[Any, Any]]:
        R = X_FM.rotation.matrix()
        return {0: (R[1][0] - R[0][1], R[0][0] + R[1][1])}

    def deviation(self, X_FM: Transform) -> Motion:
        # the shortest rotation from F's axis to M's does not depend on the angle
        x, y, z = X_FM.rotation.matrix()[2]
        away = X_FM.rotation.unrotate(X_FM.translation)
        return Motion(Vector3(y, -x, 0.0) * (2.0 / (1.0 + z)), away)

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        # a thin rod on the axis, whose rotation about itself has no effect
        rod = inertia.rotational.yy
        return Inertia(inertia.mass, Vector3(0.0, 0.0, inertia.first_moment.z), Symmetric3.diagonal(rod, rod, 0.0))


@dataclass(frozen=True)
class Prismatic(CoordinateJoint):
    """Slides along z by q [m]; v = q̇ [m/s]."""

    name = "prismatic"
    drawn_as = "slider"
    coordinates = velocities = ("position",)
    axes = (5,)
    screw_symmetric = True

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(translation=Vector3(0.0, 0.0, q[0]))

    def locate(self, X_FM: Transform) -> list[Any]:
        return [X_FM.translation.z]

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        return Inertia(rotational=inertia.rotational)  # parent and child have the same angular velocity


_REVOLUTE = Revolute()


@dataclass(frozen=True)
class Cylindrical(CoordinateJoint):
    """q = (angle [rad], position [m]) about and along z; v = q̇."""

    name = "cylindrical"
    coordinates = velocities = ("angle", "position")
    angles = (0,)
    axes = (2, 5)
    screw_symmetric = True
    turn = 0

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(AxisTurn.by(2, q[0]), Vector3(0.0, 0.0, q[1]))

    def locate(self, X_FM: Transform) -> list[Any]:
        return [*_REVOLUTE.locate(X_FM), X_FM.translation.z]

    def facing(self, X_FM: Transform) -> dict[int, tuple[Any, Any]]:
        return _REVOLUTE.facing(X_FM)

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        rod = inertia.rotational.yy
        return Inertia(rotational=Symmetric3.diagonal(rod, rod, 0.0))


_PITCH = Rule(
    f"from {SMALLEST:g} to {LARGEST:g} in size", "A screw without a pitch is a revolute joint",
    lambda x: SMALLEST <= abs(x) <= LARGEST,
)  # fmt: skip


@dataclass(frozen=True)
class Helical(JointKind):
    """Turns about z by q [rad] and slides along z by pitch·q/2π; v = q̇ [rad/s].

    Attributes:
        pitch: the displacement along z per turn [m], positive for right-handed threads; not zero (that is a revolute joint).
    """

    name = "helical"
    coordinates = velocities = ("angle",)
    screw_symmetric = True

    pitch: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "pitch", checked_number("helical", "the pitch [m]", self.pitch, _PITCH))

    @property
    def _rise(self) -> float:
        """The displacement along z per angle [m/rad]."""
        return self.pitch / math.tau

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(AxisTurn.by(2, q[0]), Vector3(0.0, 0.0, self._rise * q[0]))

    def locate(self, X_FM: Transform) -> list[Any]:
        # the angle of the rotation; the displacement along z gives the number of whole turns
        about = X_FM.translation.z * (1.0 / self._rise)
        (angle,) = _REVOLUTE.locate(X_FM)
        return [about + arctan2(sin(angle - about), cos(angle - about))]

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        return (Motion(Vector3(0.0, 0.0, 1.0), Vector3(0.0, 0.0, self._rise)),)

    def active(self, q: Sequence[Any]) -> tuple[Force, ...]:
        return basis_forces((2,))  # a drive turns the screw

    def constraint(self, q: Sequence[Any]) -> tuple[Force, ...]:
        thread = Force(Vector3(0.0, 0.0, -self._rise), Vector3(0.0, 0.0, 1.0))
        return (*basis_forces((0, 1, 3, 4)), thread)

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        rod = inertia.rotational.yy  # inertia about the axis, without mass
        return Inertia(rotational=Symmetric3.diagonal(rod, rod, 0.0))


@dataclass(frozen=True)
class Planar(JointKind):
    """q = (angle about z [rad], x, y in F [m]); v = q̇."""

    name = "planar"
    is_group = True
    coordinates = velocities = ("angle", "x", "y")
    angles = (0,)

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(AxisTurn.by(2, q[0]), Vector3(q[1], q[2], 0.0))

    def locate(self, X_FM: Transform) -> list[Any]:
        return [*_REVOLUTE.locate(X_FM), X_FM.translation.x, X_FM.translation.y]

    def facing(self, X_FM: Transform) -> dict[int, tuple[Any, Any]]:
        return _REVOLUTE.facing(X_FM)

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        s, c = sin(q[0]), cos(q[0])
        turn = Motion(Vector3(0.0, 0.0, 1.0))
        return turn, Motion(linear=Vector3(c, -s, 0.0)), Motion(linear=Vector3(s, c, 0.0))

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        s, c = sin(q[0]) * v[0], cos(q[0]) * v[0]
        return Motion(), Motion(linear=Vector3(-s, -c, 0.0)), Motion(linear=Vector3(c, -s, 0.0))

    def active(self, q: Sequence[Any]) -> tuple[Force, ...]:
        s, c = sin(q[0]), cos(q[0])
        turn = Force(Vector3(0.0, 0.0, 1.0))
        return turn, Force(force=Vector3(c, -s, 0.0)), Force(force=Vector3(s, c, 0.0))

    def constraint(self, q: Sequence[Any]) -> tuple[Force, ...]:
        return basis_forces((0, 1, 5))
