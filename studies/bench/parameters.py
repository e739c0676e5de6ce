"""Numbers of the model as inputs of the compiled step, against the same numbers compiled in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import kumitate as km
from kumitate.measure.timing import Effort, by_turns, random_states, thread_seconds

from .contract import SubjectCase, agreement
from .report import Row
from .simulation import from_start, threads

__all__ = ["ParameterSteps"]

#: All inertial numbers of the bodies, and all dampings: what a robot is identified by.
VARIED = ("mass:*", "center_of_mass:*", "moment:*", "damping:*")


@dataclass(frozen=True)
class ParameterSteps(SubjectCase):
    """Runge-Kutta steps of an arm in batch with all inertias and dampings as parameters of each row.

    Attributes:
        runs: side by side; `count`: steps of each.
    """

    runs: int = 1024
    count: int = 50
    name: str = "parameters"
    title: str = "steps of an arm with all inertias and dampings given by row"

    def rows(self, effort: Effort) -> Iterator[Row]:
        runs, (q, v, _) = effort.share(self.runs), random_states(self.subject.mechanism, effort.share(self.runs))
        fixed = km.Simulation(self.subject.mechanism, integrator="rk4", limits=False).batch(q, v)
        varied = km.Simulation(self.subject.mechanism, integrator="rk4", limits=False, parameters=VARIED).batch(q, v)
        fixed.step(self.count)
        varied.step(self.count)
        error = agreement(self.name, varied.q, np.array(fixed.q), 1e-9)

        batches = {"varied": varied, "fixed": fixed}
        timed = {name: from_start(batch, q, v, partial(batch.step, self.count), self.count) for name, batch in batches.items()}
        with threads(1):
            timings = by_turns(timed, effort.rounds, clock=thread_seconds)
        numbers = sum(values[0].size for values in varied.parameters.values())
        yield Row(
            self.name, f"{numbers} parameters by row, Runge-Kutta", timings["varied"], "the same numbers compiled in",
            timings["fixed"], 1.0 / 1.1, remarks=f"{runs} runs of {self.count} steps, one thread; per step of one run",
            agreement=error,
        )  # fmt: skip
