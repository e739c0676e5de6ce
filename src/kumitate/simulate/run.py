"""Simulating: from an initial state to a `Result` (thesis 5.1, fig. 5.1: initialise, integrate, compute outputs)."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis import LoopEquations, closed_state
from ..compile import Kernel
from ..errors import DivergenceError, InputError, KumitateWarning, keep_result, kept_up_to
from ..kinematics import neutral
from ..model import Mechanism, check_resistance
from .actuation import Actuation
from .audit import Audit, contact_account, energy_jump, limits_passed, quaternion_error
from .checks import by_name, check_memory, checked_baumgarte, checked_state, step_count, steps_held
from .choice import chosen_integrator, divergence, singular_angles, vanishing_steps
from .forcing import Controller, Forcing
from .result import Energy, Result
from .rows import Rows
from .stepper import Stabilisation, Stepper
from .system import observables_program

if TYPE_CHECKING:
    from ..contact.held.point import HeldPoint
    from ..contact.scene import Contact
    from .held import HeldRun
    from .pressing import Pressing
    from .touching import Touching

__all__ = ["simulate"]

#: Velocities beyond this [rad/s or m/s] mean that the simulation has run away.
RUNAWAY = 1e9
#: A joint whose own coordinates come this close to their singularity is reported.
NEAR_SINGULAR = 0.02
#: A step [s] within which nothing moves; not zero, as what is implicit along the freedoms of loops divides by it.
_NO_STEP = 1e-30
#: So many steps before a failure are searched for its cause.
RECENT = 10


def simulate(
    mechanism: Mechanism,
    q: Sequence[float] | np.ndarray | None = None,
    v: Sequence[float] | np.ndarray | None = None,
    *,
    duration: float,
    step: float = 1e-3,
    integrator: str = "auto",
    controller: Controller | Sequence[float] | None = None,
    wrenches: Mapping[str, Controller | Sequence[float]] | None = None,
    loop_tau: Mapping[str, Controller | Sequence[float]] | None = None,
    sample_time: float | None = None,
    baumgarte: float | None = None,
    held: Sequence[HeldPoint] = (),
    held_method: str = "rows",
    contact: Contact | str | None = None,
    tolerance: float = 1e-8,
    traced: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Simulates a mechanism.

    Args:
        mechanism: to move.
        q: initial coordinates (nq), the neutral ones by default; v: initial velocities (nv), zero by default.
        duration: [s]; the state is recorded every `step` [s], from 0 to the duration.
        integrator: "rkf45" or "rk4" at the fixed step, "rkf45_adaptive" within `tolerance` (relative, per step); for what is
            stiff "semi_implicit_euler" (implicit in damping and springs, order 1) or "extrapolated_euler" (the same
            extrapolated to order 8, within `tolerance`). "auto" takes rkf45, or extrapolated_euler if damping or springs are
            too fast for rkf45 at this step; the audit then says so.
        controller: tau = f(t, q, v) (nv) [N·m, N]; or a constant. A function that is proved pure (it keeps no state, reads no
            clock, writes to nothing) is compiled into the step; `Result.audit` says how each was evaluated, and why.
        wrenches: [n; f] by name of a body or frame, likewise; in the world's axes, about the body's or frame's origin [N·m, N].
        loop_tau: forces of drives along the freedoms of loop joints [N·m, N], by the loop's name, likewise.
        sample_time: if given, controller and wrenches are called at its multiples only and held in between [s]. Without it,
            functions that keep state are called once per step, at its start, and all others are evaluated at every stage of
            the integrator; with 0, all are.
        baumgarte: if given, loops are kept closed by errors that decay at this rate [1/s] instead of by projection after every
            step, the default; zero leaves them to drift.
        held: points that surfaces hold, with friction; they are put back onto them as loops are closed, or left to drift.
            `held_motion` then gives their forces.
        held_method: "rows" (articulated bodies), or "newton_euler" (the extended Newton-Euler method, without loops).
        contact: what touches the mechanism, by which model; a model's name for a floor at z = 0. Models that make velocities
            jump ("rigid", "multipoint") have steps of their own; "penalty" is forces, which any integrator takes, "auto" being
            rkf45_adaptive. `Result.contact` has their forces.
        traced: whether functions may be compiled; False calls them all.
        progress: called with the fraction done, now and then.

    Raises:
        InputError: if an argument has a wrong shape or value.
        DivergenceError: if the motion runs away, or contact has no usable solution; it carries the result up to there. So does,
            as its attribute `result`, any exception that ends a run early: Ctrl-C, or an error in a controller.

    Warns:
        KumitateWarning: of steps whose contact could not be solved, with the time and the bodies; the audit's notes say it too.
    """
    begin = clock.perf_counter()
    check_resistance(mechanism)
    q0 = checked_state(mechanism, "q", mechanism.nq, neutral(mechanism.tree) if q is None else q)
    v0 = checked_state(mechanism, "v", mechanism.nv, np.zeros(mechanism.nv) if v is None else v)
    count = step_count(duration, step)
    check_memory(mechanism, count + 1)
    hold = steps_held(sample_time, step)
    notes = [] if mechanism.nv else ["nothing moves: all joints are fixed"]
    surfaces = _held(mechanism, held, held_method)
    integrator = surfaces.integrator(integrator, notes) if surfaces else integrator
    touching, pressing = (None, None) if contact is None else contact_of(mechanism, contact, held)
    integrator = pressing.integrator(integrator, notes) if pressing else integrator
    if touching is None:
        method = chosen_integrator(mechanism, integrator, step, tolerance, q0, v0, notes)
    else:
        method = touching.integrator(integrator, step, q0, v0, notes)
    forcing = Forcing(mechanism, controller, by_name("wrenches", wrenches), by_name("loop_tau", loop_tau))
    stabilisation = Stabilisation() if baumgarte is None else Stabilisation(False, checked_baumgarte(baumgarte))
    loops = LoopEquations(mechanism)
    q0, v0 = closed_state(loops, q0, v0)
    q0, v0 = surfaces.start(q0, v0) if surfaces else (q0, v0)
    loops.lines.check_directions(q0, v0, forcing.drives)
    points = surfaces.held if surfaces else None

    actuation = Actuation.of(forcing, q0, v0, traced=traced, sampled=bool(hold), stages=sample_time == 0.0)
    stepper = Stepper(
        mechanism, method, actuation, q0, v0, stabilisation=stabilisation, points=points,
        impacts=touching.impacts if touching else None, pressing=pressing.forces if pressing else None,
    )  # fmt: skip
    rows = Rows.of(mechanism, forcing, np.arange(count + 1) * step, q0, v0)
    failure, interruption = "", None
    try:
        failure = _advance(stepper, rows, step, hold or 1, touching, progress)
    except BaseException as error:  # Ctrl-C, or an error in a controller: what was computed is kept
        if rows.reached == 0:
            raise
        interruption = error
    rows.cut()
    settings = {
        "duration": duration, "step": step, "integrator": method.name, "sample_time": sample_time, "forcing": actuation.mode,
        "wrenches": forcing.places, "loop_tau": list(forcing.drives), "baumgarte": baumgarte,
        "held": [point.label for point in held], "contact": _asked(contact),
    }  # fmt: skip

    def finished() -> Result:
        us = stepper.efforts_along(rows.time, rows.q, rows.v, rows.u)
        said = [*notes, *actuation.changed(), *_singular_coordinates(mechanism, rows.time, rows.q)]
        said += surfaces.notes(forcing, rows.q, rows.v, us) if surfaces else []
        return _result(
            mechanism, forcing, rows.time, rows.q, rows.v, us, rows.work, settings, said, stepper, begin, loops,
            touching or pressing,
        )  # fmt: skip

    try:
        result = finished()
    except KeyboardInterrupt as error:  # once more: the second one is meant for this
        interruption, result = error, finished()
    if interruption is not None:
        keep_result(interruption, result)
        raise interruption
    if progress is not None:
        progress(1.0)
    if failure:
        raise DivergenceError(f"{failure} {kept_up_to(result.time[-1])}", result)
    return result


