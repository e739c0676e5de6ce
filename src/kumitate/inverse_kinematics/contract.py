"""The contract of goals of inverse kinematics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from ..kinematics import jacobian, link_poses, place_pose
from ..model import Tree
from ..scalar import Scalar
from ..spatial import Transform


class Posture:
    """A tree at coordinates q while goals are evaluated; what several goals need is computed once."""

    def __init__(self, tree: Tree, q: Sequence[Scalar]):
        self.tree, self.q = tree, list(q)
        self._jacobians: dict[str, list[list[Scalar]]] = {}

    @cached_property
    def _poses(self) -> Any:
        return link_poses(self.tree, self.q)

    def pose(self, place: str) -> Transform:
        """X_WB of a body or frame."""
        return place_pose(self.tree, self._poses, self.tree.places[place])

    def jacobian(self, place: str) -> list[list[Scalar]]:
        """J (6, nv) of a body or frame: [ω; v] = J q̇ in the axes of the world."""
        if place not in self._jacobians:
            self._jacobians[place] = jacobian(self.tree, self.q, self.tree.places[place])
        return self._jacobians[place]


@dataclass(frozen=True, eq=False, kw_only=True)
class Goal(ABC):
    """One wish for a posture. Its target may have leading axes: one target for each of many postures.

    Attributes:
        weight: of its errors against those of other goals of the same priority; 1 rad counts like 1 m.
    """

    weight: float = 1.0
    #: Whether goals of this kind only say where the degrees of freedom go that others of their list leave.
    wish: ClassVar[bool] = False

    @property
    @abstractmethod
    def key(self) -> Hashable:
        """What the program of the goal depends on: everything but the target."""

    @abstractmethod
    def size(self, tree: Tree) -> int:
        """The number of components of its target."""

    @abstractmethod
    def target(self, tree: Tree) -> np.ndarray:
        """The target (..., size).

        Raises:
            InputError: for a place that does not exist, or a target of another shape.
        """

    @abstractmethod
    def errors(self, posture: Posture, target: Sequence[Scalar]) -> list[Scalar]:
        """What is missing to the target [m, rad]: zero where the goal is reached."""

    @abstractmethod
    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        """By how much the errors decrease (errors, nv) along each degree of freedom."""

    def scales(self, tree: Tree) -> list[float]:
        """By what its components (size) are multiplied where targets are compared for new starts; empty if they are not."""
        return []

    def reached(self, posture: Posture) -> list[Scalar]:
        """The target (size) that a posture reaches; empty if `scales` is."""
        return []


class KeyedGoals:
    """Goals by priority, equal where their programs are; `rests`: whether the search goes on until all of them are at rest."""

    def __init__(self, levels: Sequence[Sequence[Goal]], *, rests: bool = False):
        self.levels, self.rests = levels, rests
        self.key = (rests, *(tuple(goal.key for goal in level) for level in levels))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyedGoals) and self.key == other.key


def by_priority(goals: Any) -> list[list[Goal]]:
    """The lists of goals, the first first, of a goal, a list of goals, or lists of goals; `InputError` for anything else."""
    given = [goals] if isinstance(goals, Goal) else list(goals)
    inner = [list(one) for one in given if isinstance(one, list | tuple)]
    levels = inner if len(inner) == len(given) else [given]
    wrong = [goal for level in levels for goal in level if not isinstance(goal, Goal)]
    if wrong or not all(levels) or not levels:
        what = f"{wrong[0]!r:.60} is not a goal" if wrong else "there are no goals"
        raise InputError(
            f"inverse kinematics: {what}. Give goals, such as PoseGoal(place, X), or a list of lists: priority by priority"
        )
    return levels


def checked_target(what: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A target (..., *shape) of finite numbers, with its own axes made one; `InputError` for other shapes or values."""
    values = np.asarray(given, dtype=float)
    own = values.shape[values.ndim - len(shape) :] if values.ndim >= len(shape) else values.shape
    if own != shape or not np.isfinite(values).all():
        raise InputError(
            f"the target of {what} has shape {values.shape}; give finite numbers (..., {', '.join(map(str, shape))})"
        )
    return values.reshape(*values.shape[: values.ndim - len(shape)], prod(shape))
