"""Inverse kinematics of one posture or many, with further starts where the first one leads nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel
from ..errors import InputError
from ..kinematics import random_coordinates
from ..model import Mechanism
from ..model.values import checked_whole
from .contract import Goal
from .limits import limits_of
from .program import search_program

__all__ = ["Reached", "inverse_kinematics"]

#: Steps of one search: a new start is then better than more steps, unless goals of lower priority come to rest slowly.
STEPS, STEPS_WITH_PRIORITIES = 25, 100


class Reached(NamedTuple):
    """What inverse kinematics found.

    Attributes:
        q: coordinates (..., nq): the solution, or the posture that comes nearest where there is none.
        error: the largest error of the goals of first priority there (...) [m, rad].
        solved: whether it is within the tolerance (...).
        steps: of the last search (...).
    """

    q: np.ndarray
    error: np.ndarray
    solved: np.ndarray
    steps: np.ndarray


def inverse_kinematics(
    mechanism: Mechanism,
    goals: Goal | Sequence[Goal | Sequence[Goal]],
    q0: np.ndarray,
    *,
    limits: bool = True,
    tolerance: float = 1e-8,
    restarts: int = 30,
    seed: int = 0,
) -> Reached:
    """See `Robot.inverse_kinematics`."""
    levels = _levels(goals)
    restarts = checked_whole(mechanism.name, "restarts", restarts, 0, remedy="Give a number of searches", error=InputError)
    targets = [goal.target(mechanism.tree) for level in levels for goal in level]
    kernel = _kernel(mechanism, _Keyed(levels), limits)
    shape = np.broadcast_shapes(q0.shape[:-1], *(target.shape[:-1] for target in targets))
    q = np.broadcast_to(q0, (*shape, mechanism.nq)).reshape(-1, mechanism.nq)
    wanted = [np.broadcast_to(target, (*shape, target.shape[-1])).reshape(len(q), -1) for target in targets]
    found, error, steps = kernel(q, tolerance, *wanted)
    rng = np.random.default_rng(seed)
    for _ in range(restarts):
        open_rows = np.flatnonzero(~(error <= tolerance))
        if not len(open_rows):
            break
        starts = _random_starts(mechanism, rng, len(open_rows), limits)
        again, its_error, its_steps = kernel(starts, tolerance, *(target[open_rows] for target in wanted))
        better = ~(error[open_rows] <= its_error)
        rows = open_rows[better]
        found[rows], error[rows], steps[rows] = again[better], its_error[better], its_steps[better]
    return Reached(found.reshape(*shape, -1), error.reshape(shape), (error <= tolerance).reshape(shape), steps.reshape(shape))


class _Keyed:
    """Goals by priority, equal where their programs are."""

    def __init__(self, levels: list[list[Goal]]):
        self.levels, self.key = levels, tuple(tuple(goal.key for goal in level) for level in levels)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and self.key == other.key


@lru_cache(maxsize=64)
def _kernel(mechanism: Mechanism, goals: _Keyed, limits: bool) -> Kernel:
    return Kernel(search_program(mechanism, goals.levels, STEPS if len(goals.levels) == 1 else STEPS_WITH_PRIORITIES, limits))


def _levels(goals: Any) -> list[list[Goal]]:
    """Goals by priority: those outside of inner lists are of the first.

    Raises:
        InputError: for anything but goals.
    """
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


def _random_starts(mechanism: Mechanism, rng: np.random.Generator, count: int, limits: bool) -> np.ndarray:
    """Random coordinates (count, nq), those with limits within them."""
    low, high = limits_of(mechanism) if limits else ({}, {})
    bounded = sorted(low.keys() & high.keys())
    q = np.zeros((count, mechanism.nq))
    if len(bounded) < mechanism.nq:
        q[:] = [random_coordinates(mechanism.tree, rng) for _ in range(count)]
    q[:, bounded] = rng.uniform([low[i] for i in bounded], [high[i] for i in bounded], (count, len(bounded)))
    return q
