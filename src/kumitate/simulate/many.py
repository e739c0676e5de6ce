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
from ..scalar import Program, call, loop, trace
from .forcing import Controller, Forcing
from .run import RUNAWAY, check_manifold, chosen_integrator, contact_of, step_count, steps_held
from .stepper import Stabilisation, Stepper
from .touching import Touching

if TYPE_CHECKING:
    from ..contact.scene import Contact
    from .touching import ContactRecord

__all__ = ["Runs", "simulate_batch"]

Scalar = Any


@dataclass(frozen=True, eq=False)
class Runs:
    """N runs side by side, recorded at n times.

    Attributes:
        mechanism: that moved.
        time: (n) [s].
        q, v: (N, n, nq) and (N, n, nv); NaN after a run has run away.
        work: (N, n) [J], put in by what drives, damping, wrenches and contact since the start.
        lost: (N) [s], the last recorded time that a run that has run away was in order; infinite for all others.
        wall_time: that it took, without compiling [s].
    """

    mechanism: Mechanism
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    work: np.ndarray
    lost: np.ndarray
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
        return self._touching.record(self._forcing, self._step, q, v, self._efforts(self.time, q, v))[0]


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
        integrator: as of `simulate`, of constant step.
        controller: tau = f(t, q, v) of plain arithmetic, compiled into the step; or constants, (nv) or (N, nv).
        wrenches: as of `simulate`, constant or of plain arithmetic.
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
    q0 = _checked(mechanism, "q", q, mechanism.nq)
    runs = len(q0)
    v0 = _checked(mechanism, "v", np.zeros((runs, mechanism.nv)) if v is None else v, mechanism.nv)
    if len(v0) != runs:
        raise InputError(f"{mechanism.name}: q has {runs} rows and v {len(v0)}; give one of each a run")
    count, hold = step_count(duration, step), steps_held(sample_time, step)
    stretch = _stretch(count, every, hold)
    touching, pressing = (None, None) if contact is None else contact_of(mechanism, contact, ())
    name = pressing.integrator(integrator, []) if pressing else integrator
    method = (
        touching.integrator(name, step, q0[0], v0[0])
        if touching
        else chosen_integrator(mechanism, name, step, 1e-8, q0[0], v0[0], [])
    )
    if method.adaptive:
        raise InputError(f"{mechanism.name}: runs side by side need a constant step; {method.name} has none, take 'auto'")

    per_run = controller is not None and not callable(controller) and np.ndim(controller) == 2
    driven = np.zeros(mechanism.nv) if per_run or hold is not None else controller
    forcing = Forcing(mechanism, driven, dict(wrenches or {}))  # type: ignore[arg-type]
    if mechanism.loops:
        equations = LoopEquations(mechanism)
        q0, v0 = (
            np.array(part)
            for part in zip(*(closed_state(equations, *state) for state in zip(q0, v0, strict=True)), strict=True)
        )
    stepper = Stepper(
        mechanism, method, forcing, q0[0], v0[0], held=forcing.constant, traced=True, stabilisation=Stabilisation(),
        impacts=touching.impacts if touching else None, pressing=pressing.forces if pressing else None,
    )  # fmt: skip
    if stepper.program is None:
        raise InputError(
            f"{mechanism.name}: the controller or a wrench is not of plain arithmetic, so that it cannot be compiled; give "
            "`sample_time`, and it is called with the states of all runs at once"
        )
    efforts = np.tile(stepper.efforts, (runs, 1))
    if per_run:
        efforts[:, : mechanism.nv] = _checked(mechanism, "controller", controller, mechanism.nv, runs)
    kernel = Kernel(_stretch_program(stepper.program, mechanism, stretch))
    kernel.code(kernel.lanes if runs >= kernel.lanes else 1)  # compiles

    records = count // every + 1
    out_q, out_v = np.empty((runs, records, mechanism.nq)), np.empty((runs, records, mechanism.nv))
    out_work, lost = np.zeros((runs, records)), np.full(runs, np.inf)
    out_q[:, 0], out_v[:, 0] = q0, v0
    now, following = (q0, v0, np.zeros(runs)), (np.empty_like(q0), np.empty_like(v0), np.empty(runs))
    begin = clock.perf_counter()
    for first in range(0, count, stretch):
        if hold is not None and first % hold == 0:
            efforts[:, : mechanism.nv] = _sampled(mechanism, controller, first * step, now[0], now[1])
        given = (np.full(runs, float(first)), np.full(runs, step), *now, efforts)
        kernel.into(list(following), *given)
        now, following = following, now
        _mark(lost, now, first * step)
        done = first + stretch
        if done % every == 0:
            k = done // every
            out_q[:, k], out_v[:, k], out_work[:, k] = now
        if progress is not None:
            progress(done / count)
    wall = clock.perf_counter() - begin
    times = np.arange(records) * (every * step)
    _tell(mechanism, lost, times)
    for array in (out_q, out_v, out_work):
        array[times[None, :] > lost[:, None]] = np.nan
    along = (
        None
        if hold is not None or per_run
        else lambda t, q, v: stepper.efforts_along(t, q, v, np.tile(stepper.efforts, (len(t), 1)))
    )
    return Runs(mechanism, times, out_q, out_v, out_work, lost, wall, along, touching, forcing, step)


