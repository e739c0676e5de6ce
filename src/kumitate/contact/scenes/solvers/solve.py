"""The impulses of one island: those of the last step if they still fit, else Newton's method."""

from __future__ import annotations

import math

from ....procedure import procedure
from ....procedure.called import later
from ... import tuned
from ..arrays import Island, Rules
from .assembly import find_reaches
from .chain import Aims, solve_whole
from .laws import move, residual, restore, save
from .ordering import pattern


@procedure
def solve(rules: Rules, island: Island, pile: int, begun: int) -> tuple[int, float, float, float]:
    """Solves the laws of an island; pile: `Islands.pile`; begun: 1 if its impulses are a guess.

    Returns:
        The number of couplings of its bodies (with more than there is room for nothing else is done), the residual that is
        left and that is allowed [m/s], and the fastest velocity of a point without contact [m/s].
    """
    points, factors = island.points, island.factors
    fastest, moving, closing, softest, pushing, bouncing = 0.0, 0.0, 0.0, 0.0, 0.0, False
    for at in range(len(island.listed)):
        c = island.listed[at]
        for k in range(3):
            fastest = max(fastest, abs(points.free[c, k]))
            moving = max(moving, abs(points.before[c, k]))
        closing = max(closing, points.target[c] - points.free[c, 0])
        softest = max(softest, points.softness[c])
        begun = max(begun, points.known[c])
        bouncing = bouncing or points.target[c] > points.plastic[c]
        if points.target[c] <= points.plastic[c] and points.softness[c] == 0.0:
            pushing = max(pushing, points.target[c])
    plain = softest == 0.0 and len(points.turns.length) == 0
    follows = 0.0 if pile <= tuned.SMALL or not plain else rules.follows
    least = tuned.GOOD if rules.follows == 0.0 else max(tuned.GOOD, tuned.GOOD_OF_FALL * rules.fall)
    loose = follows * max(min(moving, fastest) - tuned.SLOW, 0.0)
    accepted = tuned.ACCEPTED + tuned.ACCEPTED_OF_SPEED * fastest
    allowed = max(accepted, loose)
    move(island)
    left = residual(island)
    if left <= accepted and (begun == 1 or closing <= 0.0):
        return 0, left, allowed, fastest
    if left <= tuned.STEADY:
        part = _steady(island)
        for at in range(len(island.listed)):
            points.steady[island.listed[at]] = part
    couplings = pattern(island)
    island.trial.did[2] += 1
    if couplings > len(factors.later):
        return couplings, left, allowed, fastest
    _share(island)
    find_reaches(island)
    aims = _aims(pile, plain, least, 0.0, 0.0, fastest)
    if follows > 0.0 and moving > tuned.CREEPING:
        left = solve_whole(island, _aims(pile, plain, least, loose, follows * fastest, fastest), begun)
        begun = 1
        if not bouncing and left <= follows * fastest and (left <= aims.good or gained(island, True) <= 0.0):
            return couplings, left, allowed, fastest
    left = solve_whole(island, aims, begun)
    if pushing > 0.0 and left > max(aims.wanted, min(tuned.STUCK, tuned.WEDGED * pushing)):
        left = _left_in(island, aims, left)
    if bouncing and gained(island, False) > 0.0:
        left = max(left, _tame(island, aims))
    return couplings, left, allowed, fastest


@procedure
def _aims(pile: int, plain: bool, least: float, loose: float, most: float, fastest: float) -> Aims:
    """What is asked of an island in such a pile; least: of small ones, before the fastest velocity is added.

    loose: the residual that is enough if it follows the motion, else 0. Where it does, residuals up to `most` are not worth
    all methods.
    """
    small, accepted = pile <= tuned.SMALL or not plain, max(tuned.ACCEPTED + tuned.ACCEPTED_OF_SPEED * fastest, loose)
    fairest, rough = tuned.FAIREST if pile <= tuned.CROWD else tuned.FAIREST_OF_CROWD, small and least > tuned.GOOD
    good = max(least * (1.0 + fastest), 0.0 if small else min(tuned.FAIR + tuned.MOVING * fastest, fairest), loose)
    wanted, end = good if small else max(good, fairest, most), max(0.1 * accepted, tuned.END * fastest, tuned.LOOSE_END * loose)
    few = tuned.OF_FEW * least if rough else 0.0
    return Aims(plain, good if rough else accepted, 0.1 * accepted, end, good, wanted, few, fastest, most > 0.0)


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


