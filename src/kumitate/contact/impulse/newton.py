"""One Newton step on all contact laws at once (Alart and Curnier 1991), regularised like the loops' equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ...scalar import Scalar, is_zero, maximum, minimum, select, sqrt
from ...spatial import Dense, Force, Motion, SparseFactors, dot
from .contact_points import ContactFrame
from .jacobians import NO_STIFFNESS, along, frozen
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

    def after(self, du: Sequence[Scalar]) -> list[Scalar]:
        """The impulse after the velocity has changed by du."""
        return [a - dot(row, du) for a, row in zip(self.base, self.K.rows, strict=True)]


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
    still = [0.0 for _ in given.loops]  # the loops are closed: their stiffness resists any dv that would open them
    change = factors.solve(given.efforts([lack for lack, _ in felt], still))
    return given.after(_changed(given, guess, states, change, _after), guess.loops), factors


def again(given: Problem, guess: Impulses, targets: Targets, approach: Approach, factors: SparseFactors) -> Impulses:
    """A step with the factors of the previous one: valid where no point slides and none has changed its mode.

    It solves the same equations for points and loops at once, so that neither needs sweeps over the other:
    (M + JᵀKJ + GᵀsG) dv = Jᵀ base + Gᵀμ − s Gᵀ(G v + softness μ) − M (v − v_free), λ' = base − K J dv, and μ' by the loops'
    stiffness s from v + dv. Impulses are not projected onto the laws, so that velocities and impulses belong together: where a
    mode changes, `Problem.residual` or `Problem.unbalanced` says so.
    """
    states = _states(given, guess, targets, approach)
    bases = [patch.if_near(_base, *state, otherwise=Force()) for patch, state in zip(given.patches, states, strict=True)]
    moved = [rate - free for rate, free in zip(guess.v, given.v_free, strict=True)]
    pulls = given.pulls(guess.v, guess.loops)
    left = [effort - along(given.M[i], moved) for i, effort in enumerate(given.efforts(bases, pulls))]
    change = factors.solve(left)
    v = [rate + more for rate, more in zip(guess.v, change, strict=True)]
    points = _changed(given, guess, states, change, _onwards)
    return Impulses(points, given.pulls(v, guess.loops), v)


def _states(given: Problem, guess: Impulses, targets: Targets, approach: Approach) -> list[tuple[Any, ...]]:
    """For each patch, everything that the laws of its points depend on."""
    twists = given.jacobians.twists(guess.v)
    return [
        (patch.frames, patch.initial_modes, frozen(impulses), patch.twist(given.jacobians, twists), tuple(wanted), approach)
        for patch, impulses, wanted in zip(given.patches, guess.points, targets, strict=True)
    ]


def _changed(
    given: Problem, guess: Impulses, states: Sequence[tuple[Any, ...]], change: Sequence[Scalar], after: Callable[..., Any]
) -> list[list[list[Scalar]]]:
    """The impulses of all points after the velocities have changed."""
    turned = given.jacobians.twists(change)
    return [
        patch.if_near(after, *state, patch.twist(given.jacobians, turned), otherwise=impulses)
        for patch, state, impulses in zip(given.patches, states, guess.points, strict=True)
    ]


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
        above = frame.above(u, impulse, target)
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


def _base(frames: Sequence[ContactFrame], *state: Any) -> Force:
    """The wrench of a patch by the laws, without a change of its twist."""
    laws = zip(frames, _laws(frames, *state), strict=True)
    return sum((frame.wrench(law.base) for frame, law in laws), Force())


def _onwards(frames: Sequence[ContactFrame], *state: Any) -> list[list[Scalar]]:
    """A patch's impulses after its twist has changed by the last item of `state`."""
    *now, change = state
    return [law.after(frame.along(change)) for frame, law in zip(frames, _laws(frames, *now), strict=True)]


def _after(frames: Sequence[ContactFrame], *state: Any) -> list[list[Scalar]]:
    """The same, projected onto the friction cones."""
    return [frame.onto_laws(impulse) for frame, impulse in zip(frames, _onwards(frames, *state), strict=True)]


@dataclass(frozen=True)
class _NormalLaw:
    """The law along the normal.

    Attributes:
        old: the impulse; aim: the one that decides the mode; u: the velocity; closed: the mode.
        give: how the impulse falls with the velocity where it is closed; stiff: that of what friction holds.
        tie: the rounding error of an impulse; mass: the point's.
    """

    old: Scalar
    aim: Scalar
    u: Scalar
    closed: Scalar
    give: Scalar
    stiff: Scalar
    tie: Scalar
    mass: Scalar

    @property
    def normal(self) -> Scalar:
        """The impulse without a change of velocity, where it is closed."""
        return self.old - self.give * self.u

    @property
    def R(self) -> Scalar:
        """How the impulse falls with the velocity."""
        return select(self.closed, self.give, 0.0)