def _stretch_program(step: Program, mechanism: Mechanism, count: int) -> Program:
    """(first, h, q, v, work, u) → q, v, work `count` steps later; `first`: the number of the first one since the start."""
    size = next(array.size for array in step.inputs if array.name == "u")

    def stretch(first: Scalar, h: Scalar, q: Any, v: Any, work: Scalar, u: Any) -> dict[str, Any]:
        def one(_: Any, state: Any) -> tuple[Any, None]:
            number, *moving = state
            after = call(step, number * h, h, *moving, u)
            return (number + 1.0, after["q"], after["v"], after["work"]), None

        (_, end_q, end_v, end_work), _ = loop(count, one, (first, list(q), list(v), work), varies=True)
        return {"q": end_q, "v": end_v, "work": end_work}

    inputs: dict[str, int | tuple[int, ...]] = {
        "first": (), "h": (), "q": mechanism.nq, "v": mechanism.nv, "work": (), "u": size,
    }  # fmt: skip
    return trace(stretch, inputs, f"{step.name}_{count}_times")


def _stretch(count: int, every: int, hold: int | None) -> int:
    """How many steps are made by one call: up to the next record, or to where the controller is asked again."""
    if every < 1 or count % every:
        raise InputError(f"every is {every}; it must be a positive number of steps that divides all {count} of them")
    if hold is None:
        return every
    if max(every, hold) % min(every, hold):
        raise InputError(f"every is {every} and the sample time {hold} steps; one must be a multiple of the other")
    return min(every, hold)


def _checked(mechanism: Mechanism, what: str, values: Any, size: int, rows: int | None = None) -> np.ndarray:
    """Rows of numbers, one a run."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{mechanism.name}: {what} is {values!r:.60}; give rows of {size} real numbers, one a run") from None
    if array.ndim != 2 or array.shape[1] != size or not len(array) or rows not in (None, len(array)):
        raise InputError(f"{mechanism.name}: {what} has shape {array.shape}; it must be ({rows or 'N'}, {size}), one row a run")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        run, k = bad[0]
        raise InputError(f"{mechanism.name}: {what} is {array[run, k]} in column {k} of run {run}; it must be finite")
    if what == "q":
        check_manifold(mechanism, array)
    return array


def _sampled(mechanism: Mechanism, controller: Any, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """What the controller says for all runs; those that are lost are not looked at."""
    tau = np.asarray(controller(t, q.copy(), v.copy()) if callable(controller) else controller, dtype=float)
    if tau.shape not in ((len(q), mechanism.nv), (mechanism.nv,)):
        raise InputError(
            f"{mechanism.name}: the controller gave an array of shape {tau.shape} at t = {t:.6g} s; it must give "
            f"({len(q)}, {mechanism.nv}), one row a run"
        )
    return np.broadcast_to(tau, (len(q), mechanism.nv))


def _mark(lost: np.ndarray, now: Sequence[np.ndarray], t: float) -> None:
    """Notes which runs ran away during a stretch from t on."""
    away = ~(np.abs(now[1]).max(axis=1, initial=0.0) < RUNAWAY)
    lost[away & np.isinf(lost)] = t


def _tell(mechanism: Mechanism, lost: np.ndarray, times: np.ndarray) -> None:
    gone = np.flatnonzero(np.isfinite(lost))
    if len(gone):
        first = gone[np.argmin(lost[gone])]
        warnings.warn(
            f"{mechanism.name}: {len(gone)} of {len(lost)} runs run away, run {first} first, after t = {lost[first]:.6g} s; "
            "their states are NaN from then on. Take a smaller step, or softer gains",
            KumitateWarning,
            stacklevel=3,
        )
