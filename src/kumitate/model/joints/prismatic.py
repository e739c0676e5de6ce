"""The prismatic joint (P-joint), along z."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...spatial import Inertia, Transform, Vector3
from .coordinate import CoordinateJoint


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

    def random(self, rng: np.random.Generator) -> list[float]:
        return [float(rng.uniform(-1.0, 1.0))]

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        return Inertia(rotational=inertia.rotational)  # parent and child have the same angular velocity
