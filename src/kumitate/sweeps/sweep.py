"""`sweep`: simulates all runs of a scenario, and `Sweep`, what comes of it."""

from __future__ import annotations

import time as clock
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, KumitateError
from ..model.values import checked_whole
from ..run import Run, open_run
from ..scenario import Scenario, read_scenario
from ..version import __version__
from .blocks import Block, BlockTask, Outcome, blocks_of, outcomes_of, run_block, shard_of
from .crew import Crew, CrewLostError, WorkerLostError, crew_of
from .folder import MANIFEST, SweepFolder, is_sweep, opened_scenario

#: A block that is under way so many times when a worker dies is given up, and the sweep with it.
DEATHS = 3


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes:
        done: runs that are done, those of earlier starts included; `of`: runs that are asked for.
        fresh: runs done since this start; `seconds`: since then.
    """

    done: int
    of: int
    fresh: int
    seconds: float

    @property
    def rate(self) -> float:
        """Runs per second."""
        return self.fresh / self.seconds if self.seconds > 0.0 else 0.0


class Sweep:
    """A sweep in its folder; all of it, or as much as is done.

    Attributes:
        path: of the folder.
        scenario: that it is of.

    >>> from tempfile import mkdtemp
    >>> study = {"robot": "pendulum", "solver": {"duration": 0.1}, "outputs": ["energy"]}
    >>> study["sweep"] = {"grid": {"gravity": [1.6, 9.8]}}
    >>> sweep(study, f"{mkdtemp()}/gravities", processes=1).table["gravity"].to_pylist()
    [1.6, 9.8]
    """

    def __init__(self, path: str | Path, scenario: Scenario | None = None):
        """The sweep in a folder, which must hold one."""
        self.path = Path(path)
        if not is_sweep(self.path):
            raise InputError(f"{self.path}: is not the folder of a sweep (it has no {MANIFEST}); `kumitate sweep` makes one")
        self.scenario = opened_scenario(self.path) if scenario is None else scenario
        if self.scenario.design is None:
            raise InputError(f"{self.path}: its scenario has no sweep; take a copy of the folder")
        self._blocks = blocks_of(self.scenario.design)
        self._folder = SweepFolder.of(self.path, _units(self.scenario))

    def __len__(self) -> int:
        """The number of runs that are asked for."""
        return len(self.scenario)

    def __repr__(self) -> str:
        return f"Sweep({str(self.path)!r}, {self.table.num_rows} of {len(self)} runs)"

    @property
    def units(self) -> Mapping[str, str]:
        """The units of the table's columns, by name."""
        return self._folder.units

    @cached_property
    def table(self) -> Any:
        """The runs that are done as a `pyarrow.Table`, a row for each, in their order."""
        return self._folder.read(self._blocks)

    def column(self, name: str) -> np.ndarray:
        """A column of the table.

        Raises:
            InputError: for a name that it does not have.
        """
        if name not in self.units:
            raise InputError(f"{self.path}: the table has no column {name!r}; there are {', '.join(self.units)}")
        return np.asarray(self.table.column(name).to_numpy(zero_copy_only=False))

    def run(self, number: int) -> Run:
        """A run: its recorded motion where that was kept, else simulated again by itself."""
        kept = [path for path in (self.path / "runs" / f"{number:06d}").glob("result.*") if path.suffix in (".h5", ".npz")]
        return open_run(kept[0]) if kept else self.scenario.of_run(number).run()

    def page(self, path: str | Path | None = None) -> Path:
        """Writes one self-contained HTML page that plots parameters and outcomes; `page.html` in the folder by default."""
        from ..view.page import write_sweep_page

        assert self.scenario.design is not None
        return write_sweep_page(
            self.path / "page.html" if path is None else path,
            {name: self.table.column(name).to_pylist() for name in self.units}, self.units,
            [one.name for one in self.scenario.design.parameters], title=self.path.name, runs=len(self), folder=str(self.path),
        )  # fmt: skip


def open_sweep(path: str | Path, *, controller: str | None = None) -> Sweep:
    """The sweep in a folder, without simulating anything.

    Args:
        controller: the functions of files that its runs may call when they are simulated again, as of `scenario_of`.

    Raises:
        InputError: if there is none.

    >>> from tempfile import mkdtemp
    >>> study = {"robot": "pendulum", "solver": {"duration": 0.1}, "outputs": ["energy"]}
    >>> study["sweep"] = {"grid": {"gravity": [1.6, 9.8]}}
    >>> done = sweep(study, f"{mkdtemp()}/gravities", processes=1)
    >>> open_sweep(done.path).table.equals(done.table)
    True
    """
    return Sweep(path, opened_scenario(Path(path), controller) if is_sweep(path) else None)


