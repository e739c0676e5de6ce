"""Rigid contact: unilateral and with Coulomb's round cone together, by Newton steps, helped where they fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...scalar import absolute, both, flatten, loop, maximum, minimum, select, sqrt, when
from ..newton import newton
from ..problem import Impulses, Problem
from ..splitting import split

__all__ = ["rigid"]

Scalar = Any
#: The laws are obeyed to this [m/s], and to this part of the largest velocity.
ABSOLUTE, RELATIVE = 1e-11, 1e-11
#: At most so many Newton steps, and so many rounds of splitting where one leaves more than the part TOO_LITTLE of the residual.
PASSES, ROUNDS, TOO_LITTLE = 40, 10, 0.25
#: After so many passes each further one makes a residual do that is this much larger. Points that stick at their limit, or by
#: more than their body's freedoms, can keep a step from ever settling within rounding; what is left is in the record.
PATIENCE, EASE = 16, 2.0
#: So many passes hold all points of a meeting alike.
ALIKE = 4


@dataclass(frozen=True)
class _Pass:
    """A guess, how far it is from the laws, and whether the next step shall take all closed points for sticking ones.

    Beside it the best guess so far, the residual that will do by now, and the number of passes.
    """

    guess: Impulses
    residual: Scalar
    holding: Scalar
    best: Impulses
    least: Scalar
    enough: Scalar
    passes: Scalar


def rigid(given: Problem) -> Impulses:
    """The impulses of a step: λ_n ≥ 0, u_n ≥ target, one of them zero; |λ_t| ≤ μ λ_n, and against u_t where it slides.

    The target closes the gap exactly, or throws back with the restitution; where several points, restitution and friction
    together would add kinetic energy, as Newton's law can (Kane and Levinson 1985), they throw back only so far that it stays.
    """
    targets = [[point.target for point in meeting.points] for meeting in given.meetings]
    found = _solved(given, targets)
    if all(point.surface.restitution == 0.0 for meeting in given.meetings for point in meeting.points):
        return found
    gained = given.gained(found)

    def tamed() -> Impulses:
        dead = _solved(given, [[point.plastic for point in meeting.points] for meeting in given.meetings])
        # kinetic energy along dead + s (found − dead) is a parabola in s that is below the start at 0 and above it at 1
        middle = _blend(dead, found, 0.5)
        at_0, at_half, at_1 = (given.gained(impulses) for impulses in (dead, middle, found))
        bend = 2.0 * (at_0 - 2.0 * at_half + at_1)
        slope = at_1 - at_0 - bend
        root = slope * slope - 4.0 * bend * at_0
        below = maximum(-at_0, 0.0)
        share = 2.0 * below / maximum(slope + sqrt(maximum(root, 0.0)), 1e-300)
        return _blend(dead, found, select(share < 1.0, share, 1.0))

    return when(gained > 0.0, tamed, found)


def _solved(given: Problem, targets: Sequence[Sequence[Scalar]]) -> Impulses:
    enough: Scalar = 0.0
    for meeting in given.meetings:
        for point in meeting.points:
            for part in point.free:
                enough = maximum(enough, absolute(part))
    enough = ABSOLUTE + RELATIVE * enough
    start = given.nothing()

    def step(_: Any, now: _Pass) -> tuple[_Pass, None]:
        tried = newton(given, now.guess, targets, holding=now.holding, alike=select(now.passes < ALIKE, 1.0, 0.0))
        residual = given.residual(tried, targets)
        best = _chosen(residual < now.least, tried, now.best)
        least = minimum(residual, now.least)
        better = residual < now.residual
        eased = select(now.passes >= PATIENCE, EASE, 1.0) * now.enough
        limits = (eased, now.passes + 1.0)
        kept = _Pass(_chosen(better, tried, now.guess), minimum(residual, now.residual), 0.0, best, least, *limits)
        stuck = both(kept.residual > TOO_LITTLE * now.residual, kept.residual > eased)

        def helped() -> _Pass:
            guess = split(given, kept.guess, targets, ROUNDS)
            residual = given.residual(guess, targets)
            best = _chosen(residual < kept.least, guess, kept.best)
            return _Pass(guess, residual, 1.0 - now.holding, best, minimum(residual, kept.least), *limits)

        return when(stuck, helped, kept), None

    # most of what touches a floor sticks to it; what slides shows that it does by the first answer
    open_by = given.residual(start, targets)
    first = _Pass(start, open_by, 1.0, start, open_by, enough, 0.0)
    return loop(PASSES, step, first, while_=lambda now: now.least > now.enough, varies=True)[0].best


def _chosen(first: Scalar, one: Impulses, other: Impulses) -> Impulses:
    ones, build = flatten(one)
    others, _ = flatten(other)
    return build([select(first, a, b) for a, b in zip(ones, others, strict=True)])


def _blend(one: Impulses, other: Impulses, share: Scalar) -> Impulses:
    """one + share (other − one)."""
    ones, build = flatten(one)
    others, _ = flatten(other)
    return build([a + share * (b - a) for a, b in zip(ones, others, strict=True)])
