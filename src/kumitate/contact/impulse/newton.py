"""One Newton step on all contact laws at once (Alart and Curnier 1991), regularised like the loops' equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ...scalar import Scalar, maximum, minimum, select, sqrt
from ...spatial import Dense, Force, Motion, SparseFactors, dot
from .contact_points import ContactFrame
from .friction_cone import onto_cone
from .jacobians import NO_STIFFNESS, frozen
from .problem import STIFF, Impulses, Problem

__all__ = ["Approach", "again", "felt_stiffness", "newton"]

Targets = Sequence[Sequence[Scalar]]

#: Points that are closed and at rest up to this rounding error count as sticking [m/s].
TIE = 1e-10


@dataclass(frozen=True)
class Law:
    """The linearised contact law of a point near a guess, along its axes: λ' = base − K du."""

    base: list[Scalar]
    K: Dense

    def after(self, frame: ContactFrame, du: Sequence[Scalar]) -> list[Scalar]:
        """The impulse after the velocity has changed by du, projected onto the friction cone."""
        change = [dot(row, du) for row in self.K.rows]
        return onto_cone([a - b for a, b in zip(self.base, change, strict=True)], frame.friction)


@dataclass(frozen=True)
class Approach:
    """The options of a Newton step.

    Attributes:
        first: 1 to assume that points go on as before the time step, resting or sliding; 0 to use the impulses and velocities
            of the guess.
        strength: the stiffness of points relative to their surroundings. Near the solution its inverse is the error that a
            step leaves; far from it steps with less strength are more robust.
        alike: 1 for equal stiffness of all points of a patch, so that undetermined impulses have the least norm; 0 to scale it
            by each point's mass, which converges better where they slide and roll.
    """

    first: Scalar
    strength: Scalar
    alike: Scalar


def newton(given: Problem, guess: Impulses, targets: Targets, approach: Approach) -> tuple[Impulses, SparseFactors]:
    """The impulses that satisfy all laws if each point keeps its mode: apart, sticking, or sliding in the same direction.

    M dv = Jᵀ(λ' − λ), λ' = base − K J dv: (M + JᵀKJ) dv = Jᵀ(base − λ). The sparsity is that of the mass matrix, except
    for loops and patches between two moving links. Where a point slides, K is not symmetric: friction depends on normal force.

    Returns:
        The impulses, and the factors of M + JᵀKJ.
    """
    states = _states(given, guess, targets, approach)
    felt = [
        patch.if_near(_felt, *state, otherwise=(Force(), NO_STIFFNESS))
        for patch, state in zip(given.patches, states, strict=True)
    ]
    factors = given.stiffened([K for _, K in felt])
    return _after_all(given, guess, states, factors, [lack for lack, _ in felt]), factors


def again(given: Problem, guess: Impulses, targets: Targets, approach: Approach, factors: SparseFactors) -> Impulses:
    """A step with the factors of the previous one: valid where no point slides and none has changed its mode."""
    states = _states(given, guess, targets, approach)
    lacks = [patch.if_near(_lack, *state, otherwise=Force()) for patch, state in zip(given.patches, states, strict=True)]
    return _after_all(given, guess, states, factors, lacks)


def _states(given: Problem, guess: Impulses, targets: Targets, approach: Approach) -> list[tuple[Any, ...]]:
    """For each patch, everything that the laws of its points depend on."""
    twists = given.jacobians.twists(guess.v)
    return [
        (patch.frames, patch.initial_modes, frozen(impulses), patch.twist(given.jacobians, twists), tuple(wanted), approach)
        for patch, impulses, wanted in zip(given.patches, guess.points, targets, strict=True)
    ]


def _after_all(
    given: Problem, guess: Impulses, states: Sequence[tuple[Any, ...]], factors: SparseFactors, lacks: Sequence[Force]
) -> Impulses:
    """All impulses after a Newton step; `lacks`: the residual wrench of each patch."""
    still = [0.0 for _ in given.loops]  # the loops are closed: their stiffness resists any dv that would open them
    turned = given.jacobians.twists(factors.solve(given.efforts(lacks, still)))
    points = []
    for patch, state, impulses in zip(given.patches, states, guess.points, strict=True):
        change = patch.twist(given.jacobians, turned)
        points.append(patch.if_near(_after, *state, change, otherwise=impulses))
    return given.after(points, guess.loops)


