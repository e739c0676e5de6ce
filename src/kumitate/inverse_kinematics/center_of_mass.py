"""The center of mass at a point in the world."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis import momentum_matrix
from ..kinematics import center_of_mass
from ..model import Tree
from ..scalar import Scalar
from .contract import Goal, Posture, checked_target


@dataclass(frozen=True, eq=False)
class CenterOfMassGoal(Goal):
    """The center of mass of all moving bodies is at a point.

    Attributes:
        point: in the world (..., 3) [m].
    """

    point: Any

    @property
    def key(self) -> Hashable:
        return "center_of_mass", self.weight

    def size(self, tree: Tree) -> int:
        return 3

    def target(self, tree: Tree) -> np.ndarray:
        return checked_target("the center of mass", self.point, (3,))

    def errors(self, posture: Posture, target: Sequence[Scalar]) -> list[Scalar]:
        return [a - b for a, b in zip(target, center_of_mass(posture.tree, posture.q), strict=True)]

    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        linear = momentum_matrix(posture.tree, posture.q)[3:]
        return [[entry / posture.tree.mass for entry in row] for row in linear]

    def scales(self, tree: Tree) -> list[float]:
        return [1.0] * 3

    def reached(self, posture: Posture) -> list[Scalar]:
        return list(center_of_mass(posture.tree, posture.q))