def _advance(
    stepper: Stepper,
    rows: Rows,
    step: float,
    hold: int,
    touching: Touching | None,
    progress: Callable[[float], None] | None,
) -> str:
    """Fills the rows, calling what is sampled every `hold` steps; returns why the motion ended before them, or nothing."""
    count = len(rows.time) - 1
    for k in range(count):
        t, q, v = rows.time[k], rows.q[k], rows.v[k]
        if k % hold == 0:
            stepper.sample(t, q, v)
        stepper.observe(t, q, v)
        rows.u[k] = stepper.efforts
        recent = rows.q[max(k - RECENT, 0) : k + 1]
        try:
            stepper.advance(t, step, rows.q, rows.v, rows.work, k)
        except FloatingPointError as error:
            return vanishing_steps(stepper.mechanism, str(error), recent)
        after = rows.v[k + 1]
        if not np.abs(after).max(initial=0.0) < RUNAWAY:
            touched = touching.meeting(q) if touching else ()
            return divergence(stepper.mechanism, rows.time[k + 1], recent, v, after, stepper.integrator, step, touched)
        rows.u[k + 1] = rows.u[k]
        rows.reached = k + 1
        if progress is not None and k % 64 == 0:
            progress(k / count)
    stepper.observe(rows.time[count], rows.q[count], rows.v[count])
    rows.u[count] = stepper.efforts
    return ""


