"""The recorded states of a run, filled while it goes on, and the `Record` with all outputs of all rows (thesis 5.1)."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..analysis import LoopEquations, LoopGap
from ..errors import warn
from ..model import Bound, Mechanism, by_loop, drive_states
from ..model.bounds import at_stops
from ..records.audit import Audit, contact_account, energy_balance, energy_notes, limits_passed, quaternion_error
from ..records.record import Energy, Record
from .divergence import RUNAWAY, Exchange, divergence, runaway, singular_angles, vanishing_steps
from .driving.actuation import Actuation
from .driving.forcing import read_by
from .interactions import Interaction
from .stepping.advance import Stepper
from .stepping.outputs import STATE

#: Number of records before a failure that are searched for its cause.
RECENT = 10
#: Approximate time between two checks of the computed rows [s].
LOOK = 0.03
#: The number of rows between two checks grows at most by this factor at once, as the first of them may be quick ones.
LEAP = 8.0
#: Operations of machine code that take a few milliseconds at most.
SHORT = 5_000_000


@dataclass
class Rows:
    """The recorded states of a run, `every` so many steps; those up to `reached` are complete.

    Attributes:
        time: (n) [s]; `q`, `v`, `work`, `error`: carried by the steps; `u`: the efforts; outputs: by name.
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
    until: Callable[..., bool] | None = None,
) -> str:
    """Fills the rows, calling sampled functions every `hold` steps; returns why the motion ended too early, or "".

    `until`: evaluated at every row, with the outputs that it reads by name; the rows end where it is true.
    """
    reads = () if until is None else read_by(until, rows.outputs, f"{interaction.mechanism.name}: until", "output")
    count, told, looked = len(rows.time) - 1, 0.0, clock.perf_counter()
    share = max(1, SHORT // (rows.every * stepper.operations)) if stepper.whole else 1
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
        share = grown(records, clock.perf_counter() - begin)
        rows.u[k + 1 : k + records + 1] = rows.u[k]
        failure = _checked(stepper, rows, k + records, interaction)
        if failure or rows.reached == count or clock.perf_counter() - looked > LOOK:
            failure, looked = _gained(stepper, rows, interaction) or failure, clock.perf_counter()
        if until is not None:
            for row in range(k + 1, rows.reached + 1):
                more = {name: rows.outputs[name][row].copy() for name in reads}
                if until(float(rows.time[row]), rows.q[row].copy(), rows.v[row].copy(), **more):
                    rows.reached = row
                    return ""
        if failure:
            return failure
    stepper.observe()
    rows.u[count] = stepper.efforts
    return ""


def grown(records: int, spent: float) -> int:
    """How many records take half of `LOOK`, where so many took `spent` [s]; not less, and at most `LEAP` times as many."""
    return round(records * min(LEAP, max(1.0, 0.5 * LOOK / (spent + 1e-9))))


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
        compiled.mechanism, rows.time[k + 1], rows.q[max(k - RECENT, 0) : k + 1], rows.v[k : k + 2],
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


# --- from the rows to the result ------------------------------------------------------------------------------------------
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
) -> Record:
    """The result of a recorded motion, with all outputs along it; warns of what `Touched.warnings` says of its contact."""
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
        for warning in touched.warnings(mechanism, time, v, step):
            notes.append(warning)
            warn(warning)
    kinetic, potential, center, momenta = compiled.observed(q, v, u)
    total, efforts = kinetic + potential, u[:, : mechanism.nv]
    if compiled.follows:
        efforts = compiled.joint_efforts(step, q, v, u)
    tau = efforts[:, : mechanism.nv]
    inputs = actuation.forcing.layout.rows(u)
    wrenches, loop_tau = dict(inputs.wrenches), dict(inputs.loop_tau)
    of_loops = by_loop(mechanism, efforts.T) if efforts.shape[1] > mechanism.nv else {}
    for name in (joint.name for joint in mechanism.driven if joint.name in of_loops):
        loop_tau[name] = loop_tau.get(name, 0.0) + np.array(of_loops[name]).T
    stopped = at_stops(bounds, q, AT_STOP)
    if touched is not None:
        stopped |= touched.record.force.any(axis=(1, 2))
    gaps = tuple(loops.gaps(q, v)) if loops.names else ()
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
        contact=None if touched is None else contact_account(touched.record, kinetic, touched.solver),
    )
    record = None if touched is None else touched.record
    energy = Energy(kinetic, potential, total)
    made, settings = _as_parameters_made_it(mechanism, actuation, rows.u[0], settings)
    return Record(
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