def _laws(
    frames: Sequence[ContactFrame],
    initial_modes: Sequence[Sequence[Scalar]],
    impulses: Sequence[Sequence[Scalar]],
    twist: Motion,
    targets: Sequence[Scalar],
    approach: Approach,
) -> list[Law]:
    for_all = approach.strength * reduce(maximum, (frame.mass for frame in frames))
    laws = []
    for frame, initial_mode, impulse, target in zip(frames, initial_modes, impulses, targets, strict=True):
        stiff = select(approach.alike > 0.5, for_all, approach.strength * frame.mass)
        u = frame.along(twist)
        above = [u[0] - target, u[1], u[2]]
        told_by = [select(approach.first > 0.5, one, other) for one, other in zip(initial_mode, above, strict=True)]
        laws.append(_law(frame, impulse, above, told_by, stiff))
    return laws


def _felt(*state: Any) -> tuple[Force, Dense]:
    """The residual wrench of a patch, and its stiffness."""
    return _lack(*state), felt_stiffness(state[0], [law.K for law in _laws(*state)])


def _lack(frames: Sequence[ContactFrame], initial_modes: Any, impulses: Sequence[Sequence[Scalar]], *state: Any) -> Force:
    """The residual wrench of a patch: its impulses by the laws minus those of the guess."""
    total = Force()
    for frame, law, old in zip(frames, _laws(frames, initial_modes, impulses, *state), impulses, strict=True):
        total = total + frame.wrench([a - b for a, b in zip(law.base, old, strict=True)])
    return total


def _after(frames: Sequence[ContactFrame], *state: Any) -> list[list[Scalar]]:
    """A patch's impulses after its twist has changed by the last item of `state`."""
    *now, change = state
    return [law.after(frame, frame.along(change)) for frame, law in zip(frames, _laws(frames, *now), strict=True)]


def _law(frame: ContactFrame, impulse: Sequence[Scalar], u: Sequence[Scalar], told_by: Sequence[Scalar], stiff: Scalar) -> Law:
    """The law at the velocity u relative to the target; `told_by`: the velocity that decides its mode and sliding direction."""
    mu, tie = frame.friction, TIE * frame.mass
    aim, x, y = (part - rate * frame.mass for part, rate in zip(impulse, told_by, strict=True))
    closed = aim >= -tie
    length = sqrt(maximum(x * x + y * y, 1e-300))
    sticks = length <= mu * maximum(aim, 0.0) + tie
    R = select(closed, stiff, 0.0)
    holds, slides = select(sticks, R, 0.0), select(sticks, 0.0, R)
    shrink = 1.0 / length
    dx, dy = x * shrink, y * shrink
    normal = impulse[0] - stiff * u[0]
    # sliding friction keeps its size and turns with the velocity: it is stiff across, more so at lower speed
    kept = mu * maximum(impulse[0], 0.0) * shrink
    across = minimum(kept * frame.mass / maximum(1.0 - kept, 1.0 / STIFF), stiff)
    turns = select(sticks, 0.0, select(closed, across, 0.0))
    aside = turns * (dx * u[2] - dy * u[1])
    K = Dense.of(
        [
            [R, 0.0, 0.0],
            [mu * dx * slides, holds + turns * (dy * dy), -turns * (dx * dy)],
            [mu * dy * slides, -turns * (dx * dy), holds + turns * (dx * dx)],
        ]
    )
    base = [
        select(closed, normal, 0.0),
        select(closed, select(sticks, impulse[1] - stiff * u[1], mu * dx * normal + aside * dy), 0.0),
        select(closed, select(sticks, impulse[2] - stiff * u[2], mu * dy * normal - aside * dx), 0.0),
    ]
    return Law(base, K)


def felt_stiffness(frames: Sequence[ContactFrame], of_points: Sequence[Dense]) -> Dense:
    """The points' K (3×3, along their axes) as one 6×6 matrix, from the twist of a patch to its wrench."""
    total = NO_STIFFNESS
    for frame, K in zip(frames, of_points, strict=True):
        columns = []
        for k in range(6):
            du = frame.along(Motion.of([1.0 if i == k else 0.0 for i in range(6)]))
            columns.append(frame.wrench([dot(row, du) for row in K.rows]))
        total = total + Dense.columns(columns)
    return total
