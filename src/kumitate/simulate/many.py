"""Many runs of one mechanism side by side: several states an instruction, stretches of them on threads."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis import LoopEquations, closed_state
from ..compile import Kernel
from ..errors import InputError, KumitateWarning
from ..model import Mechanism, check_resistance
from ..model.values import checked_whole
from ..scalar import Program, Scalar, call, loop, maximum, trace
from .actuation import Actuation, How
from .checks import by_name, check_memory, checked_rows, step_count, steps_held
from .choice import chosen_integrator
from .forcing import Controller, Forcing
from .run import RUNAWAY, contact_of
from .stepper import Stabilisation, Stepper
from .touching import Touching

if TYPE_CHECKING:
    from ..contact.scene import Contact
    from .touching import ContactRecord

__all__ = ["Runs", "simulate_batch"]


@dataclass(frozen=True, eq=False)
class Runs:
    """N runs side by side, recorded at n times.

    Attributes:
        mechanism: that moved.
        time: (n) [s].
        q, v: (N, n, nq) and (N, n, nv); NaN after a run has run away.
        work: (N, n) [J], put in by what drives, damping, wrenches and contact since the start.
        lost: (N) [s], the last recorded time that a run that has run away was in order; infinite for all others. A step whose
            contact has no usable solution counts as running away.
        unsolved: (N) [s], the start of the first stretch, up to a record, with a step whose contact could not be solved well;
            infinite for all others.
        wall_time: that it took, without compiling [s].
    """

    mechanism: Mechanism
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    work: np.ndarray
    lost: np.ndarray
    unsolved: np.ndarray
    wall_time: float
    _efforts: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] | None = field(default=None, repr=False)
    _touching: Touching | None = field(default=None, repr=False)
    _forcing: Forcing | None = field(default=None, repr=False)
    _step: float = 0.0

    def __len__(self) -> int:
        return len(self.q)

    def contact(self, k: int) -> ContactRecord:
        """What touched in the run k, in the steps that begin at the recorded times.

        Raises:
            InputError: if the runs were without contact by impulses, or with a sampled controller.
        """
        if self._touching is None or self._efforts is None or self._forcing is None:
            raise InputError(
                f"{self.mechanism.name}: no contact by impulses, or efforts that are sampled; simulate the run alone"
            )
        q, v = self.q[k], self.v[k]
        return self._touching.record(self._forcing, self._step, q, v, self._efforts(self.time, q, v)).record


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
    sample_time: float | None = None,
    contact: Contact | str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Runs:
    """Simulates N runs of a mechanism side by side, each as `simulate` does it alone.

    Args:
        mechanism: to move.
        q: initial coordinates (N, nq); v: initial velocities (N, nv), zero by default.
        duration: [s]; `step` [s]; `every`: how many steps lie between recorded states.
        integrator: as of `simulate`, of constant step; "auto" takes semi_implicit_euler for what is too fast for rkf45.
        controller: tau = f(t, q, v) that can be compiled into the step; or constants, (nv) or (N, nv).
        wrenches: as of `simulate`, constants or functions that can be compiled.
        sample_time: if given, the controller is any function that takes all runs at once, f(t, q (N, nq), v (N, nv)) → (N, nv),
            called at its multiples and held in between [s]: a learned policy, say.
        contact: as of `simulate`.
        progress: called with the fraction done.

    Raises:
        InputError: if an argument has a wrong shape or value, or a function cannot be compiled.

    >>> from kumitate.model.samples import sample
    >>> runs = simulate_batch(sample("pendulum")(), [[0.1], [0.2], [0.3]], duration=0.1, every=50)
    >>> runs.q.shape
    (3, 3, 1)
    """
    check_resistance(mechanism)
    q0 = checked_rows(mechanism, "q", q, mechanism.nq)
    runs = len(q0)
    v0 = checked_rows(mechanism, "v", np.zeros((runs, mechanism.nv)) if v is None else v, mechanism.nv)
    if len(v0) != runs:
        raise InputError(f"{mechanism.name}: q has {runs} rows and v {len(v0)}; give one of each a run")
    count, hold = step_count(duration, step), steps_held(sample_time, step)
    every = checked_whole(mechanism.name, "every", every, 1, remedy="Give a number of steps", error=InputError)
    stretch = _stretch(count, every, hold)
    check_memory(mechanism, count // every + 1, runs)
    touching, pressing = (None, None) if contact is None else contact_of(mechanism, contact, ())
    name = pressing.integrator(integrator, []) if pressing else integrator
    method = (
        touching.integrator(name, step, q0[0], v0[0], [])
        if touching
        else chosen_integrator(mechanism, name, step, 1e-8, q0[0], v0[0], [], equal_steps=True)
    )
    if method.adaptive:
        raise InputError(f"{mechanism.name}: runs side by side need a constant step; {method.name} has none, take 'auto'")

    per_run = controller is not None and not callable(controller) and np.ndim(controller) == 2
    driven = np.zeros(mechanism.nv) if per_run or hold is not None else controller
    forcing = Forcing(mechanism, driven, by_name("wrenches", wrenches))  # type: ignore[arg-type]
    if mechanism.loops:
        equations = LoopEquations(mechanism)
        equations.lines.check_directions(q0, v0)
        q0, v0 = (
            np.array(part)
            for part in zip(*(closed_state(equations, *state) for state in zip(q0, v0, strict=True)), strict=True)
        )
    actuation = Actuation.of(forcing, q0[0], v0[0])
    if actuation.mode in ("called", "sampled"):
        why = next(line for line, how in zip(actuation.lines(), actuation.functions, strict=True) if how is not How.COMPILED)
        raise InputError(
            f"{mechanism.name}: runs side by side need functions that can be compiled; {why}. Give `sample_time`, and the "
            "controller is called with the states of all runs at once"
        )
    stepper = Stepper(
        mechanism, method, actuation, q0[0], v0[0], stabilisation=Stabilisation(),
        impacts=touching.impacts if touching else None, pressing=pressing.forces if pressing else None,
    )  # fmt: skip
    assert stepper.program is not None
    efforts = np.tile(stepper.efforts, (runs, 1))
    if per_run:
        efforts[:, : mechanism.nv] = checked_rows(mechanism, "controller", controller, mechanism.nv, runs)
    kernel = Kernel(_stretch_program(stepper.program, mechanism, stretch))
    kernel.code(kernel.lanes if runs >= kernel.lanes else 1)  # compiles

    records = count // every + 1
    out_q, out_v = np.empty((runs, records, mechanism.nq)), np.empty((runs, records, mechanism.nv))
    out_work, lost, unsolved = np.zeros((runs, records)), np.full(runs, np.inf), np.full(runs, np.inf)
    out_q[:, 0], out_v[:, 0] = q0, v0
    now, following = (q0, v0, np.zeros(runs)), (np.empty_like(q0), np.empty_like(v0), np.empty(runs))
    error = np.empty(runs)
    begin = clock.perf_counter()
    for first in range(0, count, stretch):
        if hold is not None and first % hold == 0:
            efforts[:, : mechanism.nv] = _sampled(mechanism, controller, first * step, now[0], now[1])
        given = (np.full(runs, float(first)), np.full(runs, step), *now, efforts)
        kernel.into([*following, error], *given)
        now, following = following, now
        _mark(lost, ~(np.abs(now[1]).max(axis=1, initial=0.0) < RUNAWAY), first * step)
        _mark(unsolved, error > 1.0, first * step)
        done = first + stretch
        if done % every == 0:
            k = done // every
            out_q[:, k], out_v[:, k], out_work[:, k] = now
        if progress is not None:
            progress(done / count)
    wall = clock.perf_counter() - begin
    times = np.arange(records) * (every * step)
    _tell(mechanism, lost, unsolved)
    for array in (out_q, out_v, out_work):
        array[times[None, :] > lost[:, None]] = np.nan
    along = (
        None
        if hold is not None or per_run
        else lambda t, q, v: stepper.efforts_along(t, q, v, np.tile(stepper.efforts, (len(t), 1)))
    )
    return Runs(mechanism, times, out_q, out_v, out_work, lost, unsolved, wall, along, touching, forcing, step)


def _stretch_program(step: Program, mechanism: Mechanism, count: int) -> Program:
    """(first, h, q, v, work, u) → q, v, work `count` steps later, and the largest error of a step.

    `first`: the number of the first one since the start.
    """
    size = next(array.size for array in step.inputs if array.name == "u")

    def stretch(first: Scalar, h: Scalar, q: Any, v: Any, work: Scalar, u: Any) -> dict[str, Any]:
        def one(_: Any, state: Any) -> tuple[Any, None]:
            number, *before, error = state
            after = call(step, number * h, h, *before, u)
            return (number + 1.0, after["q"], after["v"], after["work"], maximum(error, after["error"])), None

        (_, end_q, end_v, end_work, error), _ = loop(count, one, (first, list(q), list(v), work, 0.0), varies=True)
        return {"q": end_q, "v": end_v, "work": end_work, "error": error}

    inputs: dict[str, int | tuple[int, ...]] = {
        "first": (), "h": (), "q": mechanism.nq, "v": mechanism.nv, "work": (), "u": size,
    }  # fmt: skip
    return trace(stretch, inputs, f"{step.name}_{count}_times")


def _stretch(count: int, every: int, hold: int | None) -> int:
    """How many steps are made by one call: up to the next record, or to where the controller is asked again."""
    if count % every:
        raise InputError(f"every is {every}; it must divide the number of steps, {count}. Take another, or another duration")
    if hold is None:
        return every
    if max(every, hold) % min(every, hold):
        raise InputError(f"every is {every} and the sample time {hold} steps; one must be a multiple of the other")
    return min(every, hold)


def _sampled(mechanism: Mechanism, controller: Any, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """What the controller says for all runs; those that are lost are not looked at."""
    tau = np.asarray(controller(t, q.copy(), v.copy()) if callable(controller) else controller, dtype=float)
    if tau.shape not in ((len(q), mechanism.nv), (mechanism.nv,)):
        raise InputError(
            f"{mechanism.name}: the controller gave an array of shape {tau.shape} at t = {t:.6g} s; it must give "
            f"({len(q)}, {mechanism.nv}), one row a run"
        )
    return np.broadcast_to(tau, (len(q), mechanism.nv))


def _mark(since: np.ndarray, now: np.ndarray, t: float) -> None:
    """Notes of the runs `now` that they are so since the stretch from t on."""
    since[now & np.isinf(since)] = t


def _tell(mechanism: Mechanism, lost: np.ndarray, unsolved: np.ndarray) -> None:
    failed = np.flatnonzero(np.isfinite(unsolved))
    if len(failed):
        first = failed[np.argmin(unsolved[failed])]
        warnings.warn(
            f"{mechanism.name}: contact could not be solved in every step of {len(failed)} of {len(unsolved)} runs, first in "
            f"run {first} after t = {unsolved[first]:.6g} s. Take a smaller step; high friction and restitution make it hard "
            "to solve. `simulate` tells of one run which bodies touch there",
            KumitateWarning,
            stacklevel=3,
        )
    gone = np.flatnonzero(np.isfinite(lost))
    if len(gone):
        first = gone[np.argmin(lost[gone])]
        warnings.warn(
            f"{mechanism.name}: {len(gone)} of {len(lost)} runs run away, run {first} first, after t = {lost[first]:.6g} s; "
            "their states are NaN from then on. Take a smaller step, or softer gains",
            KumitateWarning,
            stacklevel=3,
        )
