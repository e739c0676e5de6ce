"""The planar joint: slides in the plane x, y of F and turns about its normal z."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...scalar import cos, sin
from ...spatial import AxisTurn, Force, Motion, Transform, Vector3
from .contract import JointKind, basis_forces
from .revolute import Revolute

_REVOLUTE = Revolute()


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

    def random(self, rng: np.random.Generator) -> list[float]:
        return [float(rng.uniform(-math.pi, math.pi)), *(float(x) for x in rng.uniform(-1.0, 1.0, 2))]