def sweep(
    scenario: str | Path | Mapping[str, Any] | Scenario,
    out: str | Path,
    *,
    processes: int | None = 1,
    scheduler: str | None = None,
    shard: str | None = None,
    patience: float = 30.0,
    progress: Callable[[Progress], None] | None = None,
) -> Sweep:
    """Simulates the runs of a scenario's sweep that are not in the folder yet.

    Args:
        scenario: a file, a dictionary with the same keys, or what `read_scenario` gives; it must have a sweep.
        out: folder for the table and what is kept; that of the same sweep is gone on with.
        processes: of this machine: 1 is this process, with threads; None as many as processors. More than one need a script
            that can be imported (`if __name__ == "__main__":`).
        scheduler: address of a scheduler of dask.distributed, such as "tcp://127.0.0.1:8786", in place of processes.
        shard: "i/n": only the i-th of n parts, each for a job of its own; all may have the same folder.
        patience: how long a scheduler may be out of reach, or without a worker [s].
        progress: called with how far it is.

    Returns:
        The sweep, with the rows that other shards have done already.

    Raises:
        InputError: if the scenario has mistakes, or the folder holds another sweep.
        KumitateError: if the workers are lost; what was done is kept.

    >>> from tempfile import mkdtemp
    >>> study = {"robot": "pendulum", "solver": {"duration": 0.1}, "outputs": ["energy"]}
    >>> study["sweep"] = {"grid": {"gravity": [1.6, 9.8]}}
    >>> len(sweep(study, f"{mkdtemp()}/gravities", processes=1).table)
    2
    """
    scenario = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
    if scenario.design is None:
        raise InputError(f"{scenario.source}: has no sweep; write what varies under `sweep`, or simulate it as one run")
    if processes is not None:
        processes = checked_whole("sweep", "processes", processes, 1, remedy="Give 1 for this process", error=InputError)
    blocks = shard_of(blocks_of(scenario.design), shard)
    folder = SweepFolder.begin(Path(out), scenario, _units(scenario))
    left = [block for block in blocks if not folder.done(block)]
    count = sum(len(block.runs) for block in blocks)
    done = before = count - sum(len(block.runs) for block in left)
    begin = clock.perf_counter()

    def told(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(Progress(done, count, done - before, clock.perf_counter() - begin))

    told(0)
    if left:
        crew = crew_of(processes, scheduler, patience)
        try:
            _simulate(scenario, folder, left, crew, told)
        except CrewLostError as error:
            raise KumitateError(
                f"{error}; {done} of {count} runs are in {folder.path}. Start the sweep again to go on from there"
            ) from None
        finally:
            crew.close()
    return Sweep(folder.path, scenario)


def _simulate(
    scenario: Scenario, folder: SweepFolder, blocks: Sequence[Block], crew: Crew, told: Callable[[int], None]
) -> None:
    """Sends blocks, writes what comes back, and tells how many more runs that is."""
    assert scenario.design is not None
    outcomes, seed = outcomes_of(scenario.setup), scenario.design.seed
    waiting, deaths, under_way = deque(blocks), Counter[int](), dict[Future, BlockTask]()
    while waiting or under_way:
        while waiting and len(under_way) < crew.room():
            task = _task(scenario, folder.digest, waiting.popleft(), outcomes)
            under_way[crew.submit(run_block, task)] = task
        done, _ = wait(under_way, timeout=1.0, return_when=FIRST_COMPLETED)
        crew.look()
        for future in done:
            task = under_way.pop(future)
            block = task.block
            try:
                answer = crew.result(future)
            except WorkerLostError as error:
                deaths[block.number] += 1
                if deaths[block.number] == DEATHS:
                    raise CrewLostError(f"workers died {DEATHS} times while block {block.number} was sent ({error})") from None
                waiting.append(block)
                continue
            folder.write(task, seed, answer)
            told(len(block.runs))


def _task(scenario: Scenario, digest: str, block: Block, outcomes: tuple[Outcome, ...]) -> BlockTask:
    """What is sent to simulate a block."""
    design = scenario.design
    assert design is not None
    kept = block.runs if design.record is None else design.record
    keep = {k: scenario.of_run(run).settings for k, run in enumerate(block.runs) if run in kept}
    values = tuple(design.values(run) for run in block.runs)
    return BlockTask(digest, __version__, block, scenario.setup, design.parameters, values, outcomes, keep)


def _units(scenario: Scenario) -> dict[str, str]:
    """The columns of the table in their order, with their units."""
    assert scenario.design is not None
    outcomes = outcomes_of(scenario.setup)
    found = {"run": "", **{one.name: one.unit for one in scenario.design.parameters}, "seed": ""}
    found |= {"status": "", "message": "", "reached": "s", **{one.name: one.unit for one in outcomes}}
    return {**found, "wall_time": "s", "recorded": ""}
