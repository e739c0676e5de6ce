"""A point of a body or frame at a place in the world."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model import Tree
from ..scalar import Scalar
from .contract import Goal, Posture, checked_place, checked_target


@dataclass(frozen=True, eq=False)
class PositionGoal(Goal):
    """The origin of a body or frame is at a point.

    Attributes:
        place: name of the body or frame.
        point: in the world (..., 3) [m].
    """

    place: str
    point: Any

    @property
    def key(self) -> Hashable:
        return "position", self.place, self.weight

    def size(self, tree: Tree) -> int:
        return 3

    def target(self, tree: Tree) -> np.ndarray:
        checked_place(tree, self.place)
        return checked_target(f"the position of {self.place!r}", self.point, (3,))

    def errors(self, posture: Posture, target: Sequence[Scalar]) -> list[Scalar]:
        return [wanted - is_at for wanted, is_at in zip(target, posture.pose(self.place).translation, strict=True)]

    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        return posture.jacobian(self.place)[3:]

    def scales(self, tree: Tree) -> list[float]:
        return [1.0] * 3

    def reached(self, posture: Posture) -> list[Scalar]:
        return list(posture.pose(self.place).translation)
