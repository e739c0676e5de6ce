"""One method after another on an island as a whole, until its residual is small."""

from __future__ import annotations

import math
from typing import NamedTuple

from ....procedure import procedure
from ....procedure.called import later
from ... import tuned
from ...laws import NEVER
from ..arrays import Island
from .interior_point import interior_point
from .laws import keep_best, move, residual, restore, save
from .multipliers import by_multipliers
from .newton import newton


class Aims(NamedTuple):
    """What is asked of the solution of an island; residuals and velocities in [m/s]."""

    plain: bool  # all points are rigid, and without moments: the interior point method knows no others
    accepted: float  # a residual from which on small islands need no other method
    enough: float  # the residual at which methods end
    end: float  # √τ at which the interior point method ends
    good: float  # a residual that is not worth more
    wanted: float  # above this also the methods are tried that take longest
    fastest: float  # the fastest velocity of a point without contact
    follows: bool  # a residual of `good` ends all methods, as the island follows the motion


@procedure
def is_small(island: Island, aims: Aims) -> bool:
    """Whether all methods are tried until the laws are kept as they are in small islands."""
    return len(island.members) <= tuned.SMALL or not aims.plain


@procedure
def solve_whole(island: Island, aims: Aims, begun: int) -> float:
    """One method after another until the residual is small; the best impulses of all are the result, in `trial.first`, too."""
    trial, plain, small, good, fastest = island.trial, aims.plain, is_small(island, aims), aims.good, aims.fastest
    enough, count, left = aims.enough, len(island.members), residual(island)
    if small or count <= tuned.MANY or left <= tuned.NEAR * fastest:
        passes = tuned.STEPS_OF_SMALL if small else tuned.STEPS_OF_LARGE
        hopeless = math.inf if small else tuned.HOPELESS * max(fastest, 1.0)
        left = newton(island, passes, begun, enough, hopeless)
    best = keep_best(island, left, math.inf, trial.first)
    if plain and left > (aims.accepted if small else good):
        left = _polished(island, aims, _inside_cones(island, aims, 1.0 if small else tuned.FOLLOW))
        best = keep_best(island, left, best, trial.first)
    if best < left:
        restore(island, trial.first)
        move(island)
    if best > aims.wanted:
        return _try_more(island, aims, best)
    return best


@later
def _try_more(island: Island, aims: Aims, best: float) -> float:
    """What takes longest: the least residual, of the impulses that are then the island's.

    In large islands the interior point method from the best impulses so far, twice; then multipliers from these, and once more
    with points that become stiff slowly; small islands that are still stuck begin again from nothing.
    """
    trial, small, good = island.trial, is_small(island, aims), aims.wanted if aims.follows else aims.good
    for way in range(4):
        if best <= good or (way < 2 if small else way == 3 and best < tuned.STUCK):
            continue
        restore(island, trial.first)
        move(island)
        if way < 2:
            left = _inside_cones(island, aims, tuned.CALM)
        elif way == 2:
            left = by_multipliers(island, tuned.DESCENTS, good, tuned.GENTLE, tuned.STRONGER)
        else:
            left = by_multipliers(island, tuned.SLOW_DESCENTS, good, 1.0, tuned.SLOWLY)
        best = keep_best(island, _polished(island, aims, left), best, trial.first)
        if small and way == 2:
            best = _leave_out(island, good, aims.enough, best)
    if small and best > tuned.STUCK:
        _begin_again(island)
        left = by_multipliers(island, tuned.SLOW_DESCENTS, good, 1.0, tuned.SLOWLY)
        best = keep_best(island, _polished(island, aims, left), best, trial.first)
    restore(island, trial.first)
    move(island)
    return best


@procedure
def _begin_again(island: Island) -> None:
    """No impulses: those that all methods have come to may be far from any solution."""
    points = island.points
    for c in island.listed:
        points.impulse[c] = 0.0
        if c < len(points.turns.length):
            points.turns.impulse[c] = 0.0
    move(island)


@procedure
def _leave_out(island: Island, good: float, enough: float, best: float) -> float:
    """Newton's method without one of the points that push, then with all, from the best impulses so far; the least residual.

    Of the corners of a plate that falls flat on a floor and slides, say, three carry it, and rounding decides which.
    """
    points, trial, tries = island.points, island.trial, tuned.LEFT_OUT
    for c in island.listed:
        restore(island, trial.first)
        if best > good and tries > 0 and points.impulse[c, 0] > 0.0:
            tries -= 1
            target = points.target[c]
            points.target[c] = NEVER
            points.impulse[c] = 0.0
            move(island)
            newton(island, tuned.STEPS_WITHOUT, 1, enough, math.inf)
            points.target[c] = target
            best = keep_best(island, newton(island, tuned.STEPS_WITHOUT, 1, enough, math.inf), best, trial.first)
    return best


@later
def _inside_cones(island: Island, aims: Aims, follow: float) -> float:
    """The residual after the interior point method."""
    inside = tuned.INSIDE * max(aims.fastest, 1e-3)
    short, good = tuned.SHORT_OF_LOOSE if aims.follows else tuned.STALLED, aims.good if aims.follows else 0.0
    return interior_point(island, tuned.ROUNDS, follow, aims.end, good, inside, short)


@procedure
def _polished(island: Island, aims: Aims, left: float) -> float:
    """The residual after Newton steps on the result of another method, if it left more than enough."""
    fine = aims.good if aims.follows else aims.enough
    return left if left <= fine else newton(island, tuned.POLISH, 1, fine, math.inf)


@procedure
def solve_pushing(island: Island, aims: Aims, begun: int) -> float:
    """`solve_whole`, but for overlaps that are left in where pushing them out keeps the laws badly; the residual."""
    points, pushing, left = island.points, 0.0, solve_whole(island, aims, begun)
    for c in island.listed:
        if points.target[c] <= points.plastic[c] and points.softness[c] == 0.0:
            pushing = max(pushing, points.target[c])
    if pushing > 0.0 and left > max(aims.wanted, min(tuned.STUCK, tuned.WEDGED * pushing)):
        left = _left_in(island, aims, left)
    return left


@later
def _left_in(island: Island, aims: Aims, left: float) -> float:
    """The laws without pushing overlaps out, if friction wedges bodies so that this keeps them better; the residual.

    The laws have a solution if some velocities separate every point by more than its target plus μ times its sliding speed
    (Cadoux 2009). Without pushing out, rest has them; in a corner of walls, or between other bodies, nothing else may.
    """
    points, trial = island.points, island.trial
    save(island, trial.pushed)
    for c in island.listed:
        trial.asked[c] = points.target[c]
        if points.target[c] <= points.plastic[c] and points.softness[c] == 0.0:
            points.target[c] = min(points.target[c], 0.0)
    move(island)
    found = solve_whole(island, aims, 1)
    if found < left:
        return found
    restore(island, trial.pushed)
    for c in island.listed:
        points.target[c] = trial.asked[c]
    move(island)
    return left
