"""Impacts of an island that follow one another within a step, each with the rebounds whose turn it is, as of `models.rigid`."""

from __future__ import annotations

import math

from ....procedure import Floats, apply, at, local, procedure
from ....procedure.called import later
from ... import tuned
from ...laws import AIMED, CLOSED, IN_TURN, MEETING, NEVER, NOT_MET, PRESSED
from ...surface import NUMBERS
from ..arrays import Island, Rules
from .chain import Aims, is_small, solve_pushing, solve_whole
from .laws import move, restore, save


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
            if points.body[c, side] >= 0:
                earliest = trial.effort[points.body[c, side]]
                earliest[0] = min(earliest[0], trial.due[c])
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
    points, trial = island.points, island.trial
    full = gained(island, False)
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
