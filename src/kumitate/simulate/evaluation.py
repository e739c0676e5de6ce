"""From the recorded rows of a run to its `Result`: all outputs, each for all rows in one batch (thesis 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis import LoopEquations, LoopGap
from ..errors import warn
from ..model import Bound, Mechanism, by_loop, drive_states
from .divergence import singular_angles
from .driving.actuation import Actuation
from .interactions import Interaction
from .results.audit import Audit, contact_account, energy_balance, energy_notes, limits_passed, quaternion_error
from .results.result import Energy, Result
from .rows import Rows
from .stepping.advance import Stepper

#: A joint whose own coordinates come this close to their singularity is reported.
NEAR_SINGULAR = 0.02
#: A joint is at its stop within this distance [rad, m].
AT_STOP = 1e-9
#: Loops are near a singular posture where a singular value of theirs is below this part of what it mostly is, at so many
#: postures; it is zero below that part of the largest.
_NEAR, _SOME, _ZERO = 0.2, 20, 1e-6
#: Loops that are projected closed are reported above this gap, on the mechanism's size or on a meter if that is more.
_OPEN = 1e-12


def result_of(
    rows: Rows,
    stepper: Stepper,
    interaction: Interaction,
    loops: LoopEquations,
    bounds: Sequence[Bound],
    settings: dict[str, Any],
    notes: list[str],
) -> Result:
    """The result of a recorded motion, with all outputs along it.

    Warns:
        KumitateWarning: of steps whose contact could not be solved, of bodies that overlap at the start, have passed a surface,
            or turn by more than a radian in a step.
    """
    mechanism, compiled, actuation = interaction.mechanism, stepper.compiled, stepper.actuation
    time, q, v, work = rows.time, rows.q, rows.v, rows.work
    outputs = dict(rows.outputs)
    held, states = rows.u, outputs.pop("states", None)
    if states is not None:
        held = held.copy()
        held[:, actuation.forcing.layout.at("states")] = states
    u = compiled.efforts_along(time, q, v, held)
    notes = [*notes, *actuation.changed(), *_singular_coordinates(mechanism, time, q)]
    notes += interaction.notes(actuation.forcing, q, v, u)
    step = float(settings["step"])
    touched = stepper.touched(q, v, u)
    if touched is None:
        acceleration = compiled.accelerations(step, q, v, u)
    else:
        acceleration = touched.acceleration
        notes += touched.notes
        from .results.contact_record import fast_turns  # loaded only where something touches

        name = mechanism.name
        told = [*touched.overlaps(name, step), *touched.failures(name, time), *touched.sunk(name, time)]
        for failure in [*told, *fast_turns(mechanism, time, v, step)]:
            notes.append(failure)
            warn(failure)
    kinetic, potential, center, momenta = compiled.observed(q, v, u)
    total, efforts = kinetic + potential, u[:, : mechanism.nv]
    if compiled.follows:
        efforts = compiled.joint_efforts(step, q, v, u)
    tau = efforts[:, : mechanism.nv]
    inputs = actuation.forcing.layout.rows(u)
    wrenches, loop_tau = dict(inputs.wrenches), dict(inputs.loop_tau)
    of_loops = by_loop(mechanism, efforts.T)
    for name in (joint.name for joint in mechanism.driven if joint.name in of_loops):
        loop_tau[name] = loop_tau.get(name, 0.0) + np.array(of_loops[name]).T
    stopped: Any = np.zeros(len(time), dtype=bool) if touched is None else touched.record.force.any(axis=(1, 2))
    for bound in (bound for bound in bounds if bound.q < mechanism.nq):
        stopped = stopped | (bound.gap(list(q.T)) < AT_STOP)
    gaps = tuple(loops.gaps(q, v))
    if gaps and compiled.keeps_closed:
        notes += _open_loops(gaps, mechanism.tree.size)
    energies = np.stack([kinetic, potential])
    balance = energy_balance(energies, work, stopped, compiled.integrator.order)
    unexplained = energy_notes(time, energies, work, balance["remedy"], lambda k: _passes_singular(loops, q, k))
    audit = Audit(
        **balance,
        work=float(work[-1]),
        quaternion_error=quaternion_error(mechanism, q),
        limits_passed=limits_passed(mechanism, time, q, v, tau, loop_tau),
        loop_gaps=gaps,
        notes=(*notes, *unexplained),
        steps=stepper.steps,
        rejected_steps=stepper.rejected,
        efforts=tuple(actuation.lines()),
        contact=None if touched is None else contact_account(touched.record, kinetic),
    )
    record = None if touched is None else touched.record
    energy = Energy(kinetic, potential, total)
    made, settings = _as_parameters_made_it(mechanism, actuation, rows.u[0], settings)
    return Result(
        made, time, q, v, acceleration, tau, energy, center, momenta, audit, settings, record, outputs,
        wrenches=wrenches, loop_tau=loop_tau, drive_states=_by_name(mechanism, inputs.states),
    )  # fmt: skip


def _open_loops(gaps: Sequence[LoopGap], size: float) -> list[str]:
    """A note on the loop that projection leaves open most, if any."""
    worst = max(gaps, key=lambda gap: gap.size(size))
    if worst.size(size) <= _OPEN * max(1.0, size):
        return []
    return [
        f"loop {worst.name!r} is open by up to {worst.distance:.3g} m and {worst.angle:.3g} rad where projection did "
        "not close it: the step is too long for links so fast, or for a singular posture; take a smaller one, or rkf45_adaptive"
    ]


def _passes_singular(loops: LoopEquations, q: np.ndarray, k: int) -> bool:
    """Whether the loops are much nearer to losing rank at q[k] or q[k + 1] than they mostly are along the motion."""
    some = np.linspace(0, len(q) - 1, _SOME).astype(int)
    at = q[[k, k + 1, *some]]
    J = loops.jacobians(at, np.zeros((len(at), loops.mechanism.nv))) if loops.names else np.zeros((0, 0, 0))
    if not J.size:  # no loops, or lines alone
        return False
    sizes = np.linalg.svd(J, compute_uv=False)
    rank = int((sizes > _ZERO * sizes.max()).sum(axis=1).max())
    least = sizes[:, rank - 1]
    return bool(least[:2].min() < _NEAR * np.median(least[2:]))


def _by_name(mechanism: Mechanism, states: np.ndarray) -> dict[str, np.ndarray]:
    """The own states (n, k) of drives by the names of joint and number."""
    names = [f"{joint.name}.{name}" for joint in mechanism.driven for name in drive_states(joint.drive)]
    return dict(zip(names, states.T, strict=True))


def _as_parameters_made_it(
    mechanism: Mechanism, actuation: Actuation, u: np.ndarray, settings: dict[str, Any]
) -> tuple[Mechanism, dict[str, Any]]:
    """The mechanism with the parameters of a run as its own numbers, and the settings that say them."""
    varied = actuation.forcing.parameters
    if varied is None:
        return mechanism, settings
    plant = varied.plant_of(u[actuation.forcing.layout.at("parameters")])
    told: dict[str, Any] = {"parameters": {name: value.tolist() for name, value in actuation.parameters(u).items()}}
    if plant.contact is not None:
        from ..contact.settings import as_plain  # loaded only where something touches

        told["contact"] = as_plain(plant.contact)
    return plant.mechanism, {**settings, **told}


def _singular_coordinates(mechanism: Mechanism, times: np.ndarray, q: np.ndarray) -> list[str]:
    return [
        f"the angles of joint {name!r} come within {near:.2g} of their singularity at t = {times[row]:.6g} s, where they lose "
        "accuracy; the kind with a quaternion has none"
        for name, near, row in singular_angles(mechanism, q, NEAR_SINGULAR)
    ]