def _held(mechanism: Mechanism, held: Sequence[HeldPoint], method: str) -> HeldRun | None:
    """What a run with held points needs, loaded if there are any."""
    if not held and method == "rows":
        return None
    from ..contact.held.motion import check_method
    from .held import HeldRun

    check_method(method)
    if not held:
        return None

    return HeldRun.of(mechanism, held, method)


def contact_of(
    mechanism: Mechanism, contact: Contact | str, held: Sequence[HeldPoint]
) -> tuple[Touching, None] | tuple[None, Pressing]:
    """The contact of a run, by impulses or by forces; its room is loaded when it is asked for."""
    from ..contact.models import FORCE_MODELS, check_model
    from ..contact.scene import Contact
    from .pressing import Pressing
    from .touching import Touching

    if held:
        raise InputError(f"{mechanism.name}: points are held on surfaces or touch them; give `held` or `contact`, not both")
    contact = Contact(contact) if isinstance(contact, str) else contact
    if not isinstance(contact, Contact):
        raise InputError(f"{mechanism.name}: contact is {contact!r:.60}; give a kumitate.Contact, or the name of a model")
    check_model(contact.model, contact.options)
    return (None, Pressing.of(mechanism, contact)) if contact.model in FORCE_MODELS else (Touching.of(mechanism, contact), None)


def _asked(contact: Contact | str | None) -> dict[str, Any] | None:
    """What contact was asked for, as plain data."""
    if contact is None:
        return None
    from ..contact.settings import as_plain

    return as_plain(contact)


def _singular_coordinates(mechanism: Mechanism, times: np.ndarray, q: np.ndarray) -> list[str]:
    return [
        f"the angles of joint {name!r} come within {near:.2g} of their singularity at t = {times[row]:.6g} s, where they lose "
        "accuracy; the kind with a quaternion has none"
        for name, near, row in singular_angles(mechanism, q, NEAR_SINGULAR)
    ]


def _result(
    mechanism: Mechanism, forcing: Forcing, times: np.ndarray, q: np.ndarray, v: np.ndarray, u: np.ndarray, work: np.ndarray,
    settings: dict[str, Any], notes: list[str], stepper: Stepper, begin: float, loops: LoopEquations,
    touching: Touching | Pressing | None,
) -> Result:  # fmt: skip
    """The outputs along the motion, all samples in one batch (thesis 5.1: calculation of output files)."""
    touched = None
    if touching is None:
        acceleration, _ = Kernel(stepper.dynamics)(_NO_STEP, q, v, u)
    else:
        touched, acceleration, _ = contact = touching.record(forcing, float(settings["step"]), q, v, u)
        for failure in contact.failures(mechanism.name, times):
            notes.append(failure)
            warnings.warn(failure, KumitateWarning, stacklevel=3)
    kinetic, potential, center, momenta = Kernel(observables_program(mechanism))(q, v)
    total = kinetic + potential
    tau = u[:, : mechanism.nv]
    audit = Audit(
        energy_drift=float(np.abs(total - total[0] - work).max()),
        work=float(work[-1]),
        quaternion_error=quaternion_error(mechanism, q),
        limits_passed=limits_passed(mechanism, times, q, v, tau),
        loop_gaps=tuple(loops.gaps(q, v)),
        notes=(*notes, *energy_jump(times, kinetic, potential, work)),
        steps=stepper.steps,
        rejected_steps=stepper.rejected,
        wall_time=clock.perf_counter() - begin,
        efforts=tuple(stepper.actuation.lines()),
        contact=None if touched is None else contact_account(touched, kinetic),
    )
    return Result(
        mechanism, times, q, v, acceleration, tau, Energy(kinetic, potential, total), center, momenta, audit, settings, touched
    )
