"""The rod of fixed length: a massless link with a ball joint at either end, written as one equation."""

from __future__ import annotations

from dataclasses import dataclass

from ...scalar import sqrt
from ...spatial import Force, Motion, Transform, Vector3
from ..values import POSITIVE, Rule, checked_number
from .closure import Closing, Closure

_LENGTH = Rule(POSITIVE.words, "For points that coincide take a spherical joint", POSITIVE.holds)


@dataclass(frozen=True)
class Distance(Closure):
    """Keeps the origins of M and F at the distance `length` [m], which must be above zero (for zero, use a spherical joint)."""

    name = "distance"
    length: float = 1.0

    def __post_init__(self) -> None:
        length = checked_number("distance", "the length [m]", self.length, _LENGTH)
        object.__setattr__(self, "length", length)

    @property
    def rows(self) -> int:
        return 1

    @property
    def nv(self) -> int:
        return 0

    @property
    def nq(self) -> int:
        return 0

    def closing(self, X_FM: Transform, V_FM: Motion) -> Closing:
        p = X_FM.rotation.unrotate(X_FM.translation)
        far = sqrt(p.dot(p))
        along = p * (1.0 / far)
        v = V_FM.linear
        stretching = along.dot(v)
        # d²|p|/dt² = u·a + (v² − (u·v)²)/|p|, with a as an observer in F sees it; in M's axes it differs by ω × v
        swing = (stretching * stretching - v.dot(v)) / far - along.dot(V_FM.angular.cross(v))
        error = Motion(Vector3(), along * (far - self.length))
        return Closing(X_FM, V_FM, V_FM, Motion(Vector3(), along * swing), (Force(Vector3(), along),), (), (), (), error)
