"""The blocks of a sweep: which runs each has, what the table keeps of a run, and how a block is simulated.

Of each run are kept the state and outputs at its end, and the least and largest value of each output.
"""

from __future__ import annotations

import math
import time as clock
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..analysis import fastest_rate
from ..errors import DivergenceError, InputError, KumitateError
from ..run import Run
from ..scenario.parameters import COORDINATE, VELOCITY, BatchInput, Design, ScenarioParameter
from ..scenario.setup import FUNCTIONS, Described
from ..simulate.checks import run_times
from ..simulate.divergence import RUNAWAY
from ..simulate.integrators import SemiImplicitEuler
from ..simulate.kept import Kept
from ..simulate.parameters import Variation
from ..simulate.stepping.interaction import EXPLICIT
from ..simulation import Simulation
from ..version import __version__

# --- which runs each block has ---------------------------------------------------------------------------------------------
#: Runs of one block at most: enough to fill the lanes of all threads, few enough that progress is seen and little is lost.
LARGEST = 1024
#: Blocks that a sweep of one mechanism is divided into at least, if it has so many runs to give each of them `LANES`.
SHARES, LANES = 64, 8


@dataclass(frozen=True)
class Block:
    """Runs, by rising numbers, that are simulated side by side.

    `number`: from 0, the same in every process, shard and resumption; `group`: of blocks that share what is compiled in.
    """

    number: int
    group: int
    runs: tuple[int, ...]


def blocks_of(design: Design) -> list[Block]:
    """The blocks of a sweep: they depend on nothing but its design."""
    compiled = [k for k, one in enumerate(design.parameters) if not one.shared]
    groups: dict[tuple, list[int]] = {}
    for run in range(len(design)):
        values = design.values(run)
        groups.setdefault(tuple(values[k] for k in compiled), []).append(run)
    size = min(LARGEST, LANES * max(1, math.ceil(len(design) / (SHARES * LANES))))
    blocks: list[Block] = []
    for group, runs in enumerate(groups.values()):
        blocks += [Block(len(blocks) + k, group, tuple(runs[at : at + size])) for k, at in enumerate(range(0, len(runs), size))]
    return blocks


def shard_of(blocks: Sequence[Block], shard: str | None) -> list[Block]:
    """The blocks of one shard "i/n", i from 1 to n, such as the second and the fourth of five for "2/2"; all for None."""
    if shard is None:
        return list(blocks)
    first, slash, last = str(shard).partition("/")
    if not (slash and first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last)):
        raise InputError(f"--shard {shard}: must be i/n with i from 1 to n; write 1/8 for the first of eight")
    return list(blocks[int(first) - 1 :: int(last)])


# --- what is kept of each run -----------------------------------------------------------------------------------------------
_UNITS = {"energy": "J", "center_of_mass": "m", "t": "s"}
#: What takes one of two values, and what it begins with.
_FOLDS: dict[str, tuple[np.ufunc, float]] = {"least": (np.minimum, np.inf), "largest": (np.maximum, -np.inf)}


@dataclass(frozen=True)
class Outcome:
    """One column of the table, with its unit: an entry of an array at the "end", or the "least" or "largest" one."""

    name: str
    unit: str
    array: str
    index: tuple[Any, ...]
    of: str = "end"


def outcomes_of(setup: Described) -> tuple[Outcome, ...]:
    """The columns that the runs of a setup have, none of which depends on the parameters that vary, or on controllers."""
    nothing: dict[str, Any] = {**dict.fromkeys(FUNCTIONS), "held": ()}  # that drives or holds it, and so no code of files
    simulation = replace(setup, laws=(), **nothing).simulation(equal_steps=True)
    found = [Outcome("work", "J", "work", ())]
    for kind in (COORDINATE, VELOCITY):
        names = kind.targets(setup)
        found += [Outcome(f"end:{kind.name}:{x}", kind.unit(setup, x), kind.name, (k,)) for k, x in enumerate(names)]
    for output in simulation.outputs:
        made = output.make().outputs
        shapes = {f"{output.name}.{one.name}": one.shape for one in made} if len(made) > 1 else {output.name: made[0].shape}
        for array, shape in shapes.items():
            unit = _UNITS.get(output.name.partition(":")[0], "")
            for index in product(*map(range, output.shape or shape)):
                label = array + (f"[{','.join(map(str, index))}]" if index else "")
                found += [Outcome(f"{of}:{label}", unit, array, index, of) for of in ("end", "least", "largest")]
    return tuple(found)


