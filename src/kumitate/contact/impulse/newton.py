"""One Newton step on all contact laws at once (Alart and Curnier 1991), regularised like the loops' equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ...scalar import Scalar, Scalars, both, is_zero, maximum, select
from ...spatial import Dense, Force, Motion, SparseFactors, dot
from ..laws import disc_law, normal_law
from .frames import ContactFrame
from .jacobians import NO_STIFFNESS, along, frozen
from .problem import Impulses, Problem

Targets = Sequence[Scalars]


@dataclass(frozen=True)
class Law:
    """The linearised contact law of a point near a guess, along its axes: λ' = base − K du."""

    base: list[Scalar]
    K: Dense

    def after(self, du: Scalars) -> list[Scalar]:
        """The impulse after the velocity has changed by du."""
        return [a - dot(row, du) for a, row in zip(self.base, self.K.rows, strict=True)]


@dataclass(frozen=True)
class Approach:
    """The options of a Newton step."""

    # 1 to assume that points go on as before the time step, resting or sliding; 0 to use the state of the guess
    first: Scalar
    # the stiffness of points relative to their surroundings. Near the solution its inverse is the error that a step leaves; far
    # from it steps with less strength are more robust
    strength: Scalar
    # 1 for equal stiffness of all points of a patch, so that undetermined impulses have the least norm; 0 to scale it by each
    # point's mass, which converges better where they slide and roll
    alike: Scalar
    # 1 to assume that points stick that do not push yet: with much friction, sliding on may push a point further in (Painlevé)
    sticks: Scalar = 0.0


def newton(given: Problem, guess: Impulses, targets: Targets, approach: Approach) -> tuple[Impulses, SparseFactors]:
    """The impulses that satisfy all laws if each point keeps its mode, apart, sticking, or sliding in the same direction.

    M dv = Jᵀ(λ' − λ), λ' = base − K J dv: (M + JᵀKJ) dv = Jᵀ(base − λ). The sparsity is that of the mass matrix, except
    for loops and patches between two moving links. Where a point slides, K is not symmetric: friction depends on normal force.
    Returned with the factors of M + JᵀKJ.
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
    twists = given.twists(guess.v)
    return [
        (
            patch.frames,
            tuple(p.initial_mode for p in patch.points),
            frozen(impulses),
            patch.twist(given.jacobians, twists),
            tuple(wanted),
            approach,
        )
        for patch, impulses, wanted in zip(given.patches, guess.points, targets, strict=True)
    ]


def _changed(
    given: Problem, guess: Impulses, states: Sequence[tuple[Any, ...]], change: Scalars, after: Callable[..., Any]
) -> list[list[list[Scalar]]]:
    """The impulses of all points after the velocities have changed."""
    turned = given.turned(change)
    return [
        patch.if_near(after, *state, patch.twist(given.jacobians, turned), otherwise=impulses)
        for patch, state, impulses in zip(given.patches, states, guess.points, strict=True)
    ]


def _laws(
    frames: Sequence[ContactFrame],
    initial_modes: Sequence[Scalars],
    impulses: Sequence[Scalars],
    twist: Motion,
    targets: Scalars,
    approach: Approach,
) -> list[Law]:
    for_all = approach.strength * reduce(maximum, (frame.mass for frame in frames))
    laws = []
    for frame, initial_mode, impulse, target in zip(frames, initial_modes, impulses, targets, strict=True):
        stiff = select(approach.alike > 0.5, for_all, approach.strength * frame.mass)
        u = frame.along(twist)
        above = frame.above(u, impulse, target)
        told_by = [select(approach.first > 0.5, one, other) for one, other in zip(initial_mode, above, strict=True)]
        if not is_zero(approach.sticks):
            jammed = both(approach.sticks > 0.5, impulse[0] <= 0.0)
            told_by[1:] = [select(jammed, 0.0, part) for part in told_by[1:]]
        laws.append(_law(frame, impulse, above, told_by, stiff))
    return laws


def _felt(frames: Sequence[ContactFrame], initial_modes: Any, impulses: Any, *state: Any) -> tuple[Force, Dense]:
    """The residual wrench of a patch, its impulses by the laws minus those of the guess; and its stiffness."""
    laws, lack = _laws(frames, initial_modes, impulses, *state), Force()
    for frame, law, old in zip(frames, laws, impulses, strict=True):
        lack = lack + frame.wrench([a - b for a, b in zip(law.base, old, strict=True)])
    return lack, felt_stiffness(frames, [law.K for law in laws])


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


def _law(frame: ContactFrame, impulse: Scalars, u: Scalars, told_by: Scalars, stiff: Scalar) -> Law:
    """The law at the velocity u relative to the target; `told_by`: the velocity that decides its mode and sliding direction."""
    aims = [part - rate * mass for part, rate, mass in zip(impulse, told_by, frame.masses, strict=True)]
    push = normal_law(impulse[0], aims[0], u[0], frame.softness, frame.mass, stiff)
    (old, turned), (rates, turning), (aimed, aiming) = (frame.split(values) for values in (impulse, u, aims))
    discs = [(frame.friction, old[1:], rates[1:], aimed[1:])]
    discs += [(turn.limit, turned[k], turning[k], aiming[k]) for k, turn in enumerate(frame.turns)]
    laws = [disc_law(push, limit, a, b, aim, push.holds(limit, aim)) for limit, a, b, aim in discs]
    K = _joined(push.R, [rows for rows, _ in laws])
    return Law([push.base, *(part for _, base in laws for part in base())], K)


def _joined(R: Scalar, discs: Sequence[list[list[Scalar]]]) -> Dense:
    """K of all components."""
    size = 1 + sum(map(len, discs))
    rows = [[R, *[0.0] * (size - 1)]]
    for disc in discs:
        first = len(rows)
        for by_normal, *own in disc:
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