@procedure
def _steady(island: Island) -> float:
    """The part of the old impulses in those that would keep the island at rest, if it were.

    With the old impulses its velocities have gone from u₀ to u₁, new ones would stop it. A part w of the old and 1 − w of the
    new ones leave w u₁ − u₀, which vanishes for w = u₀ / u₁. Only directions that are held count, not that of sliding.
    """
    points = island.points
    both, square = 0.0, 0.0
    for at in range(len(island.listed)):
        c = island.listed[at]
        x, y, most = points.impulse[c, 1], points.impulse[c, 2], points.friction[c] * points.impulse[c, 0]
        if most > 0.0:
            held = 3 if x * x + y * y < 0.999 * most * most else 1
            for k in range(held):
                both += points.before[c, k] * points.speed[c, k]
                square += points.speed[c, k] * points.speed[c, k]
    return min(max(both / square, 0.0), 1.0) if square > 0.0 else 0.0


@procedure
def _share(island: Island) -> None:
    """Gives every point the largest mass of a point of the same two bodies; these stand next to each other."""
    points = island.points
    first, last = 0, len(island.listed)
    while first < last:
        a, b = points.body[island.listed[first], 0], points.body[island.listed[first], 1]
        end, most = first, 0.0
        while end < last and points.body[island.listed[end], 0] == a and points.body[island.listed[end], 1] == b:
            most = max(most, points.mass[island.listed[end]])
            end += 1
        for at in range(first, end):
            points.common[island.listed[at]] = most
        first = end


@procedure
def gained(island: Island, whole: bool) -> float:
    """The kinetic energy that the impulses add to that of the step without them, without the work of belts [J].

    whole: their work in the whole step instead, as `logs.gained_at` counts it, but for what pushes overlaps out.
    """
    points, total, since = island.points, 0.0, island.points.before if whole else island.points.free
    for at in range(len(island.listed)):
        c = island.listed[at]
        total += 0.5 * points.impulse[c] @ (since[c] + points.speed[c])
        if whole and points.target[c] <= points.plastic[c]:
            total -= 0.5 * points.impulse[c, 0] * max(points.target[c], 0.0)
        if c < len(points.turns.length):
            total += 0.5 * points.turns.impulse[c] @ (points.turns.free[c] + points.turns.speed[c])
    return total


@later
def _tame(island: Island, aims: Aims) -> float:
    """Reduces a rebound that gains energy, as restitution with friction can (Kane and Levinson 1985), until it gains none.

    Returns the residual of the impact without rebound, with which it is mixed.
    """
    points, trial = island.points, island.trial
    full = gained(island, False)
    for at in range(len(island.listed)):
        c = island.listed[at]
        # the modes have been used; the impulses of the rebound take their place
        points.mode[c] = points.impulse[c]
        if c < len(points.turns.length):
            points.turns.mode[c] = points.turns.impulse[c]
        points.target[c] = points.plastic[c]
    move(island)
    left = solve_whole(island, aims, 1)
    none = gained(island, False)
    save(island, trial.kept)
    _mix(island, 0.5)
    move(island)
    half = gained(island, False)
    # kinetic energy from the plastic impulses to the rebound is a parabola, below the start at 0 and above it at 1
    bend = 2.0 * (none - 2.0 * half + full)
    slope = full - none - bend
    root = max(slope * slope - 4.0 * bend * none, 0.0)
    share = min(2.0 * max(-none, 0.0) / max(slope + math.sqrt(root), 1e-300), 1.0)
    restore(island, trial.kept)
    _mix(island, share)
    move(island)
    return left


@procedure
def _mix(island: Island, share: float) -> None:
    """Plastic impulses, which are in `trial.kept`, plus a share of what the rebound, which is in `mode`, adds to them."""
    points, trial = island.points, island.trial
    for at in range(len(island.listed)):
        c = island.listed[at]
        points.impulse[c] = trial.kept[c] + share * (points.mode[c] - trial.kept[c])
        if c < len(points.turns.length):
            plastic = trial.kept[len(points.gap) + c]
            points.turns.impulse[c] = plastic + share * (points.turns.mode[c] - plastic)