class Summary:
    """The outcomes of runs (N) side by side, gathered record by record; `reached`: the last recorded time in order [s].

    `lost`, `unsolved`: whether a run has run away; whether contact could not be solved well in a step.
    """

    def __init__(self, outcomes: Sequence[Outcome], runs: int):
        self._outcomes = outcomes
        self._extremes = {one.name: np.full(runs, _FOLDS[one.of][1]) for one in outcomes if one.of != "end"}
        self.reached, self.lost = np.zeros(runs), np.zeros(runs, dtype=bool)
        self.unsolved = np.zeros(runs, dtype=bool)
        self._last: Mapping[str, np.ndarray] = {}

    def add(self, time: np.ndarray, seen: Mapping[str, np.ndarray], *, contact: bool) -> None:
        """Adds records at (n) times: arrays (N, n, ...) by name."""
        v = seen["v"]
        fine = np.logical_and.accumulate(np.abs(v).max(axis=2, initial=0.0) < RUNAWAY, axis=1) & ~self.lost[:, None]
        self.lost |= ~fine[:, -1]
        solved = fine
        if contact:
            solved = fine & np.logical_and.accumulate(seen["error"] <= 1.0, axis=1) & ~self.unsolved[:, None]
            self.unsolved |= (fine & (seen["error"] > 1.0)).any(axis=1)
        self.reached = np.maximum(self.reached, np.where(solved, time, 0.0).max(axis=1))
        for one in self._outcomes:
            if one.of != "end":
                (fold, empty), known = _FOLDS[one.of], self._extremes[one.name]
                fold(known, fold.reduce(np.where(fine, seen[one.array][..., *one.index], empty), axis=1), out=known)
        self._last = {name: array[:, -1] for name, array in seen.items()}

    def columns(self) -> dict[str, np.ndarray]:
        """(N) by the names of the outcomes; NaN at the end of runs that have run away."""
        found = {}
        for one in self._outcomes:
            values = self._extremes[one.name] if one.of != "end" else self._last[one.array][..., *one.index]
            found[one.name] = np.where(self.lost, np.nan, values) if one.of == "end" else np.array(values)
        return found


# --- how a block is simulated -----------------------------------------------------------------------------------------------
#: Bytes that the records of a block may take before they are summed up.
ROOM = 64 * 2**20
#: Records of a run that none are asked for.
RECORDS = 100

_SIMULATIONS = Kept[Simulation](8)


@dataclass(frozen=True)
class BlockTask:
    """A block and all that is needed to simulate it.

    Attributes:
        sweep: the digest of the whole sweep; version: of kumitate that sends it; setup: with the values that do not vary.
        parameters: that vary, and the `values` of each run, a row for each; outcomes: that the table has.
        keep: what the settings of the runs whose motions are kept say of their scenarios, by their places in the block.
    """

    sweep: str
    version: str
    block: Block
    setup: Described
    parameters: tuple[ScenarioParameter, ...]
    values: tuple[tuple[Any, ...], ...]
    outcomes: tuple[Outcome, ...]
    keep: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    def of_model(self, places: Iterable[int]) -> dict[str, np.ndarray]:
        """The values of parameters of the model in these runs, by name."""
        varied = [(k, one.name) for k, one in enumerate(self.parameters) if one.of_model]
        return {name: np.array([self.values[place][k] for place in places]) for k, name in varied}


@dataclass
class Answer:
    """What a block gives: columns (N), of the outcomes, "status", "message", "reached", "wall_time"; and files.

    `files`: of the motions that are kept: by place in the block, files' contents by name.
    """

    columns: dict[str, Any]
    files: dict[int, dict[str, bytes]] = field(default_factory=dict)


def run_block(task: BlockTask) -> Answer:
    """Simulates a block that this version of kumitate sent. Runs whose values are refused are "failed", with the reason."""
    if task.version != __version__:
        raise InputError(
            f"a worker has kumitate {__version__}, and the sweep {task.version}; results of two versions are not mixed. "
            "Install one of them on all machines"
        )
    begin = clock.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the table says what became of each run
        try:
            setup = _with_values(task, task.setup, 0, shared=False)
            answer = _failed(task, "")
            fine = _possible(task, setup, answer)
            chosen = chosen_integrators(setup, task.parameters, [task.values[place] for place in fine])
            for name in dict.fromkeys(chosen):
                places = [place for place, own in zip(fine, chosen, strict=True) if own == name]
                simulation = _simulation(task, setup, name)
                if simulation is not None and simulation.whole and setup.until is None:
                    _side_by_side(task, setup, simulation, places, answer)
                else:
                    _one_by_one(task, setup, places, answer)
        except KumitateError as error:
            answer = _failed(task, str(error))
    answer.columns["wall_time"] = np.full(len(task.values), (clock.perf_counter() - begin) / len(task.values))
    return answer


