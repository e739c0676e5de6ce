"""Drives that turn a joint at a velocity."""

from __future__ import annotations

from dataclasses import dataclass

from ...scalar import Scalar
from .contract import Command, Drive, DriveLaw


@dataclass(frozen=True, kw_only=True)
class VelocityDrive(Drive):
    """τ = kd (target − v) + feed_forward, within ±limit.

    Attributes:
        kd: [N·m·s/rad or N·s/m].

    >>> VelocityDrive(kd=2.0).law(0.0, 0.5, Command(target=1.5)).effort
    2.0
    """

    kind = "velocity"
    kd: float

    def law(self, q: Scalar, v: Scalar, command: Command) -> DriveLaw:
        return DriveLaw(self.kd * (command.target - v) + command.feed_forward, damping=self.kd)
