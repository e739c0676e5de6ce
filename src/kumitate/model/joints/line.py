"""The line between two points, for springs and dampers: it has a length, and holds nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...scalar import sqrt
from ...spatial import Force, Motion, Transform, Vector3
from .closure import Closing, Closure

__all__ = ["Line"]

Scalar = Any


@dataclass(frozen=True)
class Line(Closure):
    """From F's origin to M's; its one coordinate is their distance [m], which must stay above zero."""

    name = "line"
    coordinates = velocities = ("length",)

    @property
    def rows(self) -> int:
        return 0

    @property
    def nv(self) -> int:
        return 1

    @property
    def nq(self) -> int:
        return 1

    def closing(self, X_FM: Transform, V_FM: Motion) -> Closing:
        p = X_FM.rotation.unrotate(X_FM.translation)
        length = sqrt(p.dot(p))
        along = p * (1.0 / length)
        v = V_FM.linear
        rate = along.dot(v)
        # as of a rod of fixed length: d²|p|/dt² = u·a + (v² − (u·v)²)/|p|, seen from M's turning axes
        swing = (rate * rate - v.dot(v)) / length - along.dot(V_FM.angular.cross(v))
        bias = Motion(Vector3(), along * swing)
        return Closing(X_FM, V_FM, V_FM, bias, (), (Force(Vector3(), along),), (length,), (rate,), Motion())
