"""Simulating: from an initial state to a `Result` (thesis 5.1, fig. 5.1: initialise, integrate, compute outputs)."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis import LoopEquations, closed_state
from ..compile import Kernel
from ..errors import DivergenceError, InputError
from ..kinematics import neutral
from ..model import Mechanism, check_resistance
from .audit import Audit, contact_account, limits_passed, quaternion_error
from .checks import by_name, check_memory, checked_baumgarte, checked_state, checked_tolerance, step_count, steps_held
from .forcing import Controller, Forcing
from .integrators import INTEGRATORS, Integrator
from .result import Energy, Result
from .stepper import Stabilisation, Stepper
from .stiffness import fastest_rate
from .system import dynamics_program, observables_program

if TYPE_CHECKING:
    from ..contact.held_motion import Held
    from ..contact.held_point import HeldPoint
    from ..contact.scene import Contact
    from .held import HeldRun
    from .pressing import Pressing
    from .touching import Touching

__all__ = ["simulate"]

#: Velocities beyond this [rad/s or m/s] mean that the simulation has run away.
RUNAWAY = 1e9
#: A joint whose own coordinates come this close to their singularity is reported.
NEAR_SINGULAR = 0.02


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
            extrapolated to order 8, within `tolerance`). "auto" takes rkf45, unless damping or springs are too fast for it at
            this step; the audit then says so.
        controller: tau = f(t, q, v) (nv) [N·m, N], evaluated at every stage of the integrator; or a constant.
        wrenches: [n; f] by name of a body or frame, likewise; in the world's axes, about the body's or frame's origin [N·m, N].
        loop_tau: forces of drives along the freedoms of loop joints [N·m, N], by the loop's name, likewise.
        sample_time: if given, controller and wrenches are evaluated at its multiples only and held in between [s].
        baumgarte: if given, loops are kept closed by errors that decay at this rate [1/s] instead of by projection after every
            step, the default; zero leaves them to drift.
        held: points that surfaces hold, with friction; they are put back onto them as loops are closed, or left to drift.
            `held_motion` then gives their forces.
        held_method: "rows" (articulated bodies), or "newton_euler" (the extended Newton-Euler method, without loops).
        contact: what touches the mechanism, by which model; a model's name for a floor at z = 0. Models that make velocities
            jump ("rigid", "multipoint") have steps of their own; "penalty" is forces, which any integrator takes, "auto" being
            rkf45_adaptive. `Result.contact` has their forces.
        traced: whether functions of plain arithmetic may be compiled; False calls them all.
        progress: called with the fraction done, now and then.

    Raises:
        InputError: if an argument has a wrong shape or value.
        DivergenceError: if the motion runs away; it carries the result up to there.
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
        method = touching.integrator(integrator, step, q0, v0)
    forcing = Forcing(mechanism, controller, by_name("wrenches", wrenches), by_name("loop_tau", loop_tau))
    stabilisation = Stabilisation() if baumgarte is None else Stabilisation(False, checked_baumgarte(baumgarte))
    loops = LoopEquations(mechanism)
    q0, v0 = closed_state(loops, q0, v0)
    q0, v0 = surfaces.start(q0, v0) if surfaces else (q0, v0)
    loops.lines.check_directions(q0, v0, forcing.drives)
    points = surfaces.held if surfaces else None

    sampled = hold is not None or forcing.constant
    stepper = Stepper(
        mechanism, method, forcing, q0, v0, held=sampled, traced=traced, stabilisation=stabilisation, points=points,
        impacts=touching.impacts if touching else None, pressing=pressing.forces if pressing else None,
    )  # fmt: skip
    times = np.arange(count + 1) * step
    qs, vs = np.empty((count + 1, mechanism.nq)), np.empty((count + 1, mechanism.nv))
    us, work = np.empty((count + 1, forcing.size)), np.zeros(count + 1)
    qs[0], vs[0] = q0, v0
    reached, failure = count, ""
    for k in range(count):
        if hold is None or k % hold == 0:
            stepper.sample(times[k], qs[k], vs[k])
        us[k] = stepper.efforts
        try:
            stepper.advance(times[k], step, qs, vs, work, k)
        except FloatingPointError as error:
            reached, failure = k, str(error)
            break
        if not np.abs(vs[k + 1]).max(initial=0.0) < RUNAWAY:
            reached, failure = k, _runaway(mechanism, times[k + 1], qs[k], vs[k], vs[k + 1], method, step)
            break
        if progress is not None and k % 64 == 0:
            progress(k / count)
    if hold is None:
        stepper.sample(times[reached], qs[reached], vs[reached])
    us[reached] = stepper.efforts

    kept = slice(0, reached + 1)
    us = stepper.efforts_along(times[kept], qs[kept], vs[kept], us[kept])
    notes += _singular_coordinates(mechanism, times[kept], qs[kept])
    notes += surfaces.notes(forcing, qs[kept], vs[kept], us) if surfaces else []
    settings = {
        "duration": duration, "step": step, "integrator": method.name, "sample_time": sample_time, "forcing": stepper.mode,
        "wrenches": forcing.places, "loop_tau": list(forcing.drives), "baumgarte": baumgarte,
        "held": [point.label for point in held], "contact": _asked(contact),
    }  # fmt: skip
    result = _result(
        mechanism, forcing, times[kept], qs[kept], vs[kept], us, work[kept], settings, notes, stepper, begin, loops,
        points, touching or pressing,
    )  # fmt: skip
    if progress is not None:
        progress(1.0)
    if failure:
        raise DivergenceError(f"{failure} The result up to t = {times[reached]:.6g} s is kept in the error's `result`.", result)
    return result


def _held(mechanism: Mechanism, held: Sequence[HeldPoint], method: str) -> HeldRun | None:
    """What a run with held points needs, loaded if there are any."""
    if not held and method == "rows":
        return None
    from ..contact.held_motion import check_method
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
    from ..contact.plain import as_plain

    return as_plain(contact)


def chosen_integrator(
    mechanism: Mechanism, name: str, step: float, tolerance: float, q: np.ndarray, v: np.ndarray, notes: list[str]
) -> Integrator:
    """The integrator of this name; what "auto" takes besides rkf45 is told in `notes`."""
    if name == "auto":
        rate, joint = fastest_rate(mechanism, q, v)
        name = "rkf45" if rate * step < 2.5 else "semi_implicit_euler"
        if name != "rkf45":
            notes.append(
                f"integrator: damping or springs at {joint!r} act at {rate:.3g} 1/s, too fast for explicit {step:g} s steps; "
                "semi_implicit_euler was taken, which is implicit in them (order 1). extrapolated_euler is, too, and of order 8"
            )
    if not isinstance(name, str) or name not in INTEGRATORS:
        raise InputError(f"there is no integrator {name!r}; there are auto, {', '.join(INTEGRATORS)}")
    kind = INTEGRATORS[name]
    tolerance = checked_tolerance(tolerance)
    if not kind.adaptive:
        return kind()
    return kind(relative=tolerance, absolute=tolerance * 1e-2)  # type: ignore[call-arg]


def _runaway(
    mechanism: Mechanism, t: float, q: np.ndarray, v_before: np.ndarray, v: np.ndarray, method: Integrator, step: float
) -> str:
    lost = ~np.isfinite(v)
    speeds = np.where(lost, np.inf, np.abs(v))
    worst = int(np.argmax(np.abs(v_before) if lost.all() else speeds))
    rate, joint = fastest_rate(mechanism, q, v_before)
    remedy = "Take a smaller step, or integrator='rkf45_adaptive'."
    if rate * step > 1.0:
        remedy = (
            f"Damping or springs at {joint!r} act at {rate:.3g} 1/s: take integrator='semi_implicit_euler' or "
            "'extrapolated_euler', which are implicit in them."
        )
    return (
        f"{mechanism.name}: the simulation runs away at t = {t:.6g} s: the velocity of {mechanism.v_names[worst]!r} goes from "
        f"{v_before[worst]:.3g} to {v[worst]:.3g} in one step of {step:g} s with {method.name}. {remedy}"
    )


def _singular_coordinates(mechanism: Mechanism, times: np.ndarray, q: np.ndarray) -> list[str]:
    notes = []
    for link in mechanism.tree.links:
        if link.kind.singularity([0.3] * link.kind.nq) == 1.0:
            continue
        distances = [link.kind.singularity(row[link.q_start : link.q_start + link.kind.nq]) for row in q]
        nearest = int(np.argmin(distances))
        if distances[nearest] < NEAR_SINGULAR:
            notes.append(
                f"the angles of joint {link.name!r} come within {distances[nearest]:.2g} of their singularity at "
                f"t = {times[nearest]:.6g} s, where they lose accuracy; the kind with a quaternion has none"
            )
    return notes


def _result(
    mechanism: Mechanism, forcing: Forcing, times: np.ndarray, q: np.ndarray, v: np.ndarray, u: np.ndarray, work: np.ndarray,
    settings: dict[str, Any], notes: list[str], stepper: Stepper, begin: float, loops: LoopEquations,
    points: Held | None, touching: Touching | Pressing | None,
) -> Result:  # fmt: skip
    """The outputs along the motion, all samples in one batch (thesis 5.1: calculation of output files)."""
    touched = None
    if touching is None:
        acceleration, _ = Kernel(dynamics_program(mechanism, forcing, implicit_damping=False, held=points))(0.0, q, v, u)
    else:
        touched, acceleration = touching.record(forcing, float(settings["step"]), q, v, u)
    kinetic, potential, center, momenta = Kernel(observables_program(mechanism))(q, v)
    total = kinetic + potential
    tau = u[:, : mechanism.nv]
    audit = Audit(
        energy_drift=float(np.abs(total - total[0] - work).max()),
        work=float(work[-1]),
        quaternion_error=quaternion_error(mechanism, q),
        limits_passed=limits_passed(mechanism, times, q, v, tau),
        loop_gaps=tuple(loops.gaps(q, v)),
        notes=tuple(notes),
        steps=stepper.steps,
        rejected_steps=stepper.rejected,
        wall_time=clock.perf_counter() - begin,
        contact=None if touched is None else contact_account(touched, kinetic),
    )
    return Result(
        mechanism, times, q, v, acceleration, tau, Energy(kinetic, potential, total), center, momenta, audit, settings, touched
    )