def _law(frame: ContactFrame, impulse: Sequence[Scalar], u: Sequence[Scalar], told_by: Sequence[Scalar], stiff: Scalar) -> Law:
    """The law at the velocity u relative to the target; `told_by`: the velocity that decides its mode and sliding direction."""
    tie = TIE * frame.mass
    aims = [part - rate * mass for part, rate, mass in zip(impulse, told_by, frame.masses, strict=True)]
    give = stiff if is_zero(frame.softness) else stiff / (1.0 + frame.softness * stiff)
    push = _NormalLaw(impulse[0], aims[0], u[0], aims[0] >= -tie, give, stiff, tie, frame.mass)
    of_each = [frame.split(values) for values in (impulse, u, aims)]
    discs = [_disc(push, frame.friction, *(parts[1:] for parts, _ in of_each))]
    for k, turn in enumerate(frame.turns):
        discs.append(_disc(push, turn.limit, *(turning[k] for _, turning in of_each)))
    K = _joined(push.R, discs)
    return Law([select(push.closed, push.normal, 0.0), *(part for disc in discs for part in disc.base())], K)


@dataclass(frozen=True)
class _DiscLaw:
    """The law of friction or of moments, whose size has a limit that follows from the normal impulse.

    Attributes:
        rows: how each component falls with the normal velocity and with their own.
        base: gives them without a change of velocity.
    """

    rows: list[list[Scalar]]
    base: Callable[[], list[Scalar]]


def _disc(push: _NormalLaw, limit: Scalar, old: Sequence[Scalar], u: Sequence[Scalar], aims: Sequence[Scalar]) -> _DiscLaw:
    """The law of one or two components, of size `limit` times the normal impulse: they are held, or slide along `aims`."""
    length = sqrt(maximum(sum((part * part for part in aims[1:]), aims[0] * aims[0]), 1e-300))
    sticks = length <= limit * maximum(push.aim, 0.0) + push.tie
    R = push.R
    holds, slides = select(sticks, select(push.closed, push.stiff, 0.0), 0.0), select(sticks, 0.0, R)
    shrink = 1.0 / length
    d = [part * shrink for part in aims]
    normal = push.normal
    # sliding friction keeps its size and turns with the velocity: it is stiff across, more so at lower speed
    kept = limit * maximum(push.old, 0.0) * shrink
    across = minimum(kept * push.mass / maximum(1.0 - kept, 1.0 / STIFF), push.stiff)
    turns = select(sticks, 0.0, select(push.closed, across, 0.0)) if len(d) == 2 else 0.0
    dx, dy = (*d, 0.0)[:2]
    aside = turns * (dx * u[-1] - dy * u[0])
    rows = [
        [limit * dx * slides, holds + turns * (dy * dy), -turns * (dx * dy)],
        [limit * dy * slides, -turns * (dx * dy), holds + turns * (dx * dx)],
    ]

    def base() -> list[Scalar]:
        return [
            select(push.closed, select(sticks, part - push.stiff * rate, limit * ahead * normal + aside * left), 0.0)
            for part, rate, ahead, left in zip(old, u, d, (dy, -dx), strict=False)
        ]

    return _DiscLaw([row[: 1 + len(d)] for row in rows[: len(d)]], base)


def _joined(R: Scalar, discs: Sequence[_DiscLaw]) -> Dense:
    """K of all components."""
    size = 1 + sum(len(disc.rows) for disc in discs)
    rows = [[R, *[0.0] * (size - 1)]]
    for disc in discs:
        first = len(rows)
        for by_normal, *own in disc.rows:
            rows.append([by_normal, *[0.0] * (first - 1), *own, *[0.0] * (size - first - len(own))])
    return Dense.of(rows)


def felt_stiffness(frames: Sequence[ContactFrame], of_points: Sequence[Dense]) -> Dense:
    """The points' K (along their axes) as one 6×6 matrix, from the twist of a patch to its wrench."""
    total = NO_STIFFNESS
    for frame, K in zip(frames, of_points, strict=True):
        columns = []
        for k in range(6):
            du = frame.along(Motion.of([1.0 if i == k else 0.0 for i in range(6)]))
            columns.append(frame.wrench([dot(row, du) for row in K.rows]))
        total = total + Dense.columns(columns)
    return total
