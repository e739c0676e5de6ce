"""Inverse kinematics of one posture or many, with further starts where the first one leads nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..model import Mechanism
from ..model.values import checked_whole
from .contract import Goal, KeyedGoals
from .precisions import Found, Search, TwoPrecisions
from .program import search_program
from .starts import ComparedPostures, compared, random_postures

#: Steps of one search: a new start is then better than more steps, unless goals of lower priority come to rest slowly.
STEPS, STEPS_WITH_PRIORITIES = 25, 100
#: From new starts fewer steps are enough, as these are near the target.
STEPS_AGAIN = 16
#: Searches of one call where few targets are left.
SEARCHES = 128
#: Targets that are compared with starts at a time, for which memory is needed.
COMPARED = 16384


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
    levels, rests = _levels(goals)
    restarts = checked_whole(mechanism.name, "restarts", restarts, 0, remedy="Give a number of searches", error=InputError)
    seed = checked_whole(mechanism.name, "seed", seed, 0, remedy="Give a whole number", error=InputError)
    targets = [goal.target(mechanism.tree) for level in levels for goal in level]
    search = _search(mechanism, KeyedGoals(levels, rests=rests), limits)
    shape = np.broadcast_shapes(q0.shape[:-1], *(target.shape[:-1] for target in targets))
    q = np.broadcast_to(q0, (*shape, mechanism.nq)).reshape(-1, mechanism.nq)
    wanted = [np.broadcast_to(target, (*shape, target.shape[-1])).reshape(len(q), target.shape[-1]) for target in targets]
    best = search(q, tolerance, np.inf, wanted)
    found, error, steps = best
    open_rows = np.flatnonzero(~(error <= tolerance))
    if restarts and len(open_rows):
        postures = random_postures(mechanism, seed, restarts, limits)
        for rows in np.array_split(open_rows, -(-len(open_rows) // COMPARED)):
            its_targets = [target[rows] for target in wanted]
            starts = compared(mechanism, levels[0], its_targets[: len(levels[0])], postures)
            again = Found(found[rows], error[rows], steps[rows])
            _begin_again(search, starts, its_targets, again, tolerance, restarts, np.inf if rests else STEPS_AGAIN)
            found[rows], error[rows], steps[rows] = again
    search.finish(best, tolerance, wanted)
    return Reached(
        found.reshape(*shape, mechanism.nq), error.reshape(shape), (error <= tolerance).reshape(shape), steps.reshape(shape)
    )


def _begin_again(
    search: Search,
    starts: ComparedPostures,
    targets: Sequence[np.ndarray],
    best: Found,
    tolerance: float,
    restarts: int,
    most: float,
) -> None:
    """Searches from further starts, each target from its nearest ones, until all are found or `restarts` are made.

    Where few targets are left, each is searched from several starts at once, as many as one instruction works on.
    """
    rows = np.arange(len(best.error))
    while restarts and len(rows):
        count = min(restarts, search.lanes, max(1, SEARCHES // len(rows)))
        restarts -= count
        repeated = np.repeat(rows, count)
        begin = starts.take(count).reshape(len(repeated), -1)
        made = search(begin, tolerance, most, [target.take(repeated, axis=0) for target in targets])
        error = np.where(np.isnan(made.error), np.inf, made.error).reshape(len(rows), count)
        chosen = np.where(error <= tolerance, 0.0, error).argmin(axis=1) + count * np.arange(len(rows))  # the first one found
        better = ~(best.error[rows] <= error.ravel()[chosen])
        for kept, new in zip(best, made, strict=True):
            kept[rows[better]] = new[chosen[better]]
        missing = ~(best.error[rows] <= tolerance)
        rows = rows[missing]
        starts.keep(missing)


@lru_cache(maxsize=64)
def _search(mechanism: Mechanism, goals: KeyedGoals, limits: bool) -> Search:
    """The search for goals; those of lower priority rest only in double precision."""
    steps = STEPS_WITH_PRIORITIES if goals.rests else STEPS
    program = search_program(mechanism, goals.levels, steps, limits, rests=goals.rests)
    return TwoPrecisions(program) if len(goals.levels) == 1 else Search(program)


def _levels(goals: Any) -> tuple[list[list[Goal]], bool]:
    """Goals by priority, and whether those of lower priority have to come to rest: as lists, not as wishes of one list.

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
    if len(levels) > 1 or len({goal.wish for goal in levels[0]}) == 1:
        return levels, len(levels) > 1
    return [[goal for goal in levels[0] if goal.wish == wish] for wish in (False, True)], False
