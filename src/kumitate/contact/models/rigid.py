"""Rigid contact: unilateral contact with the circular Coulomb cone, by a Newton method with regularisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import Any

from ...scalar import Scalar, Scalars, both, either, equal, flatten, is_double, loop, maximum, minimum, select, sqrt, when
from .. import tuned
from ..impulse.cones import chosen, inside_cones
from ..impulse.contact_points import places_for
from ..impulse.few_points import FewPoints, among_few, as_number
from ..impulse.newton import Approach, again, newton
from ..impulse.point_by_point import point_by_point
from ..impulse.problem import Impulses, Problem, Solved
from ..laws import NEVER, NOT_MET, PRESSED, STIFF


@dataclass(frozen=True)
class _Pass:
    """The state of the Newton iteration."""

    guess: Impulses
    residual: Scalar  # [m/s]
    best: Impulses  # the best guess so far
    least: Scalar  # its residual
    enough: Scalar  # the residual accepted by now [m/s]
    strength: Scalar  # of the next step
    passes: Scalar  # steps so far
    help_in: Scalar  # steps until another method may help
    sweeps: Scalar  # 1 if that is sweeps, 0 if it is the method of multipliers

    def bettered(self) -> _Pass:
        """With this guess as the best one if it is."""
        better = self.residual < self.least
        return replace(self, best=chosen(better, self.guess, self.best), least=minimum(self.residual, self.least))


@dataclass(frozen=True)
class _Repeat:
    """The state of the repetitions of a step: a guess, its residual [m/s], and 1 if that falls fast enough to go on."""

    guess: Impulses
    residual: Scalar
    falling: Scalar


@dataclass(frozen=True)
class _Impacts:
    """The state of the impacts of a step, one after the other."""

    done: Impulses  # of those so far
    full: Impulses  # of the present one as its rebound wants them
    tames: Scalar  # 1 while it is solved without rebound, as that gained energy, else 0
    late: list[Scalar]  # by patch, 1 if its open points wait, as the present one presses them
    number: Scalar  # of the present one
    left: Scalar  # the residual so far [m/s]
    goes_on: Scalar  # 1 if there is more to solve

    def after(
        self, here: Problem, found: Impulses, left: Scalar, late: list[Scalar], again: Scalar, waited: Scalar
    ) -> _Impacts:  # fmt: skip
        """The next state; again: 1 to solve the present impact with more points that wait; waited: 1 if some did."""
        gains = as_number(both(both(self.tames < 0.5, again < 0.5), here.gained(found) > 0.0))
        ends = as_number(both(gains < 0.5, again < 0.5))
        total = replace(_joined(self.done, found, lambda a, b: a + ends * b), v=_select(ends, found.v, self.done.v))
        return _Impacts(
            total, found, gains, [(1.0 - ends) * flag for flag in late], self.number + ends, maximum(self.left, left),
            maximum(maximum(gains, again), ends * waited),
        )  # fmt: skip


def rigid(given: Problem) -> Solved:
    """The impulses of a step: λ_n ≥ 0 and u_n ≥ target with complementarity; |λ_t| ≤ μ λ_n, opposite to u_t where it slides.

    The target closes the gap exactly, or rebounds with the restitution. Several points with restitution and friction can add
    kinetic energy under Newton's law (Kane and Levinson 1985); the rebound is then reduced until the energy is conserved.
    Bodies that meet one after another within the step rebound so (`laws.in_turn`).
    """
    points = [point for patch in given.patches for point in patch.points]
    if not any(point.rebounds for point in points):
        return _solved(given, given.targets)
    in_order = len(given.patches) > 1 and all(point.compliance is None and not point.frame.turns for point in points)

    def turn(_: Any, now: _Impacts) -> tuple[_Impacts, None]:
        """One solver in a loop, which is compiled once: an impact with its rebound, the same without, the next one."""
        here = given.struck(now.done.v) if in_order else given
        due = [select(flag > 0.5, PRESSED, patch.meets) for flag, patch in zip(now.late, here.patches, strict=False)]
        due = [select(now.number < tuned.IMPACTS, time, 0.0) for time in due]
        aims = _in_turn(here, due) if in_order else here.targets
        plastic = [[point.plastic for point in patch.points] for patch in here.patches]
        dead = [[minimum(a, b) for a, b in zip(*rows, strict=True)] for rows in zip(plastic, aims, strict=True)]
        solved = _solved(here, [_select(now.tames, one, other) for one, other in zip(dead, aims, strict=True)])
        found = when(now.tames > 0.5, lambda: _tamed(here, solved.impulses, now.full), solved.impulses)
        hits = reduce(either, (aim > low for row in zip(aims, plastic, strict=True) for aim, low in zip(*row, strict=True)))
        more = [as_number(both(hits, both(equal(time, NOT_MET), patch.opened(pushes))))
                for time, patch, pushes in zip(due, here.patches, found.points, strict=False)]  # fmt: skip
        late = [maximum(flag, other) for flag, other in zip(now.late, more, strict=True)]
        waited = as_number(reduce(either, (aim <= NEVER for row in aims for aim in row))) if in_order else 0.0
        return now.after(here, found, solved.left, late, reduce(maximum, more, 0.0), waited), None

    nothing = given.nothing()
    start = _Impacts(nothing, nothing, 0.0, [0.0 for _ in given.patches] if in_order else [], 0.0, 0.0, 1.0)
    most = 3 * (tuned.IMPACTS + 1) if in_order else 2
    end = loop(most, turn, start, while_=lambda now: now.goes_on > 0.5, varies=True)[0]
    return Solved(end.done, end.left, end.left)


def _in_turn(given: Problem, due: Scalars) -> list[list[Scalar]]:
    """The targets of all points in the present impact; due: when the links of each patch meet."""
    first: dict[int, Scalar] = {}
    for patch, time in zip(given.patches, due, strict=True):
        first |= {link: minimum(first.get(link, NOT_MET), time) for link in patch.links if link >= 0}
    least = [reduce(minimum, (first[link] for link in patch.links if link >= 0)) for patch in given.patches]
    return [patch.in_turn(*times) for patch, *times in zip(given.patches, due, least, strict=True)]


def _select(flag: Scalar, one: Scalars, other: Scalars) -> list[Scalar]:
    return [select(flag > 0.5, a, b) for a, b in zip(one, other, strict=True)]


def _tamed(given: Problem, dead: Impulses, full: Impulses) -> Impulses:
    """The impulses without rebound and as much of what the rebound adds as conserves kinetic energy.

    Along dead + s (full − dead) it is a parabola in s that is below the start at 0 and above it at 1.
    """
    at_0, at_half, at_1 = (given.gained(impulses) for impulses in (dead, _blend(dead, full, 0.5), full))
    bend = 2.0 * (at_0 - 2.0 * at_half + at_1)
    slope = at_1 - at_0 - bend
    root = slope * slope - 4.0 * bend * at_0
    share = 2.0 * maximum(-at_0, 0.0) / maximum(slope + sqrt(maximum(root, 0.0)), 1e-300)
    return _blend(dead, full, minimum(share, 1.0))


def _solved(given: Problem, targets: Sequence[Scalars]) -> Solved:
    """The impulses among the few points that push, or, where there are more or that fails, among all that are near."""
    if not places_for(given.jacobians.tree, given.patches):
        return iterated(given, targets)
    enough = _enough(given.fastest)
    found = among_few(given, targets, _closing(given, targets), enough, iterated)

    def of_all() -> Solved:  # few points need no masses: these are found here, where others need them
        return iterated(replace(given, patches=[patch.sized(given.branch_factors) for patch in given.patches]), targets)

    return when(found.left > found.enough, of_all, found)


def _closing(given: Problem, targets: Sequence[Scalars]) -> Scalar:
    """By how much a point misses its target without contact [m/s]."""
    free = (point.free[0] for patch in given.patches for point in patch.points)
    return reduce(maximum, (aim - speed for aim, speed in zip(chain(*targets), free, strict=True)), 0.0)


def _enough(fastest: Scalar) -> Scalar:
    """The residual that is accepted [m/s]."""
    fine = is_double(1.0 + fastest)
    return select(fine, tuned.ABSOLUTE + tuned.RELATIVE * fastest, tuned.COARSE * (1.0 + fastest))


def iterated(given: Problem, targets: Sequence[Scalars]) -> Solved:
    """Newton steps from the state before the time step, with regularisation (Levenberg 1944), and other ways if they fail.

    A Newton step may increase the residual on its way to other modes of the points; the best of all guesses is returned.
    """
    fastest, closing = given.fastest, _closing(given, targets)
    soft = tuned.SOFT_LOOPS if given.loops else tuned.SOFT
    touched = [index for patch in given.patches for index in patch.links if index >= 0 for _ in patch.points]
    # no link has two points, as of robots on round feet, and there are no loops, which sweeps leave out
    begin = tuned.EARLY if not given.loops and len(touched) == len(set(touched)) else tuned.PATIENCE
    scale = 1.0 + fastest
    part = isinstance(given, FewPoints)
    two_ways = not part and _has_cones_alone(given)
    fine = is_double(scale)
    enough = (0.5 if part else 1.0) * _enough(fastest)
    doubtful = select(fine, tuned.GOOD * maximum(1.0, fastest) if two_ways else tuned.DOUBT * scale, tuned.COARSE_DOUBT * scale)
    stiff = select(fine, STIFF, tuned.COARSE_STIFF)

    def step(_: Any, now: _Pass) -> tuple[_Pass, None]:
        # the first step that did not help is followed by one that sticks
        stuck = both(equal(now.strength, stiff / tuned.WEAKER), now.strength > tuned.WEAKEST)
        strength = select(stuck, stiff, now.strength)
        early, sticks = select(now.passes < tuned.ALIKE, 1.0, 0.0), select(stuck, 1.0, 0.0)
        approach = Approach(select(now.passes < 1.0, 1.0, 0.0), strength, early, sticks)
        tried, factors = newton(given, now.guess, targets, approach)
        residual = given.residual(tried, targets)

        def repeated(_: Any, last: _Repeat) -> tuple[_Repeat, None]:
            finer = again(given, last.guess, targets, replace(approach, first=0.0, sticks=0.0), factors)
            left = maximum(given.residual(finer, targets), given.unbalanced(finer))
            falling = select(left < tuned.FALLING * last.residual, 1.0, 0.0)
            return _Repeat(chosen(left < last.residual, finer, last.guess), minimum(left, last.residual), falling), None

        found = _Repeat(tried, residual, select(residual < soft * fastest, 1.0, 0.0))

        def goes_on(last: _Repeat) -> Scalar:
            return both(last.residual > now.enough, last.falling > 0.5)

        if not part:  # steps on few points cost no more
            found = loop(tuned.REPEATS, repeated, found, while_=goes_on, varies=True)[0]
        tried, residual = found.guess, found.residual
        done = either(residual < now.residual, now.strength <= tuned.WEAKEST)
        eased = maximum(minimum(tuned.EASE * now.enough, doubtful), now.enough)
        weaker = maximum(now.strength * (1.0 / tuned.WEAKER), tuned.WEAKEST)
        stronger = minimum(strength * tuned.STRONGER, stiff)
        after = replace(
            now,
            guess=chosen(done, tried, now.guess),
            residual=select(done, residual, now.residual),
            enough=select(now.passes >= tuned.PATIENCE, eased, now.enough),
            strength=select(residual < tuned.PROGRESS * now.residual, stronger, weaker),
            passes=now.passes + 1.0,
            help_in=select(now.help_in > 1.0, now.help_in - 1.0, float(tuned.EVERY)),
        ).bettered()

        def descended() -> tuple[Impulses, Scalar]:
            return inside_cones(given, after.best, targets, after.least, maximum(after.enough, doubtful))

        def swept() -> tuple[Impulses, Scalar]:
            guess = point_by_point(given, after.guess, targets, tuned.SWEEPS * after.passes)
            return guess, given.residual(guess, targets)

        def helped() -> _Pass:
            other = 1.0 - after.sweeps if two_ways else 1.0
            found = when(other < 0.5, swept, when(other > 0.5, descended, (after.guess, 0.0))) if two_ways else swept()
            return replace(after, guess=found[0], residual=found[1], strength=stiff, sweeps=other).bettered()

        lost = both(now.help_in <= 1.0, after.least > maximum(doubtful, after.enough))
        return (after if part else when(lost, helped, after)), None

    nothing = given.nothing()
    # without impulses the laws are kept where no point approaches, unless the step without contact opens the loops
    start = select(closing > 0.0, 1e300, given.residual(nothing, targets) if given.loops else 0.0)
    sweeps = float(not two_ways or begin < tuned.PATIENCE)
    first = _Pass(nothing, start, nothing, start, enough, stiff, 0.0, float(begin), sweeps)
    most = tuned.PASSES_OF_FEW if part else tuned.PASSES
    end = loop(most, step, first, while_=lambda now: now.least > now.enough, varies=True)[0]
    return Solved(end.best, end.least, end.least, end.enough)


def _has_cones_alone(given: Problem) -> bool:
    """Whether the laws are those of cones alone, of so few degrees of freedom that a second way to solve them compiles soon.

    Not where few points are solved by themselves: what these leave to all is rare, and would wait for the slowest of its rows.
    """
    points = [point for patch in given.patches for point in patch.points]
    plain = all(point.compliance is None and not point.frame.turns for point in points)
    few = places_for(given.jacobians.tree, given.patches)
    return plain and not few and len(given.v_free) <= tuned.FEW_FREEDOMS


def _blend(one: Impulses, other: Impulses, share: Scalar) -> Impulses:
    """one + share (other − one)."""
    return _joined(one, other, lambda a, b: a + share * (b - a))


def _joined(one: Impulses, other: Impulses, join: Callable[[Scalar, Scalar], Scalar]) -> Impulses:
    (ones, build), (others, _) = flatten(one), flatten(other)
    return build([join(a, b) for a, b in zip(ones, others, strict=True)])
