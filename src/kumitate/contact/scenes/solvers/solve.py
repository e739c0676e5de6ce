"""The impulses of one island: those of the last step if they still fit, else Newton's method."""

from __future__ import annotations

from ....procedure import Floats, procedure
from ... import tuned
from ...surface import NUMBERS
from ..arrays import Island, Rules
from .assembly import find_reaches
from .chain import Aims, solve_pushing, solve_whole
from .laws import move, residual
from .ordering import pattern
from .rebounds import end_of_pair, gained, rebound


@procedure
def solve(
    rules: Rules, island: Island, surfaces: Floats[len(NUMBERS)], pile: int, begun: int
) -> tuple[int, float, float, float]:  # fmt: skip
    """Solves the laws of an island; surfaces: `Placed.surfaces`; pile: `Islands.pile`; begun: 1 if its impulses are a guess.

    Returns:
        The number of couplings of its bodies (with more than there is room for nothing else is done), the residual that is
        left and that is allowed [m/s], and the fastest velocity of a point without contact [m/s].
    """
    points, factors = island.points, island.factors
    fastest, moving, closing, softest, bouncing = 0.0, 0.0, 0.0, 0.0, False
    for c in island.listed:
        for k in range(3):
            fastest = max(fastest, abs(points.free[c, k]))
            moving = max(moving, abs(points.before[c, k]))
        closing = max(closing, points.target[c] - points.free[c, 0])
        softest = max(softest, points.softness[c])
        begun = max(begun, points.known[c])
        bouncing = bouncing or points.target[c] > points.plastic[c]
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
        for c in island.listed:
            points.steady[c] = part
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
    if bouncing:
        return couplings, rebound(rules, island, surfaces, aims, begun), allowed, fastest
    return couplings, solve_pushing(island, aims, begun), allowed, fastest


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
    return Aims(plain, good if rough else accepted, 0.1 * accepted, end, good, wanted, fastest, most > 0.0)


@procedure
def _steady(island: Island) -> float:
    """The part of the old impulses in those that would keep the island at rest, if it were.

    With the old impulses its velocities have gone from u₀ to u₁, new ones would stop it. A part w of the old and 1 − w of the
    new ones leave w u₁ − u₀, which vanishes for w = u₀ / u₁. Only directions that are held count, not that of sliding.
    """
    points = island.points
    both, square = 0.0, 0.0
    for c in island.listed:
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
    points, first = island.points, 0
    while first < len(island.listed):
        end, most = end_of_pair(island, first), 0.0
        for at in range(first, end):
            most = max(most, points.mass[island.listed[at]])
        for at in range(first, end):
            points.common[island.listed[at]] = most
        first = end
