"""Predictive control by sampling: one call of a planner of ANYmal, standing on four feet, on one core."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import kumitate as km
import kumitate.papers
from kumitate.contact import Contact, Surface
from kumitate.gym import named_task
from kumitate.measure.timing import Contender, Effort, by_turns, thread_seconds
from kumitate.predictive import SamplingPlanner

from .contract import Case
from .report import Row
from .simulation import threads
from .subjects import robots_folder

__all__ = ["AnymalCase", "Planning"]

FRICTION, STEP, INTERVAL, HORIZON, SAMPLES = 0.8, 0.01, 0.02, 0.5, 64


class AnymalCase(Case):
    """A benchmark of ANYmal that stands on four feet by its position drives."""

    @property
    def missing(self) -> str:  # type: ignore[override]
        return "" if robots_folder() else "example-robot-data"

    @staticmethod
    def simulation(contact: Contact, **options: Any) -> km.Simulation:
        """Steps of 10 ms from its stance; the input "change" is added to the targets of the stance."""
        task = named_task("anymal").simulation
        (q,), (v,) = task.starts(None, None, 1)
        held = np.array([q[joint.q] for joint in task.mechanism.driven])
        return km.Simulation(
            task.robot, step=STEP, integrator="semi_implicit_euler", contact=contact, start=(q, v),
            inputs={"change": len(held), "target": lambda t, q, v, change: held + change}, **options,
        )  # fmt: skip


@dataclass(frozen=True)
class Planning(AnymalCase):
    """Plans of the targets of its position drives, in steps of 10 ms, by each model of contact that is made of impulses.

    Variations of 0.1 rad let feet slide and lift; `at_most`: the target for our seconds a plan.
    """

    at_most: float
    name: str = "planning_anymal"
    title: str = "ANYmal on four feet: a call of a sampling planner, 64 plans of 0.5 s in steps of 10 ms"

    def rows(self, effort: Effort) -> Iterator[Row]:
        surface = Surface(friction=FRICTION)

        def cost(t, q, v):  # type: ignore[no-untyped-def]
            return 10.0 * np.sum(v[:6] ** 2) + 100.0 * (q[6] - 0.47) ** 2

        with threads(1):
            contenders = {}
            for model in ("rigid", "multipoint"):
                sim = self.simulation(Contact(model, surface=surface), outputs={"cost": cost})
                planner = SamplingPlanner(
                    sim, "cost", action="change", interval=INTERVAL, horizon=HORIZON, samples=SAMPLES, spread=0.1,
                    temperature=0.05, correlation=0.9,
                )  # fmt: skip
                contenders[model] = Contender(partial(planner, sim.start()), 1)
            timings = by_turns(contenders, effort.rounds, clock=thread_seconds)
        for model, timing in timings.items():
            told = f"{SAMPLES} plans of {HORIZON:g} s, an action for {1e3 * INTERVAL:g} ms"
            yield Row(self.name, f"call, contact {model!r}", timing, at_most=self.at_most, remarks=told)
