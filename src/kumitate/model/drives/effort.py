"""Drives that give the effort that they are commanded."""

from __future__ import annotations

from dataclasses import dataclass

from ...scalar import Scalar
from .contract import Command, Drive, DriveLaw


@dataclass(frozen=True, kw_only=True)
class EffortDrive(Drive):
    """τ = target + feed_forward, within ±limit.

    >>> EffortDrive(limit=20.0).law(0.3, 0.0, Command(target=5.0)).effort
    5.0
    """

    kind = "effort"

    def law(self, q: Scalar, v: Scalar, command: Command) -> DriveLaw:
        return DriveLaw(command.target + command.feed_forward)
