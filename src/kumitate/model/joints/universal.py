"""The universal (Hooke) joint (U-joint of thesis table 2.1): a rotation about z, then about the rotated y."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...scalar import arctan2, cos, sin
from ...spatial import AxisTurn, Force, Inertia, Motion, Transform, Vector3
from .contract import JointKind, basis_forces


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
