"""The helical joint, a screw in its nut: rotates about z and slides along it in proportion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...scalar import arctan2, cos, sin
from ...spatial import AxisTurn, Force, Inertia, Motion, Symmetric3, Transform, Vector3
from ..values import LARGEST, SMALLEST, Rule, checked_number
from .contract import JointKind, basis_forces
from .revolute import Revolute

_REVOLUTE = Revolute()
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
