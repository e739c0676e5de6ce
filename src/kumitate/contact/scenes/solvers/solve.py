"""The impulses of one island: those of the last step if they still fit, else those of the methods of `chain`.

Impacts follow one another within a step, each with the rebounds whose turn it is, as of `models.rigid`.
"""

from __future__ import annotations

import math

from ....procedure import Floats, apply, at, local, procedure
from ....procedure.called import later
from ... import tuned
from ...laws import AIMED, CLOSED, IN_TURN, MEETING, NEVER, NOT_MET, PRESSED
from ...surface import NUMBERS
from ..arrays import Island, Rules
from .assembly import find_reaches
from .chain import Aims, is_small, solve_pushing, solve_whole
from .laws import move, residual, restore, save
from .ordering import pattern


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
            fastest, moving = max(fastest, abs(points.free[c, k])), max(moving, abs(points.before[c, k]))
        closing, softest = max(closing, points.target[c] - points.free[c, 0]), max(softest, points.softness[c])
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
    points, both, square = island.points, 0.0, 0.0
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
        for row in range(first, end):
            most = max(most, points.mass[island.listed[row]])
        for row in range(first, end):
            points.common[island.listed[row]] = most
        first = end


# --- impacts, one after the other -----------------------------------------------------------------------------------
@procedure
def end_of_pair(island: Island, first: int) -> int:
    """Where the points of two bodies end, which stand next to each other."""
    points, end = island.points, first
    a, b = points.body[island.listed[first], 0], points.body[island.listed[first], 1]
    while end < len(island.listed) and points.body[island.listed[end], 0] == a and points.body[island.listed[end], 1] == b:
        end += 1
    return end


@later
def rebound(rules: Rules, island: Island, surfaces: Floats[len(NUMBERS)], aims: Aims, begun: int) -> float:
    """The impulses of all impacts of a step, each from the velocities that those before leave; the worst residual [m/s].

    In small islands points with a gap wait for their turn (`laws.in_turn`), also where an impact presses them. What earlier
    impacts have changed of the velocities is added to the drift of the points meanwhile.
    """
    points, trial, worst, number = island.points, island.trial, 0.0, 0
    most = tuned.IMPACTS if aims.plain and is_small(island, aims) else 0
    for c in island.listed:
        trial.done[c] = 0.0
        trial.moved[c] = 0.0
    while True:
        _find_due(island)
        waiting, left, pressed = 0, 0.0, 1
        while pressed > 0:
            waiting = _wait(rules, island) if number < most else 0
            left = solve_pushing(island, aims, begun)
            pressed = _press(rules, island) if number < most else 0
            begun = 1
        if gained(island, False) > 0.0:
            left = max(left, _tame(island, aims))
        worst = max(worst, left)
        number += 1
        if waiting == 0:
            break
        _go_on(rules, island, surfaces)
        begun = 0
    if number > 1:
        for c in island.listed:
            points.impulse[c] += trial.done[c]
            points.drift[c] -= trial.moved[c]
            points.before[c] -= trial.moved[c]
            points.free[c] -= trial.moved[c]
        move(island)
    return worst


@procedure
def _find_due(island: Island) -> None:
    """When the bodies of all points meet."""
    points, trial, first, time = island.points, island.trial, 0, local(1)
    while first < len(island.listed):
        end, least = end_of_pair(island, first), NOT_MET
        for row in range(first, end):
            apply(MEETING, at(points, island.listed[row]), time)
            least = min(least, time[0])
        for row in range(first, end):
            trial.due[island.listed[row]] = least
        first = end


@procedure
def _wait(rules: Rules, island: Island) -> int:
    """Takes the impulses and targets of points whose turn it is not; returns how many these are."""
    points, trial, waiting, target = island.points, island.trial, 0, local(1)
    for body in island.members:
        trial.effort[body, 0] = NOT_MET
    for c in island.listed:
        for side in range(2):
            body = points.body[c, side]
            if body >= 0:
                trial.effort[body, 0] = min(trial.effort[body, 0], trial.due[c])
    for c in island.listed:
        least = NOT_MET
        for side in range(2):
            if points.body[c, side] >= 0:
                least = min(least, trial.effort[points.body[c, side], 0])
        apply(IN_TURN, points.target[c], points.gap[c], trial.due[c], least, rules.step, target)
        points.target[c] = target[0]
        if target[0] <= NEVER:
            points.impulse[c] = 0.0
            waiting += 1
    if waiting > 0:
        move(island)
    return waiting


@procedure
def _press(rules: Rules, island: Island) -> int:
    """Marks bodies whose open points push without their turn, if anything rebounds; returns how many points these have."""
    points, trial, first, hits, pressed = island.points, island.trial, 0, False, 0
    for c in island.listed:
        hits = hits or points.target[c] > points.plastic[c]
    while hits and first < len(island.listed):
        end, pushes = end_of_pair(island, first), False
        for row in range(first, end):
            c = island.listed[row]
            parted = points.gap[c] > CLOSED * rules.step and points.impulse[c, 0] > 0.0
            pushes = pushes or (parted and trial.due[c] == NOT_MET)
        if pushes:
            for row in range(first, end):
                trial.due[island.listed[row]] = PRESSED
            pressed += end - first
        first = end
    return pressed


@procedure
def _go_on(rules: Rules, island: Island, surfaces: Floats[len(NUMBERS)]) -> None:
    """Sets the impulses aside, and aims from the velocities that they leave."""
    points, trial, change = island.points, island.trial, local(3)
    for c in island.listed:
        change[:] = points.speed[c] - points.free[c]
        trial.moved[c] += change
        points.drift[c] += change
        points.before[c] += change
        points.free[c] += change
        trial.done[c] += points.impulse[c]
        points.impulse[c] = 0.0
        apply(AIMED, at(points, c), surfaces[points.material[c]], rules.step, 2.0 * rules.fall)
    move(island)


@procedure
def gained(island: Island, whole: bool) -> float:
    """The kinetic energy that the impulses add to that of the step without them, without the work of belts [J].

    whole: their work in the whole step instead, as `logs.gained_at` counts it, but for what pushes overlaps out.
    """
    points, total, since = island.points, 0.0, island.points.before if whole else island.points.free
    for c in island.listed:
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
    points, trial, full = island.points, island.trial, gained(island, False)
    for c in island.listed:
        # the modes have been used; the impulses of the rebound take their place
        points.mode[c] = points.impulse[c]
        if c < len(points.turns.length):
            points.turns.mode[c] = points.turns.impulse[c]
        points.target[c] = min(points.target[c], points.plastic[c])
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
    for c in island.listed:
        points.impulse[c] = trial.kept[c] + share * (points.mode[c] - trial.kept[c])
        if c < len(points.turns.length):
            plastic = trial.kept[len(points.gap) + c]
            points.turns.impulse[c] = plastic + share * (points.turns.mode[c] - plastic)
