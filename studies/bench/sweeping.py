"""A sweep against the compiled step that it runs, by turns, so that other work on the machine takes as much from both."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import kumitate as km
from kumitate.measure.timing import Contender, Effort, by_turns

from ..sweep_rate import DURATION, ROWS, STEP, scenario_of
from .contract import Case
from .report import Row
from .simulation import threads

__all__ = ["SweepRate"]


@dataclass(frozen=True)
class SweepRate(Case):
    """Two-second runs of an arm, from random starts to the table on disk, in this process.

    Attributes:
        runs: of a sweep, in blocks of as many rows as those of longer sweeps.
        rounds: at most; one takes some seconds.
    """

    runs: int = 4096
    rounds: int = 5
    name: str = "sweep"
    title: str = "a sweep of two-second runs of an arm against its compiled step"

    def rows(self, effort: Effort) -> Iterator[Row]:
        runs, steps = effort.share(self.runs), round(DURATION / STEP)
        scenario = km.read_scenario(scenario_of(runs))
        batch = scenario.setup.simulation(equal_steps=True).batch(min(ROWS, runs))
        start = batch.q.copy(), batch.v.copy()

        def kernel() -> None:
            batch.q[:], batch.v[:] = start
            batch.step(steps)

        def sweep() -> None:
            with TemporaryDirectory() as folder:
                km.sweep(scenario, Path(folder) / "swept", processes=1)

        contenders = {"sweep": Contender(sweep, runs * steps), "kernel": Contender(kernel, len(batch.q) * steps)}
        with threads(1):
            timings = by_turns(contenders, min(self.rounds, effort.rounds), clock=time.process_time)
        told = f"{runs} runs of {DURATION:g} s, blocks of {len(batch.q)}, a hundred records a run; the time of the process"
        yield Row(
            self.name, "step of one run in a sweep", timings["sweep"], "its compiled step, nothing recorded",
            timings["kernel"], 0.8, remarks=told,
        )  # fmt: skip
