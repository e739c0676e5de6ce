"""The cylindrical joint: turns about and slides along z."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...spatial import AxisTurn, Inertia, Symmetric3, Transform, Vector3
from .coordinate import CoordinateJoint
from .revolute import Revolute

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

    def random(self, rng: np.random.Generator) -> list[float]:
        return [float(rng.uniform(-math.pi, math.pi)), float(rng.uniform(-1.0, 1.0))]

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        rod = inertia.rotational.yy
        return Inertia(rotational=Symmetric3.diagonal(rod, rod, 0.0))
