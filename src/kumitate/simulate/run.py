"""`simulate`: from an initial state to a `Record` (thesis 5.1, fig. 5.1: initialise, integrate, compute outputs).

Many runs in a batch advance several states per instruction, blocks of them on threads.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, warn
from ..model import Mechanism
from ..options import takes_options_of
from .checks import check_memory, checked_rows, run_times, step_notes, steps_held
from .kept import Kept
from .setup import Experiment, options_of

if TYPE_CHECKING:
    from ..records.contact_record import ContactRecord
    from ..records.record import Record
    from .batch import Batch
    from .simulation import MechanismSimulation


#: The simulations of setups without functions that were run last: another run of the same setup begins at once.
_SIMULATIONS = Kept[Any](16)


@takes_options_of(Experiment)
def simulate(mechanism: Mechanism, q: Any = None, v: Any = None, **options: Any) -> Record:
    """Simulates a mechanism, as `kumitate.simulate` does a robot, with its errors and warnings.

    Args:
        mechanism: to simulate.
        q: initial coordinates (nq), the neutral ones by default; v: initial velocities (nv), zero by default.
        options: as of `kumitate.simulate.setup.Experiment`.
    """
    from .simulation import MechanismSimulation  # with integrators and controllers: loaded for the first run

    asked = Experiment(mechanism, q, v, **options_of(Experiment, mechanism.name, options))
    simulation = _SIMULATIONS.get(asked.content, lambda: MechanismSimulation.of(asked))
    return simulation.run(duration=asked.duration, every=asked.every, until=asked.until, progress=asked.progress)


@dataclass(frozen=True, eq=False)
class Records:
    """The results of N runs in a batch, recorded at n times.

    Attributes:
        mechanism: the simulated mechanism.
        time: (n) [s].
        q, v: (N, n, nq) and (N, n, nv); NaN after a run has diverged.
        work: (N, n) [J], done on the mechanism by drives, damping, wrenches and contact since the start.
        lost: (N) [s], the last recorded time at which a run that diverged was in order; infinite for all others. A step whose
            contact has no usable solution counts as divergence.
        unsolved: (N) [s], the last recorded time before the first step whose contact could not be solved; infinite for
            all others.
        wall_time: without compiling [s].
        settings: the options of the runs and the version of kumitate, as plain data.
        notes: what is worth to know about the runs: which integrator "auto" took, and why.
        simulation: of each run, if all that acts on it is known: nothing is sampled, and no run has numbers of its own.
        outputs: (N, n, ...) by name, NaN after a run has diverged.
    """

    mechanism: Mechanism
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    work: np.ndarray
    lost: np.ndarray
    unsolved: np.ndarray
    wall_time: float
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    simulation: MechanismSimulation | None = field(default=None, repr=False)
    outputs: dict[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.q)

    def __getstate__(self) -> dict[str, object]:
        """What copies take along: all but the simulation, whose functions may not be sent to other processes."""
        return {**self.__dict__, "simulation": None}

    def contact(self, k: int) -> ContactRecord:
        """The contact in run k, in the steps that begin at the recorded times.

        Raises:
            InputError: if the runs were without contact, sampled, with constants or parameters of their own; or for a copy.
        """
        q, v, touched = self.q[k], self.v[k], None
        if self.simulation is not None:
            compiled = self.simulation.compiled
            u = compiled.efforts_along(self.time, q, v, self.simulation.actuation.constants)
            touched = compiled.touched(self.simulation.step_size, q, v, u)
        if touched is None:
            raise InputError(
                f"{self.mechanism.name}: no contact, efforts that are sampled, parameters of each run, or a copy of the runs; "
                "simulate the run alone"
            )
        return touched.record


#: Options of one run that a batch does not have: its rows end together, and its steps are made for batches.
OF_ONE_RUN = ("until", "equal_steps", "side_by_side")


@takes_options_of(Experiment, without=OF_ONE_RUN)
def simulate_batch(mechanism: Mechanism, q: Any, v: Any = None, **options: Any) -> Records:
    """Simulates N runs of a mechanism in a batch, each as `simulate` would simulate it alone, in steps of equal length.

    Args:
        mechanism: to move.
        q: initial coordinates (N, nq); v: initial velocities (N, nv), zero by default.
        controller: tau = f(t, q, v) that can be compiled into the step; or constants, (nv) or (N, nv). With `sample_time`, any
            function that takes all runs at once, f(t, q (N, nq), v (N, nv)) → (N, nv): a learned policy, say.
        parameters: as in `simulate`, by name; a value may be one for all runs, or one for each (N).
        options: as in `simulate`, the same for all runs; functions must be such that they can be compiled.
    """
    from .divergence import RUNAWAY
    from .simulation import MechanismSimulation

    q0 = checked_rows(mechanism, "q", q, mechanism.nq)
    runs = len(q0)
    v0 = checked_rows(mechanism, "v", np.zeros((runs, mechanism.nv)) if v is None else v, mechanism.nv)
    if len(v0) != runs:
        raise InputError(f"{mechanism.name}: q has {runs} rows and v {len(v0)}; give one of each per run")
    asked = Experiment(mechanism, q0[0], v0[0], **options_of(Experiment, mechanism.name, options, OF_ONE_RUN))
    fitted, controller, values = asked.fitted, asked.controller, asked.parameters
    _, count, every = run_times(mechanism.name, fitted.duration, fitted.step, asked.every)
    hold = steps_held(fitted.sample_time, fitted.step)
    if hold is not None and max(every, hold) % min(every, hold):
        raise InputError(f"every is {every} and the sample time {hold} steps; one must be a multiple of the other")
    check_memory(mechanism, count // every + 1, runs)
    per_run = controller is not None and not callable(controller) and np.ndim(controller) == 2
    known = not per_run and hold is None
    by_row = isinstance(values, Mapping)  # of which each run may have its own
    alike = replace(fitted, controller=controller if known else None, parameters=tuple(values) if by_row else values)
    simulation = MechanismSimulation(replace(alike, sample_time=None, equal_steps=True, side_by_side=True))
    simulation.notes += step_notes(asked.step, fitted.step, hold)
    simulation.interaction.warn()
    batch = simulation.batch(q0, v0, parameters=values if isinstance(values, Mapping) else None)
    if per_run:
        batch.tau[:] = checked_rows(mechanism, "controller", controller, mechanism.nv, runs)
    begin = clock.perf_counter()
    seen = _recorded(batch, count, every, hold, controller, asked.progress)
    wall = clock.perf_counter() - begin
    times = np.arange(0, count + 1, every) * simulation.step_size
    fastest = np.abs(seen["v"]).max(axis=2, initial=0.0)
    lost = _last_before(times, ~(fastest < RUNAWAY) | _gained(batch, seen, fastest))
    unsolved = _last_before(times, seen["error"] > 1.0)
    _warn_of_lost(mechanism, lost, unsolved)
    del seen["error"]
    for array in seen.values():
        array[times[None, :] > lost[:, None]] = np.nan
    q, v, work = (seen.pop(name) for name in ("q", "v", "work"))
    settings = {"duration": asked.duration, "every": every, **simulation.settings, "sample_time": asked.sample_time}
    made = simulation if known and not by_row and not simulation.actuation.forcing.layout.own_states else None
    return Records(mechanism, times, q, v, work, lost, unsolved, wall, settings, tuple(simulation.notes), made, seen)


def _recorded(
    batch: Batch, count: int, every: int, hold: int | None, controller: Any, progress: Callable[[float], None] | None
) -> dict[str, np.ndarray]:
    """All records of a batch, beginning with the start; a sampled controller is called every `hold` steps."""
    from .rows import grown

    seen = batch.room(count // every + 1)
    start = batch.record(1, 0) if set(seen) - set(batch.state) else {}  # outputs, which a state does not keep
    for name, array in seen.items():
        array[:, 0] = batch.state[name] if name in batch.state else start[name][:, 0]
    done, share = 0, 1
    while done < count:
        if hold is not None and done % hold == 0:
            batch.tau[:] = _sampled(batch, controller, done)
        k, begin = done // every, clock.perf_counter()
        if hold is not None and hold < every:
            batch.step(hold)
            done += hold
            if done % every == 0:
                batch.record(1, 0, out={name: array[:, k + 1 : k + 2] for name, array in seen.items()})
        else:
            records = min(count // every - k, share if hold is None else hold // every)
            batch.record(records, every, out={name: array[:, k + 1 : k + 1 + records] for name, array in seen.items()})
            done += records * every
            share = grown(records, clock.perf_counter() - begin)
        if progress is not None:
            progress(done / count)
    return seen


def _gained(batch: Batch, seen: Mapping[str, np.ndarray], fastest: np.ndarray) -> np.ndarray:
    """(N, n): whether a run runs away in the steps before a record; `fastest`: its velocities."""
    from .divergence import FAST, RUNAWAY, leaps

    gone = np.zeros(fastest.shape, dtype=bool)
    for run in np.flatnonzero(fastest.max(axis=1) > FAST):
        end = int((fastest[run] < RUNAWAY).argmin()) or fastest.shape[1]
        q, v, work = (seen[name][run, :end] for name in ("q", "v", "work"))
        if leaps(v[:-1], v[1:]).any() and (gain := batch.simulation.gain(q, v, work, batch.efforts[run])):
            gone[run, gain.step + 1] = True
    return gone


def _sampled(batch: Batch, controller: Any, done: int) -> np.ndarray:
    mechanism, t = batch.simulation.mechanism, done * batch.simulation.step_size
    tau = np.asarray(controller(t, batch.q.copy(), batch.v.copy()) if callable(controller) else controller, dtype=float)
    if tau.shape not in (batch.v.shape, (mechanism.nv,)):
        raise InputError(
            f"{mechanism.name}: the controller gave an array of shape {tau.shape} at t = {t:.6g} s; it must give "
            f"{batch.v.shape}, one row per run"
        )
    return np.broadcast_to(tau, batch.v.shape)


def _last_before(times: np.ndarray, found: np.ndarray) -> np.ndarray:
    """(N) the time of the record before the first at which `found` (N, n) is true; infinite where it never is."""
    first = found.argmax(axis=1)
    return np.where(found.any(axis=1), times[np.maximum(first - 1, 0)], np.inf)


def _warn_of_lost(mechanism: Mechanism, lost: np.ndarray, unsolved: np.ndarray) -> None:
    failed = np.flatnonzero(np.isfinite(unsolved))
    if len(failed):
        first = failed[np.argmin(unsolved[failed])]
        warn(
            f"{mechanism.name}: contact could not be solved in every step of {len(failed)} of {len(unsolved)} runs, first in "
            f"run {first} after t = {unsolved[first]:.6g} s. Take a smaller step; high friction and restitution make it hard "
            "to solve. `simulate` names the bodies that touch there, for one run"
        )
    gone = np.flatnonzero(np.isfinite(lost))
    if len(gone):
        first = gone[np.argmin(lost[gone])]
        warn(
            f"{mechanism.name}: {len(gone)} of {len(lost)} runs diverge, run {first} first, after t = {lost[first]:.6g} s; "
            "their states are NaN from then on. Take a smaller step, or softer gains"
        )
