"""Inverse kinematics of many targets: how long a posture takes, and how many are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from kumitate import Robot
from kumitate.compile import Kernel
from kumitate.inverse_kinematics import PoseGoal
from kumitate.inverse_kinematics.search import STEPS, limits_of, search_program
from kumitate.measure.timing import Contender, Effort, by_turns, raw, thread_seconds

from .contract import SubjectCase
from .report import Row

__all__ = ["PosesReached"]

#: As of `Robot.inverse_kinematics` by default: new starts, and the largest error [rad, m].
RESTARTS, TOLERANCE = 30, 1e-8


@dataclass(frozen=True)
class PosesReached(SubjectCase):
    """Poses of the last body that random postures within the limits have, searched from other random postures, to 1e-8.

    Attributes:
        one, batch: the most seconds a target, asked for one search at a time, in machine code, and all by one call.
        share: how many must be found; `targets`: how many there are.
    """

    one: float
    batch: float
    share: float = 0.99
    targets: int = 1000

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"inverse_kinematics_{self.subject.name}"

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"postures of {self.subject.title} that reach a pose"

    def rows(self, effort: Effort) -> Iterator[Row]:
        robot, count, rng = Robot(self.subject.mechanism), effort.share(self.targets), np.random.default_rng(3)
        low, high = limits_of(robot.mechanism)
        bounds = [np.array([end.get(i, x) for i in range(robot.nq)]) for end, x in ((low, -np.pi), (high, np.pi))]
        starts, postures = rng.uniform(bounds[0], bounds[1], (2, count, robot.nq))
        place = robot.mechanism.bodies[-1].name
        goal = PoseGoal(place, robot.pose(postures, place))
        found = robot.inverse_kinematics(goal, starts)
        passes = _searches(robot, goal, starts, lambda rows: rng.uniform(bounds[0], bounds[1], (rows, robot.nq)))

        def one_by_one() -> None:
            for search in passes:
                search()

        together = Contender(lambda: robot.inverse_kinematics(goal, starts), count)
        timings = by_turns(
            {"one": Contender(one_by_one, count), "batch": together}, min(effort.rounds, 10), clock=thread_seconds
        )
        solved = f"{found.solved.mean():.1%} found, {self.share:.0%} wanted"
        yield Row(self.name, "a target, one search at a time", timings["one"], at_most=self.one, remarks=solved)
        yield Row(self.name, "a target, all by one call", timings["batch"], at_most=self.batch, remarks=solved)


def _searches(
    robot: Robot, goal: PoseGoal, starts: np.ndarray, others: Callable[[int], np.ndarray]
) -> list[Callable[[], None]]:
    """Calls of machine code that find all targets, one at a time: first from `starts`, then again where that failed."""
    kernel = Kernel(search_program(robot.mechanism, [[goal]], STEPS, True))
    targets, rows = goal.target(robot.mechanism.tree), np.arange(len(starts))
    passes: list[Callable[[], None]] = []
    while len(rows) and len(passes) <= RESTARTS:
        given = starts[: len(rows)] if not passes else others(len(rows))
        error = np.empty(len(rows))
        out = np.empty((len(rows), robot.nq)), error, np.empty(len(rows))
        passes.append(raw(kernel, 1, (given, np.full(len(rows), TOLERANCE), np.full(len(rows), STEPS), targets[rows]), out))
        passes[-1]()
        rows = rows[~(error <= TOLERANCE)]
    return passes
