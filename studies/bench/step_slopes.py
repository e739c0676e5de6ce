"""Derivatives of a whole step with rigid contact: what a user's call takes, one state or a batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import kumitate as km
from kumitate.measure.timing import Contender, Effort, by_turns, thread_seconds
from kumitate.model.samples import HOAP1_STANDING, hoap1

from .contract import Case, agreement
from .report import Row
from .simulation import threads

__all__ = ["StepSlopes"]

STEP, SMALL, SETTLING = 1e-3, 1e-6, 500


@dataclass(frozen=True)
class StepSlopes(Case):
    """A and B of a step of 1 ms of a small humanoid that stands on a floor by the drives of its joints.

    Attributes:
        one, batch: the most seconds a state, by a call for one state and by one for a batch.
        runs: states of the batch; tolerance: how far a direction may be from central differences of the step.
    """

    one: float
    batch: float
    runs: int = 256
    tolerance: float = 1e-6
    name: str = "step_slopes"
    title: str = "derivatives of a step of a humanoid that stands on a floor"

    def rows(self, effort: Effort) -> Iterator[Row]:
        mechanism = hoap1()
        drive = km.PositionDrive(kp=20.0, kd=0.2)
        driven = mechanism.with_drives({joint.name: drive for joint in mechanism.joints if joint.kind.nv == 1})
        q, v = np.array(HOAP1_STANDING), np.zeros(driven.nv)
        sim = km.Simulation(
            km.Robot(driven), step=STEP, integrator="semi_implicit_euler", contact=km.Contact("rigid"), start=(q, v)
        )
        runs = effort.share(self.runs)
        with threads(1):
            batch, state = sim.batch(runs), sim.step(sim.start(), SETTLING)
            batch.step(SETTLING)
            error = self._agreement(sim, state)
            calls = 100
            contenders = {
                "one": Contender(lambda: [sim.slopes(state) for _ in range(calls)], calls),
                "batch": Contender(lambda: sim.slopes(batch), runs),
                "one, all": Contender(lambda: [sim.slopes(state).B for _ in range(calls)], calls),
                "batch, all": Contender(lambda: sim.slopes(batch).B, runs),
            }
            timings = by_turns(contenders, effort.rounds, clock=thread_seconds)
        n, m = driven.nv, sim.slopes(state).B.shape[-1]
        row = Row(
            self.name, "A, and B by efforts, of a step, one state a call", timings["one"], at_most=self.one, agreement=error,
            remarks=f"{2 * n} × {2 * n} and {2 * n} × {n}, from Python; agreement with central differences of the step",
        )  # fmt: skip
        yield row
        yield replace(row, what=f"the same, {runs} states a call", ours=timings["batch"], at_most=self.batch, remarks="a state")
        row = replace(row, at_most=None, remarks=f"{2 * n} × {m}: by commands of the drives, too")
        yield replace(row, what="A and all of B, one state a call", ours=timings["one, all"])
        yield replace(row, what=f"the same, {runs} states a call", ours=timings["batch, all"], remarks="a state")

    def _agreement(self, sim: km.Simulation, state: km.State) -> float:
        """Along a random direction of the velocities, as part of the largest entry."""
        found, direction = sim.slopes(state), np.random.default_rng(7).normal(size=sim.mechanism.nv)
        ends = []
        for way in (SMALL, -SMALL):
            ends.append(sim.step(sim.start(state.q, state.v + way * direction)).v)
        differences = (ends[0] - ends[1]) / (2.0 * SMALL)
        n = sim.mechanism.nv
        return agreement(self.name, (found.A @ np.r_[np.zeros(n), direction])[n:], differences, self.tolerance)
