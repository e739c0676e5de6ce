"""The efforts at joints that depend on the motion that they cause: drives at their limits, and stops of joints.

Within a step h both are linear in pieces. A drive is e − r v̇ (`drives`) or its limit. A stop is nothing, or what gives its
joint the velocity t that closes the gap: λ + R (t − u)/h with R far above all inertias, which acts like an armature too; the
multiplier λ makes the rest of the error vanish (augmented Lagrangian). Which piece holds follows from the motion: a stop holds
while it pushes, and where its joint would pass it. A Newton iteration over the pieces finds the motion that agrees with them
(a primal-dual active set: Hintermüller, Ito and Kunisch 2002). `solve` may contain the contact of bodies, which is then solved
with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from ..kinematics import neutral
from ..model import Bound, Driven, Mechanism
from ..scalar import Scalar, absolute, both, either, floats, loop, maximum, minimum, select
from .crba import crba
from .drives import DriveForce, limited

__all__ = ["Push", "Settled", "Stop", "settled", "stops_at"]

#: The stiffness R of a stop relative to the inertia that its joint moves.
STIFF = 1e7
#: The largest velocity at which a joint outside its limits is brought back [rad/s or m/s].
RECOVERY = 0.5
#: A stop's velocity may miss the one that closes its gap by this [rad/s or m/s].
TOLERANCE = 1e-7
#: The largest number of passes; each is made only where some piece has changed.
PASSES = 16


@dataclass(frozen=True)
class Push:
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

    def push(self, multiplier: Scalar, holds: Scalar, h: Scalar) -> Push:
        """Its effort, linear in v̇; `holds`: 1, or 0 for none."""
        effort = self.bound.sign * self.force(multiplier, self.velocity, h)
        return Push(self.bound.v, select(holds > 0.5, effort, 0.0), select(holds > 0.5, self.stiff, 0.0))


def stops_at(mechanism: Mechanism, bounds: Sequence[Bound], q: Sequence[Scalar], v: Sequence[Scalar], h: Scalar) -> list[Stop]:
    """The stops at a state q (nq), v (nv), for a step h [s]."""
    tree = mechanism.tree
    moved = floats(row[k] for k, row in enumerate(crba(tree, neutral(tree)))) if bounds else []
    return [
        Stop(bound, minimum(-bound.gap(q) / h, RECOVERY), bound.sign * v[bound.v], STIFF * moved[bound.v]) for bound in bounds
    ]


@dataclass(frozen=True)
class Settled:
    """A motion and the efforts that it results from.

    Attributes:
        found: what `solve` gave.
        drives: the efforts of drives.
        multipliers, holds: of every stop: λ, and 1 if it holds, else 0.
        unsettled: 1 if some of these are not what the motion leads to, else 0.
    """

    found: dict[str, Any]
    drives: list[DriveForce]
    multipliers: list[Scalar]
    holds: list[Scalar]
    unsettled: Scalar


def settled(
    driven: Sequence[Driven],
    wished: Sequence[DriveForce],
    stops: Sequence[Stop],
    h: Scalar,
    solve: Callable[[Sequence[Push]], dict[str, Any]],
) -> Settled:
    """The motion in which drives are within their limits and joints within theirs.

    Args:
        driven: the joints with drives; `wished`: their efforts without limits.
        stops: of joints; h: the step [s].
        solve: the motion with given efforts; its "rates" are the changes of v (nv) over the step, divided by h.
    """

    def moved(drives: Sequence[DriveForce], multipliers: Sequence[Scalar], holds: Sequence[Scalar]) -> dict[str, Any]:
        pushes = [Push(joint.v, force.effort, force.resisting) for joint, force in zip(driven, drives, strict=True)]
        pushes += [stop.push(force, hold, h) for stop, force, hold in zip(stops, multipliers, holds, strict=True)]
        return solve(pushes)

    def seen(found: dict[str, Any], now: Settled) -> Settled:
        rates, apart = found["rates"], []
        drives = []
        for joint, wish, acted in zip(driven, wished, now.drives, strict=True):
            drives.append(limited(joint, wish, rates[joint.v]))
            if joint.limit < inf:
                apart.append(
                    absolute(drives[-1].resisting - acted.resisting) + absolute(drives[-1].effort - acted.effort) > 0.0
                )
        multipliers, holds = [], []
        for stop, multiplier, held in zip(stops, now.multipliers, now.holds, strict=True):
            rate = stop.velocity + h * stop.bound.sign * rates[stop.bound.v]
            force, missing = stop.force(multiplier, rate, h), stop.target - rate
            holding = held > 0.5
            hold = select(holding, select(force > 0.0, 1.0, 0.0), select(missing > TOLERANCE, 1.0, 0.0))
            multipliers.append(select(both(holding, hold > 0.5), maximum(force, 0.0), 0.0))
            holds.append(hold)
            apart.append(either(absolute(hold - held) > 0.5, both(hold > 0.5, absolute(missing) > TOLERANCE)))
        unsettled: Scalar = 0.0
        for condition in apart:
            unsettled = select(condition, 1.0, unsettled)
        return Settled(found, drives, multipliers, holds, unsettled)

    def again(_: Any, now: Settled) -> tuple[Settled, None]:
        return seen(moved(now.drives, now.multipliers, now.holds), now), None

    nothing: list[Scalar] = [0.0 for _ in stops]
    start = Settled({}, list(wished), nothing, nothing, 0.0)
    first = seen(moved(wished, nothing, nothing), start)
    return loop(PASSES, again, first, while_=lambda now: now.unsettled > 0.5, varies=True)[0]
