"""A posture that is preferred."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kinematics import difference
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
