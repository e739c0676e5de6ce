"""The motion in which drives are within their limits, and joints within theirs.

The efforts of drives and stops are linear in pieces; which piece holds follows from the motion: a drive is at its limit where
it would exceed it, and a stop holds while it pushes, and where its joint would pass it. A Newton iteration over the pieces
finds the motion that agrees with them (a primal-dual active set: Hintermüller, Ito and Kunisch 2002). `solve` may contain the
contact of bodies, which is then solved with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...model import Driven
from ...scalar import Scalar, absolute, both, either, loop, maximum, select
from .drives import DriveForce, limited
from .stops import JointPush, Stop, aimed

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
