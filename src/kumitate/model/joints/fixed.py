"""The fixed joint, without degrees of freedom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...spatial import Transform
from .coordinate import CoordinateJoint


@dataclass(frozen=True)
class Fixed(CoordinateJoint):
    """Constrains all six directions (thesis table 2.2)."""

    name = "fixed"
    drawn_as = ""

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform()

    def locate(self, X_FM: Transform) -> list[Any]:
        return []
