"""The case of joints' limits: what they add to a step while none is reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import kumitate as km
from kumitate.measure.timing import Contender, Effort, by_turns, thread_seconds

from .contract import SubjectCase
from .report import Row
from .simulation import threads

__all__ = ["StepsWithLimits"]


@dataclass(frozen=True)
class StepsWithLimits(SubjectCase):
    """Steps of a robot whose joints swing about their middles, with limits and without.

    Attributes:
        dearer: target for the ratio of both times.
        runs, count: how many runs, and the steps of each.
    """

    dearer: float = 1.15
    runs: int = 256
    count: int = 50

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"limits_{self.subject.name}"

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"steps of {self.subject.title}, with limits and without"

    def rows(self, effort: Effort) -> Iterator[Row]:
        mechanism, runs = self.subject.mechanism, effort.share(self.runs)
        robot = km.Robot(mechanism)
        middle = robot.neutral()
        for at, joint in zip(np.cumsum([0, *(joint.kind.nq for joint in mechanism.joints)]), mechanism.joints, strict=False):
            for k, limit in enumerate(joint.limits if joint.kind.nq == joint.kind.nv else ()):
                if limit.lower is not None and limit.upper is not None:
                    middle[at + k] = 0.5 * (limit.lower + limit.upper)
        q = np.tile(middle, (runs, 1))
        v = 1e-3 * np.random.default_rng(0).normal(size=(runs, robot.nv))
        for integrator in ("semi_implicit_euler", "rkf45"):
            calls = {}
            for limits in ("on", "off"):
                batch = km.Simulation(robot, integrator=integrator, limits=limits == "on", step=1e-4).batch(q, v)
                calls[limits] = Contender(_from_the_start(batch, q, v, self.count), runs * self.count)
            with threads(1):
                timings = by_turns(calls, effort.rounds, clock=thread_seconds)
            yield Row(
                self.name, f"step by {integrator}, limits on, batch", timings["on"], "limits=False", timings["off"],
                1.0 / self.dearer, remarks=f"target: {100 * (self.dearer - 1):.0f} % more; none is reached",
            )  # fmt: skip


def _from_the_start(batch: Any, q: np.ndarray, v: np.ndarray, count: int) -> Callable[[], None]:
    """Steps that begin at the same states every time."""

    def work() -> None:
        batch.q[:], batch.v[:] = q, v
        batch.step(count)

    return work
