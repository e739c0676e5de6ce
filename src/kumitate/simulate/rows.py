"""The recorded states of a run in progress."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .divergence import RUNAWAY, Exchange, divergence, runaway, vanishing_steps
from .interactions import Interaction
from .stepping.advance import Stepper
from .stepping.outputs import STATE

#: Number of records before a failure that are searched for its cause.
RECENT = 10
#: Approximate time between two checks of the computed rows [s].
LOOK = 0.03
#: Operations of machine code that take a few milliseconds at most.
SHORT = 5_000_000


@dataclass
class Rows:
    """The recorded states of a run; those up to `reached` are complete.

    Attributes:
        time: (n) [s]; `q`, `v`, `work`, `error`: carried by the steps; `u`: the efforts.
        outputs: the additional outputs of the simulation, by name.
        every: steps from one row to the next.
        exchange: the energies up to the rows that were looked at.
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    work: np.ndarray
    error: np.ndarray
    u: np.ndarray
    outputs: dict[str, np.ndarray]
    every: int = 1
    reached: int = 0
    exchange: Exchange = field(default_factory=Exchange, init=False)

    @classmethod
    def of(cls, stepper: Stepper, times: np.ndarray, every: int = 1) -> Rows:
        """Rows with the stepper's state in the first, and space for the others."""
        looked = stepper.look()
        arrays = {name: np.empty((len(times), *np.shape(value))) for name, value in looked.items()}
        for name, value in looked.items():
            arrays[name][0] = value
        q, v, work, error = (arrays.pop(name) for name in STATE)
        return cls(times, q, v, work, error, np.zeros((len(times), len(stepper.efforts))), arrays, every)

    def cut(self) -> None:
        """Drops the rows that the run did not reach."""
        for name in ("time", "u", *STATE):
            setattr(self, name, getattr(self, name)[: self.reached + 1])
        self.outputs = {name: array[: self.reached + 1] for name, array in self.outputs.items()}

    def seen(self, first: int, last: int) -> dict[str, np.ndarray]:
        """The rows from `first` to the one before `last`, by the names under which a step records them."""
        arrays = {**{name: getattr(self, name) for name in STATE}, **self.outputs}
        return {name: array[first:last] for name, array in arrays.items()}


def fill(
    stepper: Stepper,
    rows: Rows,
    hold: int,
    interaction: Interaction,
    progress: Callable[[float], None] | None = None,
    until: Callable[[float, np.ndarray, np.ndarray], bool] | None = None,
) -> str:
    """Fills the rows, calling sampled functions every `hold` steps; returns why the motion ended too early, or "".

    `until`: evaluated at every row; the rows end where it is true.
    """
    count, share, told, looked = len(rows.time) - 1, _first_share(stepper, rows.every), 0.0, clock.perf_counter()
    while rows.reached < count:
        k = rows.reached
        if k * rows.every % hold == 0:
            stepper.sample()
        stepper.observe()
        rows.u[k] = stepper.efforts
        records = min(share if stepper.whole else 1, count - k, _until_sampled(stepper, rows, hold))
        begin = clock.perf_counter()
        if progress is not None and begin - told > LOOK:
            told = begin
            progress(k / count)
        try:
            _run(stepper, rows, k, records, hold)
        except FloatingPointError as error:
            return vanishing_steps(stepper.compiled.mechanism, str(error), rows.q[max(k - RECENT, 0) : k + 1])
        share = share * 2 if clock.perf_counter() - begin < 0.5 * LOOK else share
        rows.u[k + 1 : k + records + 1] = rows.u[k]
        failure = _checked(stepper, rows, k + records, interaction)
        if failure or rows.reached == count or clock.perf_counter() - looked > LOOK:
            failure, looked = _gained(stepper, rows, interaction) or failure, clock.perf_counter()
        if until is not None:
            for row in range(k + 1, rows.reached + 1):
                if until(float(rows.time[row]), rows.q[row].copy(), rows.v[row].copy()):
                    rows.reached = row
                    return ""
        if failure:
            return failure
    stepper.observe()
    rows.u[count] = stepper.efforts
    return ""


def _first_share(stepper: Stepper, every: int) -> int:
    """The number of records to begin with, which takes a few milliseconds at most; at least one."""
    return max(1, SHORT // (every * stepper.operations)) if stepper.whole else 1


def _until_sampled(stepper: Stepper, rows: Rows, hold: int) -> int:
    """The number of rows up to the next sample; at least one."""
    if not stepper.actuation.samples:
        return len(rows.time)
    return 1 if hold % rows.every else (hold - rows.reached * rows.every % hold) // rows.every


def _run(stepper: Stepper, rows: Rows, k: int, records: int, hold: int) -> None:
    """Fills `records` rows after row k; samples that fall between rows are taken there."""
    if not stepper.actuation.samples or hold % rows.every == 0:
        stepper.run(rows.seen(k + 1, k + records + 1), records, rows.every)
        return
    stretch = int(np.gcd(hold, rows.every))
    for n in range(0, rows.every, stretch):
        if n and (k * rows.every + n) % hold == 0:
            stepper.sample()
            stepper.observe()
        stepper.run(rows.seen(k + 1, k + 2), 1, stretch)


def _checked(stepper: Stepper, rows: Rows, last: int, interaction: Interaction) -> str:
    """Moves `reached` on to the row `last`; or to the one before the motion diverges, and returns the reason."""
    first = rows.reached + 1
    gone = np.flatnonzero(~(np.abs(rows.v[first : last + 1]).max(axis=1, initial=0.0) < RUNAWAY))
    rows.reached = last if not len(gone) else first + int(gone[0]) - 1
    if not len(gone):
        return ""
    k, compiled = rows.reached, stepper.compiled
    return divergence(
        compiled.mechanism, rows.time[k + 1], rows.q[max(k - RECENT, 0) : k + 1], rows.v[k], rows.v[k + 1],
        compiled.integrator, stepper.step, interaction.touching(rows.q[k]),
    )  # fmt: skip


def _gained(stepper: Stepper, rows: Rows, interaction: Interaction) -> str:
    """Moves `reached` back to the row before energy appears from nowhere, and returns what is to be said of it; or ""."""
    first, compiled = rows.exchange.row, stepper.compiled
    some = slice(first, rows.reached + 1)
    kinetic, potential, *_ = compiled.observed(rows.q[some], rows.v[some], rows.u[some])

    def added(step: int) -> float:
        k = first + step
        return stepper.gained(rows.time[k], rows.every, rows.q[k], rows.v[k], rows.u[k])

    gain = rows.exchange.follow(kinetic, potential, rows.work[some], float(interaction.mechanism.tree.mass), added)
    if gain is None:
        return ""
    k = rows.reached = first + gain.step
    return runaway(
        interaction.mechanism, rows.time[k], gain, rows.q[max(k - RECENT, 0) : k + 1], rows.v[k],
        compiled.integrator, stepper.step,
    )  # fmt: skip
