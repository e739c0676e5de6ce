"""Many runs of one mechanism in a batch: several states per instruction, blocks of them on threads."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, warn
from ..model import Mechanism
from ..model.values import checked_whole
from .checks import check_memory, checked_rows, fitted_sample_time, fitted_step, step_count, step_notes, steps_held

if TYPE_CHECKING:
    from ..contact.scene import Contact
    from .batch import Batch
    from .results.contact_record import ContactRecord
    from .simulation import MechanismSimulation
    from .stepping.forcing import Controller

__all__ = ["Results", "simulate_batch"]


@dataclass(frozen=True, eq=False)
class Results:
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
        simulation: of each run, if its efforts are known at all times: no sampled controllers or rows of constants.
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

    def __len__(self) -> int:
        return len(self.q)

    def __getstate__(self) -> dict[str, object]:
        """What copies take along: all but the simulation, whose functions may not be sent to other processes."""
        return {**self.__dict__, "simulation": None}

    def contact(self, k: int) -> ContactRecord:
        """The contact in run k, in the steps that begin at the recorded times.

        Raises:
            InputError: if the runs were without contact, or with a sampled controller or constants of their own; or for a copy.
        """
        simulation, q, v = self.simulation, self.q[k], self.v[k]
        touched = None if simulation is None else simulation.touched(self.time, q, v)
        if touched is None:
            raise InputError(
                f"{self.mechanism.name}: no contact, efforts that are sampled, or a copy of the runs; simulate the run alone"
            )
        return touched.record


def simulate_batch(
    mechanism: Mechanism,
    q: Any,
    v: Any = None,
    *,
    duration: float,
    step: float = 1e-3,
    every: int = 1,
    integrator: str = "auto",
    controller: Controller | Sequence[float] | np.ndarray | None = None,
    wrenches: Mapping[str, Controller | Sequence[float]] | None = None,
    inputs: Mapping[str, Any] | None = None,
    motions: Mapping[str, Any] | None = None,
    sample_time: float | None = None,
    stabilisation: str = "lagged",
    baumgarte: float | None = None,
    contact: Contact | str | None = None,
    limits: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Results:
    """Simulates N runs of a mechanism in a batch, each as `simulate` would simulate it alone.

    Args:
        mechanism: to move.
        q: initial coordinates (N, nq); v: initial velocities (N, nv), zero by default.
        duration: [s]; `step` [s], made a little shorter if need be; `every`: how many steps lie between recorded states.
        integrator: as in `simulate`, with constant step; "auto" takes semi_implicit_euler for forces too fast for rkf45, where
            `simulate` takes extrapolated_euler, whose steps are not of equal length; `Results.notes` say so.
        controller: tau = f(t, q, v) that can be compiled into the step; or constants, (nv) or (N, nv).
        wrenches: as in `simulate`, constants or functions that can be compiled.
        inputs, motions: as in `simulate`, the same for all runs.
        sample_time: if given, the controller is any function that takes all runs at once, f(t, q (N, nq), v (N, nv)) → (N, nv),
            called at its multiples and held in between [s]: a learned policy, say.
        stabilisation, baumgarte, contact, limits, progress: as in `simulate`.

    Raises:
        InputError: if an argument has a wrong shape or value, or a function cannot be compiled.

    >>> from kumitate.model.samples import sample
    >>> runs = simulate_batch(sample("pendulum")(), [[0.1], [0.2], [0.3]], duration=0.1, every=50)
    >>> runs.q.shape
    (3, 3, 1)
    """
    from .rows import RUNAWAY  # with integrators and controllers: loaded for the first batch
    from .simulation import MechanismSimulation
    from .stepping.system import states_of

    q0 = checked_rows(mechanism, "q", q, mechanism.nq)
    runs = len(q0)
    v0 = checked_rows(mechanism, "v", np.zeros((runs, mechanism.nv)) if v is None else v, mechanism.nv)
    if len(v0) != runs:
        raise InputError(f"{mechanism.name}: q has {runs} rows and v {len(v0)}; give one of each per run")
    asked, step = step, fitted_step(duration, step, every)
    sample_time = fitted_sample_time(sample_time, asked, step)
    count, hold = step_count(duration, step), steps_held(sample_time, step)
    every = checked_whole(mechanism.name, "every", every, 1, remedy="Give a number of steps", error=InputError)
    _check_divisible(count, every, hold)
    check_memory(mechanism, count // every + 1, runs)
    per_run = controller is not None and not callable(controller) and np.ndim(controller) == 2
    known = not per_run and hold is None
    simulation = MechanismSimulation(
        mechanism, step=step, integrator=integrator, controller=controller if known else None,  # type: ignore[arg-type]
        wrenches=wrenches, contact=contact, start=(q0[0], v0[0]), inputs=inputs, motions=motions, limits=limits,
        stabilisation=stabilisation, baumgarte=baumgarte, side_by_side=True,
    )  # fmt: skip
    simulation.interaction.warn()
    batch = simulation.batch(q0, v0)
    if per_run:
        batch.tau[:] = checked_rows(mechanism, "controller", controller, mechanism.nv, runs)
    begin = clock.perf_counter()
    seen = _recorded(batch, count, every, hold, controller, progress)
    wall = clock.perf_counter() - begin
    times = np.arange(0, count + 1, every) * step
    fastest = np.abs(seen["v"]).max(axis=2, initial=0.0)
    lost = _last_before(times, ~(fastest < RUNAWAY) | _gained(batch, seen, fastest))
    unsolved = _last_before(times, seen["error"] > 1.0)
    _warn_of_lost(mechanism, lost, unsolved)
    for name in ("q", "v", "work"):
        seen[name][times[None, :] > lost[:, None]] = np.nan
    return Results(
        mechanism,
        times,
        seen["q"],
        seen["v"],
        seen["work"],
        lost,
        unsolved,
        wall,
        {"duration": duration, "every": every, **simulation.settings, "sample_time": sample_time},
        (*simulation.notes, *step_notes(asked, step, hold)),
        simulation if known and not states_of(simulation.actuation.forcing) else None,
    )


def _recorded(
    batch: Batch, count: int, every: int, hold: int | None, controller: Any, progress: Callable[[float], None] | None
) -> dict[str, np.ndarray]:
    """All records of a batch, beginning with the start; a sampled controller is called every `hold` steps."""
    from .rows import LOOK

    seen = batch.room(count // every + 1)
    for name, array in seen.items():
        array[:, 0] = batch.state[name]
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
            share = 2 * share if clock.perf_counter() - begin < 0.5 * LOOK else share
        if progress is not None:
            progress(done / count)
    return seen


def _gained(batch: Batch, seen: Mapping[str, np.ndarray], fastest: np.ndarray) -> np.ndarray:
    """(N, n): whether a run runs away in the steps before a record; `fastest`: its velocities."""
    from .exchange import FAST, leaps
    from .rows import RUNAWAY

    gone = np.zeros(fastest.shape, dtype=bool)
    for run in np.flatnonzero(fastest.max(axis=1) > FAST):
        end = int((fastest[run] < RUNAWAY).argmin()) or fastest.shape[1]
        q, v, work = (seen[name][run, :end] for name in ("q", "v", "work"))
        if leaps(v[:-1], v[1:]).any() and (gain := batch.simulation.gain(q, v, work, batch.efforts[run])):
            gone[run, gain.step + 1] = True
    return gone


def _check_divisible(count: int, every: int, hold: int | None) -> None:
    """Refuses records and samples that do not fall on steps or do not align with each other."""
    if count % every:
        raise InputError(f"every is {every}; it must divide the number of steps, {count}. Take another, or another duration")
    if hold is not None and max(every, hold) % min(every, hold):
        raise InputError(f"every is {every} and the sample time {hold} steps; one must be a multiple of the other")


def _sampled(batch: Batch, controller: Any, done: int) -> np.ndarray:
    """The controller's efforts for all runs, those that have diverged included."""
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
