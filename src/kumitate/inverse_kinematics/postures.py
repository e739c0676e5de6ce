"""A posture that is preferred.

The center of mass at a point in the world.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis import momentum_matrix
from ..kinematics import center_of_mass, difference
from ..model import Tree
from ..scalar import Scalar
from .contract import Goal, Posture, checked_target


@dataclass(frozen=True, eq=False)
class PostureGoal(Goal):
    """The robot is in a posture, mostly as a goal of low priority: of all solutions the nearest to it is then taken.

    In one list with goals of other kinds it is a wish: the search moves towards it along the degrees of freedom that they
    leave, and ends as soon as they are reached, whether it is or not; its weight counts against other wishes.

    Attributes:
        q: coordinates (..., nq).
    """

    q: Any
    wish = True

    @property
    def key(self) -> Hashable:
        return "rest", self.weight

    def size(self, tree: Tree) -> int:
        return tree.nq

    def target(self, tree: Tree) -> np.ndarray:
        return checked_target("the posture", self.q, (tree.nq,))

    def errors(self, posture: Posture, target: Sequence[Scalar]) -> list[Scalar]:
        return difference(posture.tree, posture.q, list(target))

    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        n = posture.tree.nv
        return [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]


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
