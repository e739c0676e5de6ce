"""Stops of joints at their limits, as efforts in a step.

Within a step h a stop is nothing, or what gives its joint the velocity t that closes the gap: λ + R (t − u)/h with R far above
all inertias, which acts like an armature; the multiplier λ makes the rest of the error vanish (augmented Lagrangian).

By how much the gaps of stops grow in a step of a mechanism with loops, which is not what velocities at its end say.

Coordinates of loop joints are curved functions of those of the tree, and closing the loops after a step moves all of them: a
stop would be missed by some h² v². So the gaps after the step are computed where a stop may be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from ...kinematics import chord_closing, neutral
from ...model import Bound, Mechanism, Tree
from ...scalar import Scalar, Scalars, absolute, floats, maximum, minimum, select, when
from ..crba import crba

#: The stiffness R of a stop relative to the inertia that its joint moves.
STIFF = 1e7
#: Of trees it is this much more, so that the first pass mostly misses by less than `settled.TOLERANCE`, and is the last.
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
