"""The step in which drives keep their limits, and joints theirs: what each drive and stop asks for, and which of them hold.

**Drives.** Over a step h the effort of a drive at the state that the step leads to, q + h v' and v' = v + h v̇, is linear in
v̇: τ = e − r v̇ with r = h (kd + h kp) ≥ 0, which acts like an armature, so that stiff drives stay stable. Where |τ| would be
above the limit, the effort is the limit, a constant; which drives these are follows from the motion that results (`limited`).

Drives with states of their own are implicit in these, too, so that stiff ones such as oil stay stable. With rates f(q, v, s),
a step h changes s by δ = h (f + J δ + f_v h v̇), where J = ∂f/∂s and f_v = ∂f/∂v, evaluated where the current velocity leads
to (a linearly implicit Euler step). The effort at its end is linear in v̇, as that of other drives.

**Stops.** Within a step h a stop is nothing, or what gives its joint the velocity t that closes the gap: λ + R (t − u)/h with
R far above all inertias, which acts like an armature; the multiplier λ makes the rest of the error vanish (augmented
Lagrangian).

With loops, velocities at the end of a step do not say by how much gaps grow in it: coordinates of loop joints are curved
functions of those of the tree, and closing the loops after a step moves all of them: a stop would be missed by some h² v². So
the gaps after the step are computed where a stop may be reached.

**Which hold.** The efforts of drives and stops are linear in pieces; which piece holds follows from the motion: a drive is at
its limit where it would exceed it, and a stop holds while it pushes, and where its joint would pass it. A Newton iteration
over the pieces finds the motion that agrees with them (a primal-dual active set: Hintermüller, Ito and Kunisch 2002). `solve`
may contain the contact of bodies, which is then solved with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from ..kinematics import chord_closing, neutral
from ..model import Bound, Command, Driven, DriveWithState, Mechanism, Tree
from ..model.drives import StateLaw
from ..scalar import Scalar, Scalars, absolute, both, either, floats, is_zero, loop, maximum, minimum, select, when
from ..spatial import dot
from .crba import crba

#: A drive whose effort is within this part of its limit is at it: rounding must not make it change sides.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class DriveForce:
    """The effort of a drive in a step, e − r v̇.

    Attributes:
        effort: e [N·m or N]; `resisting`: r [kg·m² or kg], zero where the effort is constant.
    """

    effort: Scalar
    resisting: Scalar


def drive_forces(
    driven: Sequence[Driven], q: Scalars, v: Scalars, commands: Sequence[Command], states: Scalars,
    implicit_step: Scalar,
) -> list[DriveForce]:  # fmt: skip
    """The efforts of drives at a state, without their limits.

    Args:
        driven: the joints with drives; `commands`: of each.
        q, v: coordinates and velocities of all joints.
        states: of all drives that have their own, one after the other.
        implicit_step: h [s]; 0 for the efforts at this instant, which do not depend on v̇.
    """
    found = []
    for joint, command in zip(driven, commands, strict=True):
        if isinstance(joint.drive, DriveWithState):
            own = states[joint.states]
            found.append(DriveForce(*effort_of_state(joint.drive, q[joint.q], v[joint.v], command, own, implicit_step)))
            continue
        law = joint.drive.law(q[joint.q], v[joint.v], command)
        ahead = law.effort - implicit_step * law.stiffness * v[joint.v]  # at q + h v, as for the springs of joints
        found.append(DriveForce(ahead, implicit_step * (law.damping + implicit_step * law.stiffness)))
    return found


def effort_along(joint: Driven, force: DriveForce, rate: Scalar) -> Scalar:
    """The effort of a drive while its joint accelerates at `rate`, within its limit [N·m or N]."""
    wished = force.effort if is_zero(force.resisting) else force.effort - force.resisting * rate
    return maximum(minimum(wished, joint.limit), -joint.limit) if joint.limited else wished


def limited(joint: Driven, force: DriveForce, rate: Scalar) -> DriveForce:
    """The effort of a drive as it acts while its joint accelerates at `rate`: constant where the limit is reached."""
    if not joint.limited:
        return force
    wished = force.effort - force.resisting * rate
    beyond = absolute(wished) > joint.limit * (1.0 + _ROUNDING)
    most = select(wished > 0.0, joint.limit, -joint.limit)
    return DriveForce(select(beyond, most, force.effort), select(beyond, 0.0, force.resisting))


def effort_of_state(
    drive: DriveWithState, q: Scalar, v: Scalar, command: Command, state: Scalars, h: Scalar
) -> tuple[Scalar, Scalar]:
    """e and r of the effort e − r v̇ at the end of a step h; e alone, at this instant, for h = 0."""
    law = drive.state_law(q + h * v, v, command, state)
    coasting, by_rate = _changes(law, h)
    return law.effort + h * dot(law.by_state, coasting), -h * h * dot(law.by_state, by_rate)


def state_rates(
    driven: Sequence[Driven], q: Scalars, v: Scalars, commands: Sequence[Command], states: Scalars,
    rates: Scalars, h: Scalar,
) -> list[Scalar]:  # fmt: skip
    """The rates of all states of drives, means over a step h [s], while the joints accelerate at `rates`."""
    found: list[Scalar] = []
    for joint, command in zip(driven, commands, strict=True):
        if isinstance(joint.drive, DriveWithState):
            law = joint.drive.state_law(q[joint.q] + h * v[joint.v], v[joint.v], command, states[joint.states])
            coasting, by_rate = _changes(law, h)
            found += [a + h * b * rates[joint.v] for a, b in zip(coasting, by_rate, strict=True)]
    return found


def _changes(law: StateLaw, h: Scalar) -> tuple[list[Scalar], list[Scalar]]:
    """(1 − h J)⁻¹ f and (1 − h J)⁻¹ f_v.

    By elimination without exchanges: states that decay by themselves make the diagonal larger than the rest.
    """
    n = len(law.rates)
    A = [[(1.0 if i == j else 0.0) - h * law.rates_by_state[i][j] for j in range(n)] for i in range(n)]
    columns = [[rate, slope] for rate, slope in zip(law.rates, law.rates_by_velocity, strict=True)]
    for k in range(n):
        for i in range(k + 1, n):
            factor = A[i][k] / A[k][k]
            A[i] = [a - factor * b for a, b in zip(A[i], A[k], strict=True)]
            columns[i] = [a - factor * b for a, b in zip(columns[i], columns[k], strict=True)]
    for k in reversed(range(n)):
        for i in range(k + 1, n):
            columns[k] = [a - A[k][i] * b for a, b in zip(columns[k], columns[i], strict=True)]
        columns[k] = [a / A[k][k] for a in columns[k]]
    return [row[0] for row in columns], [row[1] for row in columns]


# --- stops of joints ------------------------------------------------------------------------------------------------------
#: The stiffness R of a stop relative to the inertia that its joint moves.
STIFF = 1e7
#: Of trees it is this much more, so that the first pass mostly misses by less than `TOLERANCE`, and is the last.
_STIFFER = 10.0
#: Loops are solved to fewer digits: this much less stiffness keeps the force of a stop that results from it exact to 1e-5.
_SOFTER = 1e-2
#: A coordinate whose gradient has a square below this does not depend on the posture.
_NO_GRADIENT = 1e-12
#: The largest velocity at which a joint outside its limits is brought back [rad/s or m/s].
RECOVERY = 0.5


@dataclass(frozen=True)
class JointPush:
    """An effort e − r v̇ at one degree of freedom, given by its index in v."""

    index: int
    effort: Scalar
    resisting: Scalar


@dataclass(frozen=True)
class Stop:
    """The limit of a coordinate at a state.

    Attributes:
        bound: of which coordinate.
        target: t, the least velocity away from the limit after the step [rad/s or m/s]: the one that closes the gap exactly.
        velocity: away from the limit before the step; `stiff`: R.
    """

    bound: Bound
    target: Scalar
    velocity: Scalar
    stiff: float

    def force(self, multiplier: Scalar, rate: Scalar, h: Scalar) -> Scalar:
        """What it pushes with, away from the limit, while it holds and its velocity after the step is `rate` [N·m or N]."""
        return multiplier + self.stiff * (self.target - rate) / h

    def push(self, multiplier: Scalar, holds: Scalar, h: Scalar) -> JointPush:
        """Its effort, linear in v̇; `holds`: 1, or 0 for none."""
        effort = self.bound.sign * self.force(multiplier, self.velocity, h)
        return JointPush(self.bound.v, select(holds > 0.5, effort, 0.0), select(holds > 0.5, self.stiff, 0.0))


def stops_at(bounds: Sequence[Bound], stiff: Sequence[Any], q: Scalars, v: Scalars, h: Scalar) -> list[Stop]:
    """The stops, with their stiffness, at a state for a step h [s]; q, v: of all joints, as of `Driven`."""
    return [
        Stop(bound, minimum(-bound.gap(q) / h, RECOVERY), bound.sign * v[bound.v], own)
        for bound, own in zip(bounds, stiff, strict=True)
    ]


def stiffnesses(mechanism: Mechanism, bounds: Sequence[Bound]) -> list[float]:
    """R of the stops at some limits."""
    stiff = STIFF * (1.0 if mechanism.loops else _STIFFER)
    return [stiff * inertia for inertia in moved_inertias(mechanism, [bound.v for bound in bounds])]


def aimed(stops: Sequence[Stop], shifts: Scalars) -> Sequence[Stop]:
    """The stops with targets that lead to where they are, if gaps grow faster by `shifts` than velocities say."""
    return [replace(stop, target=stop.target - shift) for stop, shift in zip(stops, shifts, strict=True)] if shifts else stops


def moved_inertias(mechanism: Mechanism, indices: Sequence[int]) -> list[float]:
    """The inertias that degrees of freedom (`freedoms`) move at the neutral posture, by their indices in v."""
    if not indices:
        return []
    tree = mechanism.tree
    moved = floats(row[k] for k, row in enumerate(crba(tree, neutral(tree))))
    if max(indices) >= tree.nv:
        moved += _moved_in_loops(tree, moved)
    return [moved[k] for k in indices]


def _moved_in_loops(tree: Tree, moved: Sequence[float]) -> list[float]:
    """Those of chords, by moving the tree along the gradient g of their coordinates: Σ mₖ gₖ² / (Σ gₖ²)²."""
    q, units = neutral(tree), [[float(i == k) for i in range(tree.nv)] for k in range(tree.nv)]
    found = []
    for chord in tree.chords:
        rates = [floats(chord_closing(tree, q, unit, chord).rates) for unit in units]
        for gradient in zip(*rates, strict=True):
            square = sum(g * g for g in gradient)
            along = sum(m * g * g for m, g in zip(moved, gradient, strict=True))
            # two points that coincide have no direction between them
            found.append(_SOFTER * (along / square**2 if square > _NO_GRADIENT else tree.mass))
    return found


#: A stop may be reached if a joint that is faster than all others by this would get there in the step [rad/s or m/s].
FASTER = 1.0


def advances(
    stops: Sequence[Stop], place: Scalars, ends: Callable[[], Scalars], after: Scalars,
    rates: Scalars, h: Scalar,
) -> list[Scalar]:  # fmt: skip
    """By how much the gap of every stop grows in a step, divided by h [rad/s or m/s].

    Args:
        place: the coordinates of all joints before the step; `ends`: the gaps after it, with the loops closed.
        after: the velocities (nv) after it; `rates`: the changes of those of all joints, divided by h.
    """
    gaps = [stop.bound.gap(place) for stop in stops]
    straight = [stop.velocity + h * stop.bound.sign * rates[stop.bound.v] for stop in stops]
    least = reduce(minimum, (gap + h * rate for gap, rate in zip(gaps, straight, strict=True)))
    reach = h * (reduce(maximum, map(absolute, after)) + FASTER)

    def exactly() -> list[Scalar]:
        return [(end - gap) / h for gap, end in zip(gaps, ends(), strict=True)]

    return when(least < reach, exactly, straight)  # type: ignore[no-any-return]


# --- the settled motion ---------------------------------------------------------------------------------------------------
#: A stop's velocity may miss the one that closes its gap by this [rad/s or m/s].
TOLERANCE = 1e-7
#: The largest number of passes; each is made only where some piece has changed.
PASSES = 16
#: From this pass on, what holds is not let go any more: with restitution, a joint may pass its limit where its stop does
#: not hold, and a contact that rebounds less, so that no energy is gained, may leave the stop nothing to push where it does.
LAST = 8


@dataclass(frozen=True)
class Settled:
    """A motion and the efforts that it results from.

    Attributes:
        found: what `solve` gave.
        drives: the efforts of drives.
        multipliers, holds: of every stop: λ, and 1 if it holds, else 0.
        unsettled: 1 if some of these are not what the motion leads to, else 0.
        passes: how many were made.
        shifts: of every stop, by how much its gap grows faster than its velocity says (`advances`); empty where it does not.
    """

    found: dict[str, Any]
    drives: list[DriveForce]
    multipliers: list[Scalar]
    holds: list[Scalar]
    unsettled: Scalar
    passes: Scalar
    shifts: list[Scalar] = field(default_factory=list)


def starting(wished: Sequence[DriveForce], stops: Sequence[Stop], *, curved: bool = False) -> Settled:
    """The pieces of the first pass: drives without their limits, stops that hold nothing; `curved`: as of `settled`."""
    nothing: list[Scalar] = [0.0 for _ in stops]
    return Settled({}, list(wished), nothing, nothing, 0.0, 0.0, list(nothing) if curved else [])


def going_on(driven: Sequence[Driven], start: Settled, last: Settled) -> Settled:
    """The pieces of the first pass as in the last step: a joint at rest at its stop, or with all its drive can give, needs no
    second one.

    Args:
        driven: the joints with drives; start: as of `starting`.
        last: the pieces that the last step ended with.
    """
    drives = []
    for joint, wish, old in zip(driven, start.drives, last.drives, strict=True):
        full = both(absolute(old.effort) >= joint.limit, old.resisting <= 0.0) if joint.limited else False
        drives.append(DriveForce(select(full, old.effort, wish.effort), select(full, 0.0, wish.resisting)))
    return replace(start, drives=drives, holds=list(last.holds))


def pushes_of(driven: Sequence[Driven], stops: Sequence[Stop], h: Scalar, now: Settled) -> list[JointPush]:
    """The efforts at joints of some pieces."""
    pushes = [JointPush(joint.v, force.effort, force.resisting) for joint, force in zip(driven, now.drives, strict=True)]
    found = zip(aimed(stops, now.shifts), now.multipliers, now.holds, strict=True)
    return pushes + [stop.push(force, hold, h) for stop, force, hold in found]


def seen(
    driven: Sequence[Driven], wished: Sequence[DriveForce], stops: Sequence[Stop], h: Scalar, found: dict[str, Any],
    now: Settled,
) -> Settled:  # fmt: skip
    """The pieces that a motion `found` with the pieces `now` leads to; other arguments as of `settled`."""
    rates, apart = found["rates"], []
    drives = []
    for joint, wish, acted in zip(driven, wished, now.drives, strict=True):
        drives.append(limited(joint, wish, rates[joint.v]))
        if joint.limited:
            apart.append(absolute(drives[-1].resisting - acted.resisting) + absolute(drives[-1].effort - acted.effort) > 0.0)
    multipliers, holds, shifts = [], [], []
    for k, (stop, multiplier, held) in enumerate(zip(aimed(stops, now.shifts), now.multipliers, now.holds, strict=True)):
        rate = stop.velocity + h * stop.bound.sign * rates[stop.bound.v]
        force, missing = stop.force(multiplier, rate, h), stop.target - rate
        if now.shifts:
            shifts.append(found["advances"][k] - rate)
            missing = stops[k].target - found["advances"][k]
        holding = held > 0.5
        needed = select(holding, select(force > 0.0, 1.0, 0.0), select(missing > TOLERANCE, 1.0, 0.0))
        hold = select(both(holding, now.passes > LAST), 1.0, needed)
        multipliers.append(select(both(holding, hold > 0.5), maximum(force, 0.0), 0.0))
        holds.append(hold)
        apart.append(either(absolute(hold - held) > 0.5, both(hold > 0.5, absolute(missing) > TOLERANCE)))
    unsettled: Scalar = 0.0
    for condition in apart:
        unsettled = select(condition, 1.0, unsettled)
    return Settled(found, drives, multipliers, holds, unsettled, now.passes + 1.0, shifts)


def settled(
    driven: Sequence[Driven],
    wished: Sequence[DriveForce],
    stops: Sequence[Stop],
    h: Scalar,
    solve: Callable[[Sequence[JointPush]], dict[str, Any]],
    *,
    curved: bool = False,
    freely: Callable[[Sequence[JointPush]], list[Scalar]] | None = None,
) -> Settled:
    """The motion in which drives are within their limits and joints within theirs.

    Args:
        driven: the joints with drives; `wished`: their efforts without limits.
        stops: of joints; h: the step [s].
        solve: the motion with given efforts; its "rates" are the changes of v (nv) over the step, divided by h.
        curved: whether closed loops keep coordinates from moving in a step as their velocities at its end say; "advances" of
            the motion is then by how much the gap of every stop grows, divided by h (`advances`).
        freely: "rates" without what makes `solve` long: a guess of the pieces, for which contact need not be solved.
    """

    def after(now: Settled) -> Settled:
        return seen(driven, wished, stops, h, solve(pushes_of(driven, stops, h, now)), now)

    start = starting(wished, stops, curved=curved)
    if freely is not None:
        guess = seen(driven, wished, stops, h, {"rates": freely(pushes_of(driven, stops, h, start))}, start)
        start = replace(guess, found={}, passes=0.0)
    first = after(start)
    return loop(PASSES, lambda _, now: (after(now), None), first, while_=lambda now: now.unsettled > 0.5, varies=True)[0]