def _simulation(task: BlockTask, setup: Described, integrator: str | None) -> Simulation | None:
    """The simulation that runs of the block share with this integrator; None if they share none."""
    if integrator is None:
        return None
    names = list(task.of_model(()))
    key = (task.sweep, task.block.group, integrator)
    return _SIMULATIONS.get(key, lambda: replace(setup, integrator=integrator).simulation(equal_steps=True, parameters=names))


def _possible(task: BlockTask, setup: Described, answer: Answer) -> list[int]:
    """The places of the runs whose numbers of the model are possible; why others are not goes into the answer."""
    parameters, fine = Variation.of(setup.plant, list(task.of_model(()))), []
    if parameters is None:
        return list(range(len(task.values)))
    for place, row in enumerate(task.values):
        try:
            for one, value in zip(task.parameters, row, strict=True):
                if one.of_model:
                    one.checked(value)
            fine.append(place)
        except KumitateError as error:
            answer.columns["message"][place] = str(error)
    rows = np.tile(parameters.blank, (len(fine), 1))
    given = task.of_model(fine)
    try:
        parameters.put(rows, given)
    except KumitateError:
        for n, place in reversed(list(enumerate(fine))):  # each by itself, to find those that are impossible together
            try:
                parameters.put(rows[n : n + 1], {name: values[n] for name, values in given.items()})
            except KumitateError as error:
                answer.columns["message"][place] = str(error)
                fine.remove(place)
    return fine


def _with_values(task: BlockTask, setup: Described, place: int, *, shared: bool) -> Described:
    """A setup with the values of one run: of parameters that share code (which differ within a block), or of the others."""
    for one, value in zip(task.parameters, task.values[place], strict=True):
        if one.shared == shared:
            setup = one.put(setup, value)
    return setup


# --- many runs at once ------------------------------------------------------------------------------------------------
def _side_by_side(task: BlockTask, setup: Described, simulation: Simulation, places: Sequence[int], answer: Answer) -> None:
    """Runs of the block as one batch; those whose start is refused are left out of it."""
    inputs: dict[str, np.ndarray] = {name: np.tile(getattr(setup, name), (len(places), 1)) for name in ("q", "v", "tau")}
    for k, one in enumerate(task.parameters):
        if isinstance(one.kind, BatchInput):
            values = np.array([task.values[place][k] for place in places])
            inputs[one.kind.name][:, one.kind.columns(setup, one.targets)] = values[:, None]
    q, v, refused = _starts(setup, simulation, inputs["q"], inputs["v"])
    for k, reason in refused.items():
        answer.columns["message"][places[k]] = reason
    rows = [k for k in range(len(places)) if k not in refused]
    if rows:
        start = (q[rows], v[rows], inputs["tau"][rows])
        _record(task, setup, simulation, [places[k] for k in rows], start, answer)


def _starts(
    setup: Described, simulation: Simulation, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, dict[int, str]]:
    """The starts as the simulation takes them, and why it refuses some."""
    refused: dict[int, str] = {}
    if not (setup.assemble or setup.height is not None):
        try:
            return (*simulation.starts(q, v, len(q)), refused)
        except KumitateError:
            pass  # below each by itself, to find those that are refused
    for k in range(len(q)):
        try:
            starts = simulation.starts(*setup.started(q[k], v[k]), 1)
            q[k], v[k] = starts[0][0], starts[1][0]
        except KumitateError as error:
            refused[k] = str(error)
    return q, v, refused


