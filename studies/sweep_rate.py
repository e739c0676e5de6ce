"""How much of the kernel's own rate a sweep keeps: two-second runs of an arm, from random starts to the table on disk."""

from __future__ import annotations

import os
import resource
import time as clock
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import kumitate as km
from kumitate.examples.legged import robots_folder
from kumitate.measure.timing import machine

__all__ = ["COLUMNS", "DURATION", "STEP", "Rates", "cells", "measured", "page", "scenario_of"]

#: Of the table.
COLUMNS = (
    "robot", "runs", "processes", "kernel, one thread [steps/s]", "sweep [steps/s]", "of the kernel by the clock",
    "by the time of processors",
)  # fmt: skip
_PAGE = """# How fast sweeps are

Printed by `scripts/study sweep-rate`.
Each run is {duration:g} s of {robot} at {step:g} ms by Runge-Kutta 4, from a random start, recorded a hundred times. The kernel
is the compiled step in batch on one thread, nothing recorded. The sweep is everything from the scenario to the table on disk:
designs, processes that start, code that is loaded, blocks that are sent, summed up and written.

{table}

- *By the clock*: the sweep's steps per second as a part of what as many kernels would give on processors of their own. Where
  other work takes the processors, as here ({load:.1f} processes wanted {cores} cores, these included), it says more of that
  than of the sweep.
- *By the time of processors*: the same, counting the time that this process and its workers were given. It does not see
  waiting.

{machine}
"""

#: Of each run [s].
DURATION, STEP = 2.0, 1e-3
#: BatchInput of the batch that the kernel's rate is measured with, as many as a large sweep's blocks have; and steps of a call.
ROWS, STEPS = 1024, 200


class Rate(NamedTuple):
    """Steps of one run per second: of the clock, and of the processors, which other work on the machine disturbs less."""

    clock: float
    processor: float


class Rates(NamedTuple):
    """What was measured.

    Attributes:
        robot: its name; `runs`: of the sweep; `processes`: that it was spread over.
        kernel: of the compiled step on one thread, in batch, nothing recorded: the mean before and after the sweep.
        sweep: from its start to the table, with processes that start and code that is compiled or loaded.
    """

    robot: str
    runs: int
    processes: int
    kernel: Rate
    sweep: Rate

    @property
    def of_clock(self) -> float:
        """The sweep's rate as a part of what so many kernels would give on processors of their own."""
        return self.sweep.clock / (self.processes * self.kernel.clock)

    @property
    def of_processor(self) -> float:
        """The same by the time of the processors."""
        return self.sweep.processor / self.kernel.processor


def measured(runs: int, processes: int) -> Rates:
    """Measures the kernel, the sweep, and the kernel again: the machine may not be alone."""
    scenario = km.read_scenario(scenario_of(runs))
    with _one_thread(), TemporaryDirectory() as folder:
        before = _kernel(scenario)
        begin = clock.perf_counter(), _processors()
        km.sweep(scenario, Path(folder) / "swept", processes=processes)
        took = clock.perf_counter() - begin[0], _processors() - begin[1]
        after = _kernel(scenario)
    steps = runs * round(DURATION / STEP)
    kernel = Rate(*((a + b) / 2.0 for a, b in zip(before, after, strict=True)))
    return Rates(scenario.setup.mechanism.name, runs, processes, kernel, Rate(steps / took[0], steps / took[1]))


def cells(rates: Rates) -> tuple[str, ...]:
    """A row of the table."""
    return (
        rates.robot, str(rates.runs), str(rates.processes), f"{rates.kernel.clock:.3g}", f"{rates.sweep.clock:.3g}",
        f"{rates.of_clock:.0%}", f"{rates.of_processor:.0%}",
    )  # fmt: skip


def page(found: Sequence[Rates]) -> str:
    """docs/sweep-rate.md."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *map(cells, found)]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    told = ", ".join(f"{name} {value}" for name, value in machine().items())
    return _PAGE.format(
        duration=DURATION, step=1e3 * STEP, robot=found[0].robot, table=table, load=os.getloadavg()[0], cores=os.cpu_count(),
        machine=told,
    )  # fmt: skip


def scenario_of(runs: int) -> dict[str, Any]:
    """A sweep of so many runs from random starts of panda, or of PA-10 where panda's file is not installed."""
    folder = robots_folder()
    panda = None if folder is None else next(iter(folder.glob("panda_description/urdf/panda.urdf")), None)
    joints = "q:joint*" if panda is None else "q:panda_joint*"
    random = {"count": runs, "seed": 1, joints: {"uniform": [-0.5, -0.1], "each": True}}
    solver = {"duration": DURATION, "step": STEP, "integrator": "rk4"}
    return {"robot": "pa10" if panda is None else str(panda), "solver": solver, "sweep": {"random": random}}


def _kernel(scenario: km.Scenario) -> Rate:
    """Of one thread; the best of several calls."""
    batch = scenario.setup.simulation(equal_steps=True).batch(ROWS)
    batch.step(10)
    found = []
    for _ in range(8):
        begin = clock.perf_counter(), clock.process_time()
        batch.step(STEPS)
        found.append((clock.perf_counter() - begin[0], clock.process_time() - begin[1]))
    return Rate(*(ROWS * STEPS / min(times) for times in zip(*found, strict=True)))


def _processors() -> float:
    """What this process and those that it has ended took of the processors [s]."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in used)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Batches run on one thread, in this process too."""
    before = os.environ.get("KUMITATE_THREADS")
    os.environ["KUMITATE_THREADS"] = "1"
    try:
        yield
    finally:
        os.environ.pop("KUMITATE_THREADS")
        if before is not None:
            os.environ["KUMITATE_THREADS"] = before
