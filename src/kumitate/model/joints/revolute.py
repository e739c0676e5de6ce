"""The revolute joint (R-joint of thesis table 2.1), about z."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...spatial import AxisTurn, Inertia, Symmetric3, Transform, Vector3
from .coordinate import CoordinateJoint

__all__ = ["Revolute"]


@dataclass(frozen=True)
class Revolute(CoordinateJoint):
    """Turns about z by q [rad]; v = q̇ [rad/s]. A continuous joint is one without limits."""

    name = "revolute"
    coordinates = velocities = ("angle",)
    axes = (2,)
    screw_symmetric = True
    turn = 0

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(AxisTurn.by(2, q[0]))

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        # a thin rod on the axis, whose turning about itself does not matter
        rod = inertia.rotational.yy
        return Inertia(inertia.mass, Vector3(0.0, 0.0, inertia.first_moment.z), Symmetric3.diagonal(rod, rod, 0.0))