def _record(
    task: BlockTask,
    setup: Described,
    simulation: Simulation,
    rows: Sequence[int],
    start: tuple[np.ndarray, ...],
    answer: Answer,
) -> None:
    """Simulates the runs in these places of a block, from their starts, and puts what comes out into the answer."""
    batch = simulation.batch(start[0], start[1], parameters=task.of_model(rows))
    if not setup.laws:
        batch.tau[:] = start[2]
    every, records = _recorded(setup)
    kept = [k for k, place in enumerate(rows) if place in task.keep]
    first = batch.record(1, 0)
    summary = Summary(task.outcomes, len(rows))
    summary.add(np.zeros(1), first, contact=setup.contact is not None)
    parts = [{name: array[kept] for name, array in first.items()}]
    chunk = max(1, min(records, ROOM // max(1, sum(array.nbytes for array in first.values()))))
    for done in range(0, records, chunk):
        count = min(chunk, records - done)
        seen = batch.record(count, every)
        time = (done + 1 + np.arange(count)) * every * simulation.step_size
        summary.add(time, seen, contact=setup.contact is not None)
        parts.append({name: array[kept] for name, array in seen.items()})
    _put(answer, rows, summary)
    times = np.arange(records + 1) * every * simulation.step_size
    for k, row in enumerate(kept):
        fine = int(np.searchsorted(times, summary.reached[row], side="right")) if summary.lost[row] else len(times)
        seen = {name: np.concatenate([part[name][k] for part in parts])[:fine] for name in parts[0]}
        run = simulation.result(times[:fine], seen, batch.efforts[row], every)
        answer.files[rows[row]] = _files(run, task.keep[rows[row]])


def _recorded(setup: Described) -> tuple[int, int]:
    """Steps from one record to the next, and how many records there are."""
    fitted = setup.fitted
    _, count, _ = run_times(setup.mechanism.name, fitted.duration, fitted.step, fitted.every)
    every = fitted.every or max(k for k in range(1, max(1, count // RECORDS) + 1) if count % k == 0)
    return every, count // every


# --- one after the other ----------------------------------------------------------------------------------------------
def _one_by_one(task: BlockTask, setup: Described, places: Sequence[int], answer: Answer) -> None:
    """Run by run, where the step needs Python: adaptive integrators, controllers that are called."""
    for place in places:
        run: Any = None
        try:
            own = _with_values(task, setup, place, shared=True)
            run, lost = replace(own, every=_recorded(own)[0]).run(task.keep.get(place, {})), False
        except Exception as error:  # also of a controller that is called: the others go on
            run, lost = error.result if isinstance(error, DivergenceError) else None, True
            if run is None:
                message = str(error) if isinstance(error, KumitateError) else f"{type(error).__name__}: {error}"
                answer.columns["message"][place] = message
                continue
        summary = Summary(task.outcomes, 1)
        # the work of a single run is known at its end only
        seen = {"q": run.q, "v": run.v, "work": np.full(len(run), run.audit.work), "error": np.zeros(len(run)), **run.outputs}
        summary.add(run.time, {name: array[None] for name, array in seen.items()}, contact=False)
        summary.lost |= lost
        _put(answer, [place], summary)
        if place in task.keep:
            answer.files[place] = _files(run, task.keep[place])


# --- answers ----------------------------------------------------------------------------------------------------------
def _failed(task: BlockTask, message: str) -> Answer:
    """The answer in which no run has been simulated."""
    count = len(task.values)
    columns: dict[str, Any] = {one.name: np.full(count, np.nan) for one in task.outcomes}
    return Answer({**columns, "status": ["failed"] * count, "message": [message] * count, "reached": np.zeros(count)})


def _put(answer: Answer, rows: Sequence[int], summary: Summary) -> None:
    for name, values in {**summary.columns(), "reached": summary.reached}.items():
        answer.columns[name][list(rows)] = values
    for k, place in enumerate(rows):
        answer.columns["status"][place] = "diverged" if summary.lost[k] else "unsolved" if summary.unsolved[k] else "done"


def _files(run: Run, origin: Mapping[str, Any]) -> dict[str, bytes]:
    run = replace(run, settings={**run.settings, **origin})
    with TemporaryDirectory() as folder:
        data = run.save(Path(folder) / ("result.h5" if find_spec("h5py") else "result.npz"))
        page = run.page(Path(folder) / "page.html")
        return {path.name: path.read_bytes() for path in (data, page)}


# --- the integrator that "auto" takes for each run of a block whose numbers of the model differ ---------------------------
#: Kinds of parameters that make passive forces stiff.
_PASSIVE = ("damping", "friction", "stiffness")


def chosen_integrators(
    setup: Described, parameters: Sequence[ScenarioParameter], values: Sequence[Sequence[Any]]
) -> list[str | None]:
    """For each run, a row of values, the integrator with which it shares a step of the setup; None if it cannot share any."""
    name = setup.integrator
    varied = [k for k, one in enumerate(parameters) if one.of_model]
    if name != "auto" or not varied or not _resists(setup, [parameters[k] for k in varied]):
        return [name] * len(values)
    q, v = setup.start

    def stiff(own: Described) -> bool:
        return fastest_rate(own.mechanism, q, v)[0] * setup.step >= EXPLICIT

    known, shared = {}, stiff(setup)
    for row in values:
        key = tuple(row[k] for k in varied)
        if key not in known:
            own = setup
            for k in varied:
                own = parameters[k].put(own, row[k])
            known[key] = stiff(own)
    # with contact, explicit steps between contacts have no name of their own
    otherwise = SemiImplicitEuler.name if not shared else "rkf45" if setup.contact is None else None
    return ["auto" if known[tuple(row[k] for k in varied)] == shared else otherwise for row in values]


def _resists(setup: Described, varied: Sequence[ScenarioParameter]) -> bool:
    """Whether joints have damping, friction or springs, in any run."""
    joints = (*setup.mechanism.joints, *setup.mechanism.loops)
    own = any(any(getattr(joint, key)) for joint in joints for key in _PASSIVE)  # type: ignore[arg-type]
    return own or any(one.kind.name in _PASSIVE for one in varied)
