"""What a sweep keeps of each run: the state and outputs at its end, and the least and largest value of each output."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..errors import InputError
from ..scenario.design import Design
from ..scenario.parameters import Coordinate, Velocity
from ..scenario.setup import Described
from ..simulate.divergence import RUNAWAY

_UNITS = {"energy": "J", "center_of_mass": "m", "t": "s"}
#: What takes one of two values, and what it begins with.
_FOLDS: dict[str, tuple[np.ufunc, float]] = {"least": (np.minimum, np.inf), "largest": (np.maximum, -np.inf)}


@dataclass(frozen=True)
class Outcome:
    """One column of the table.

    Attributes:
        name: of the column; `unit`: of its numbers.
        array: that it is read from, and at which `index`.
        of: "end", "least" or "largest".
    """

    name: str
    unit: str
    array: str
    index: tuple[int, ...]
    of: str = "end"


def outcomes_of(setup: Described) -> tuple[Outcome, ...]:
    """The columns that the runs of a setup have, none of which depends on the parameters that vary, or on controllers."""
    simulation = setup.bare.simulation(equal_steps=True)
    found = [Outcome("work", "J", "work", ())]
    for kind, array in ((Coordinate(), "q"), (Velocity(), "v")):
        found += [
            Outcome(f"end:{array}:{name}", kind.unit(setup, name), array, (k,)) for k, name in enumerate(kind.targets(setup))
        ]
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
    """The outcomes of runs side by side, gathered record by record.

    Attributes:
        reached: (N) [s], the last recorded time that a run was in order.
        lost, unsolved: (N), whether it has run away; whether contact could not be solved well in a step.
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
                fold(known, fold.reduce(np.where(fine, _component(seen[one.array], one.index), empty), axis=1), out=known)
        self._last = {name: array[:, -1] for name, array in seen.items()}

    def columns(self) -> dict[str, np.ndarray]:
        """(N) by the names of the outcomes; NaN at the end of runs that have run away."""
        found = {}
        for one in self._outcomes:
            values = self._extremes[one.name] if one.of != "end" else _component(self._last[one.array], one.index)
            found[one.name] = np.where(self.lost, np.nan, values) if one.of == "end" else np.array(values)
        return found


def _component(array: np.ndarray, index: tuple[int, ...]) -> np.ndarray:
    """One component of values that stand in the last axes."""
    place: Any = (..., *index)
    return array[place]  # type: ignore[no-any-return]


#: Runs of one block at most: enough to fill the lanes of all threads, few enough that progress is seen and little is lost.
LARGEST = 1024
#: Blocks that a sweep of one mechanism is divided into at least, if it has so many runs to give each of them `LANES`.
SHARES, LANES = 64, 8


@dataclass(frozen=True)
class Block:
    """Runs that are simulated side by side.

    Attributes:
        number: from 0, the same in every process, shard and resumption.
        group: of blocks that share what is compiled in.
        runs: their numbers, rising.
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
    """The blocks of one shard "i/n", i from 1 to n: each block belongs to exactly one of them.

    >>> shard_of([Block(k, 0, (k,)) for k in range(5)], "2/2")
    [Block(number=1, group=0, runs=(1,)), Block(number=3, group=0, runs=(3,))]
    """
    if shard is None:
        return list(blocks)
    first, slash, last = str(shard).partition("/")
    if not (slash and first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last)):
        raise InputError(f"--shard {shard}: must be i/n with i from 1 to n; write 1/8 for the first of eight")
    return list(blocks[int(first) - 1 :: int(last)])
