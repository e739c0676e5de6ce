"""Drives that hold a joint at a position."""

from __future__ import annotations

from dataclasses import dataclass

from ...scalar import Scalar
from .contract import Command, Drive, DriveLaw


@dataclass(frozen=True, kw_only=True)
class PositionDrive(Drive):
    """τ = kp (target − q) + kd (target_velocity − v) + feed_forward, within ±limit.

    Attributes:
        kp: [N·m/rad or N/m]; `kd`: [N·m·s/rad or N·s/m], zero by default.

    >>> PositionDrive(kp=100.0, kd=4.0).law(0.1, 0.5, Command(target=0.2)).effort
    8.0
    """

    kind = "position"
    holds = True
    kp: float
    kd: float = 0.0

    def law(self, q: Scalar, v: Scalar, command: Command) -> DriveLaw:
        effort = self.kp * (command.target - q) + self.kd * (command.target_velocity - v) + command.feed_forward
        return DriveLaw(effort, self.kp, self.kd)
