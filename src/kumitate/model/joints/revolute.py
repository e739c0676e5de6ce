"""The revolute joint (R-joint of thesis table 2.1), about z."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...scalar import arctan2
from ...spatial import AxisTurn, Inertia, Motion, Symmetric3, Transform, Vector3
from .coordinate import CoordinateJoint


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
