"""One method after another on an island as a whole, until its residual is small."""

from __future__ import annotations

import math
from typing import NamedTuple

from ....procedure import procedure
from ....procedure.called import later
from ... import tuned
from ..arrays import Island
from .interior_point import interior_point
from .laws import keep_best, move, residual, restore, save
from .leaving_out import leave_out
from .newton import newton
from .relaxation import relax


class Aims(NamedTuple):
    """What is asked of the solution of an island; residuals and velocities in [m/s]."""

    plain: bool  # all points are rigid, and without moments: only Newton's method and sweeps know others
    accepted: float  # a residual from which on small islands need no other method
    enough: float  # the residual at which methods end
    end: float  # √τ at which the interior point method ends
    good: float  # a residual that is not worth more
    wanted: float  # above this also the methods are tried that take longest
    few: float  # in small islands only few points are left out below this, and nothing is tried after that
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
        left = inside_cones(island, aims, 1.0 if small else tuned.FOLLOW)
        best = keep_best(island, left, best, trial.first)
    if best < left:
        restore(island, trial.first)
        move(island)
    if best > aims.wanted:
        return _try_more(island, aims, best)
    return best


@later
def _try_more(island: Island, aims: Aims, left: float) -> float:
    """What takes longest, from impulses with this residual; the least, of the impulses that are then the island's."""
    trial, small = island.trial, is_small(island, aims)
    best = keep_best(island, left, math.inf, trial.first)
    if not small:
        best = keep_best(island, inside_cones(island, aims, tuned.CALM), best, trial.first)
    if best > aims.wanted:
        tries = tuned.LEFT_OUT if small and best > aims.few else tuned.FEWER
        best = leave_out(island, tries, aims.wanted, aims.enough, best)
    if best > (aims.wanted if aims.follows else max(aims.good, aims.few)):
        best = _in_turn(island, aims, best)
    restore(island, trial.first)
    move(island)
    return best


@procedure
def _in_turn(island: Island, aims: Aims, best: float) -> float:
    """Sweeps and the interior point method in turn, from the best impulses so far; the least residual."""
    trial, begin, small, good = island.trial, best, is_small(island, aims), aims.wanted if aims.follows else aims.good
    restore(island, trial.first)
    move(island)
    for attempt in range(tuned.TURNS):
        if best <= good or (not small and attempt >= tuned.TURNS_OF_LARGE and best < tuned.STUCK):
            break
        if attempt % 3 == 2 and aims.plain:
            left = inside_cones(island, aims, tuned.CALM)
        else:
            left = _polished(island, aims, relax(island, tuned.SWEEPS_IN_TURN))
        best = keep_best(island, left, best, trial.first)
    if best > good and best < begin and small:
        best = leave_out(island, tuned.LEFT_OUT, good, aims.enough, best)
    return best


@later
def inside_cones(island: Island, aims: Aims, follow: float) -> float:
    """The residual after the interior point method."""
    inside = tuned.INSIDE * max(aims.fastest, 1e-3)
    short, good = tuned.SHORT_OF_LOOSE if aims.follows else tuned.STALLED, aims.good if aims.follows else 0.0
    return _polished(island, aims, interior_point(island, tuned.ROUNDS, follow, aims.end, good, inside, short))


@procedure
def _polished(island: Island, aims: Aims, left: float) -> float:
    """The residual after Newton steps on the result of another method, if it left more than enough."""
    fine = aims.good if aims.follows else aims.enough
    return left if left <= fine else newton(island, tuned.POLISH, 1, fine, math.inf)


@procedure
def solve_pushing(island: Island, aims: Aims, begun: int) -> float:
    """`solve_whole`, but for overlaps that are left in where pushing them out keeps the laws badly; the residual."""
    points, pushing, left = island.points, 0.0, solve_whole(island, aims, begun)
    for at in range(len(island.listed)):
        c = island.listed[at]
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
    for at in range(len(island.listed)):
        c = island.listed[at]
        trial.asked[c] = points.target[c]
        if points.target[c] <= points.plastic[c] and points.softness[c] == 0.0:
            points.target[c] = min(points.target[c], 0.0)
    move(island)
    found = solve_whole(island, aims, 1)
    if found < left:
        return found
    restore(island, trial.pushed)
    for at in range(len(island.listed)):
        points.target[island.listed[at]] = trial.asked[island.listed[at]]
    move(island)
    return left
