"""`simulate`: from an initial state to a `Result` (thesis 5.1, fig. 5.1: initialise, integrate, compute outputs)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import Mechanism
from .checks import fitted_sample_time, fitted_step, step_notes, steps_held
from .results.result import Result

if TYPE_CHECKING:
    from ..contact.held.point import HeldPoint
    from ..contact.scene import Contact
    from .stepping.forcing import Controller

__all__ = ["simulate"]


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
    motions: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    sample_time: float | None = None,
    stabilisation: str = "lagged",
    baumgarte: float | None = None,
    held: Sequence[HeldPoint] = (),
    held_method: str = "rows",
    contact: Contact | str | None = None,
    tolerance: float = 1e-8,
    limits: bool = True,
    traced: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Simulates a mechanism.

    Args:
        mechanism: to simulate.
        q: initial coordinates (nq), the neutral ones by default; v: initial velocities (nv), zero by default.
        duration: [s].
        step: time step [s], made a little shorter if the duration is not a multiple of it; the state is recorded at its
            multiples, from 0 to the duration.
        integrator: "rkf45" or "rk4" at the fixed step, "rkf45_adaptive" within `tolerance` (relative, per step); for stiff
            systems "semi_implicit_euler" (implicit in damping and springs, order 1) or "extrapolated_euler" (the same
            extrapolated to order 8, within `tolerance`). "auto" takes rkf45, or extrapolated_euler if damping or springs are
            too fast for rkf45 at this step; the audit then says so. With rigid contact "auto" is of order 1 where bodies touch,
            and "midpoint" of order 2 between impacts.
        controller: tau = f(t, q, v) (nv) [N·m, N]; or a constant. A function that is proved pure (it keeps no state, reads no
            clock, writes to nothing) is compiled into the step; `Result.audit` says how each was evaluated, and why. After
            (t, q, v) it may have the parameters `loop_q` and `loop_v`: the coordinates of loop joints and lines
            (`Mechanism.loop_q_names`; angles between −π and π), and their rates.
        wrenches: [n; f] by name of a body or frame, likewise; in the world's axes, about the body's or frame's origin [N·m, N].
        loop_tau: forces of drives along the degrees of freedom of loop joints [N·m, N], by the loop's name, likewise.
        motions: of joints that follow a function of time, by name: their position f(t) [rad or m], or a `PrescribedMotion`.
            They begin where these do, whatever q and v say, with the loops closed around them; their efforts are the reactions,
            in `Result.tau`. They have no stops. A loop joint that follows one has a coordinate of its name in q and v.
        inputs: what the drives of joints are commanded, by name: "target" (positions [rad, m], velocities or efforts, by the
            kind of drive), "target_velocity" and "feed_forward" [N·m, N]; each an array with a value per driven joint, a
            dictionary by joint, or a function of (t, q, v). Position drives hold the start where nothing is said. Functions
            read other inputs as parameters of their names.
        sample_time: if given, controller and wrenches are called at its multiples only and held in between [s]. Without it,
            functions that keep state are called once per step, at its start, and all others are evaluated at every stage of
            the integrator; with 0, all are.
        stabilisation: how steps keep loops closed. "lagged": a step begins with one linearised projection, and projects fully
            only near singular postures and where gaps are large; "strict": every step and every stage projects fully, in two to
            three times the time.
        baumgarte: if given, loops are kept closed by errors that decay at this rate [1/s] instead of by projection after every
            step, the default; zero leaves them to drift.
        held: points that surfaces hold, with friction; they are put back onto them as loops are closed, or left to drift.
            `held_motion` then gives their forces.
        held_method: "rows" (articulated bodies), or one that `kumitate.papers` adds.
        contact: the contact model and the surroundings; or a model's name, for a floor at z = 0. Models that make velocities
            jump ("rigid") have their own integrator; "penalty" is a force, which any integrator takes, "auto"
            being rkf45_adaptive. `Result.contact` has their forces.
        tolerance: relative error of an adaptive step.
        limits: whether joints stop at their position limits (`Limits.lower`, `upper`), by impulses in steps that reach them,
            without rebound, together with the contact of bodies.
        traced: whether functions may be compiled; False calls them all.
        progress: called with the fraction done from time to time. `kumitate.simulate` draws a bar without it, in terminals and
            notebooks, for runs of more than 2 s; `lambda done: None` leaves it out.

    Raises:
        InputError: if an argument has a wrong shape or value.
        DivergenceError: if the motion diverges, or contact has no usable solution; it carries the result up to there. So does,
            as its attribute `result`, any exception that ends a run early: Ctrl-C, or an error in a controller.

    Warns:
        KumitateWarning: of steps whose contact could not be solved, with the time and the bodies; also in the audit's notes.
    """
    from .simulation import MechanismSimulation  # with integrators and controllers: loaded for the first run

    asked, step = step, fitted_step(duration, step)
    sample_time = fitted_sample_time(sample_time, asked, step)
    simulation = MechanismSimulation(
        mechanism, step=step, integrator=integrator, controller=controller, wrenches=wrenches, loop_tau=loop_tau,
        sample_time=sample_time, stabilisation=stabilisation, baumgarte=baumgarte, held=held, held_method=held_method,
        contact=contact, tolerance=tolerance, limits=limits, traced=traced, start=(q, v), inputs=inputs, motions=motions,
        equal_steps=False,
    )  # fmt: skip
    simulation.notes += step_notes(asked, step, steps_held(sample_time, step))
    return simulation.run(duration=duration, progress=progress)
