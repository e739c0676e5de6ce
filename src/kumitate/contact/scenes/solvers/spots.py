"""Spots: the last places of a large island that miss their laws, solved as islands of their own while all else stays.

Methods that work on a thousand bodies at once take as many steps as their hardest place needs, which is a few bodies large.
"""

from __future__ import annotations

from ....procedure import Shaped, procedure
from ....procedure.called import later
from ... import tuned
from ..arrays import Island
from ..islands import group
from ..robots import leads
from .chain import Aims, solve_whole
from .laws import keep_best, move, residual, restore
from .ordering import pattern, units_of


@later
def solve_spots(island: Island, aims: Aims, best: float) -> float:
    """Turns of solving spots, from the impulses of an island, whose residual is `best`, until they help little.

    Returns the least residual; the impulses are those that leave it.
    """
    spots, groups, most = island.spots, island.spots.groups, int(tuned.SPOT_AT_MOST * len(island.members))
    keep_best(island, best, 2.0 * best, spots.best)
    rings = tuned.SPOT_RINGS
    for _ in range(tuned.SPOT_TURNS):
        if best <= aims.good or rings < 0:
            break
        bodies, inside = _mark(island, tuned.SPOT_ABOVE * aims.good, rings)
        if bodies > most:
            rings -= 1
            continue
        before = best
        for spot in range(group(island.bodies.robots, spots.bodies[0:bodies], spots.points[0:inside], island.points, groups)):
            _solve_spot(
                Island(
                    groups.bodies[groups.first_body[spot] : groups.first_body[spot + 1]],
                    groups.points[groups.first_point[spot] : groups.first_point[spot + 1]],
                    island.bodies, island.points, island.factors, island.trial, spots,
                ), aims,
            )  # fmt: skip
        move(island)
        left = residual(island)
        island.trial.did[3] += 1
        best = keep_best(island, left, best, spots.best)
        if left > tuned.SPOT_LEAVES * before:
            rings -= 1
            restore(island, spots.best)
            move(island)
    restore(island, spots.best)
    move(island)
    pattern(island)
    return best


@procedure
def _mark(island: Island, above: float, rings: int) -> tuple[int, int]:
    """Lists the bodies of points that miss their laws by more, those around them, and all points between only these.

    Returns how many bodies and points these are.
    """
    points, trial, spots, label = island.points, island.trial, island.spots, island.spots.groups.label
    robots, bodies, inside = island.bodies.robots, 0, 0
    for at in range(len(island.members)):
        label[island.members[at]] = 0
    residual(island)  # leaves the impulses that the laws ask for in `aim`
    for ring in range(1, rings + 2):
        for at in range(len(island.listed)):
            c = island.listed[at]
            a, b, error = points.body[c, 0], points.body[c, 1], 0.0
            for k in range(3):
                error = max(error, abs(points.impulse[c, k] - trial.aim[c, k]) * points.size[c])
            if error > above if ring == 1 else (0 < label[a] < ring or (b >= 0 and 0 < label[b] < ring)):
                label[a] = label[a] if label[a] > 0 else ring
                if b >= 0 and label[b] == 0:
                    label[b] = ring
        for at in range(len(island.members)):  # the links of a robot are always together
            link = robots.link[island.members[at]]
            if link >= 0 and label[island.members[at]] > 0:
                label[robots.body[robots.first_link[robots.owner[link]]]] = ring
        for at in range(len(island.members)):
            link = robots.link[island.members[at]]
            if link >= 0:
                label[island.members[at]] = label[robots.body[robots.first_link[robots.owner[link]]]]
    for at in range(len(island.members)):
        if label[island.members[at]] > 0:
            spots.bodies[bodies] = island.members[at]
            bodies += 1
    for at in range(len(island.listed)):
        c = island.listed[at]
        if label[points.body[c, 0]] > 0 and (points.body[c, 1] < 0 or label[points.body[c, 1]] > 0):
            spots.points[inside] = c
            inside += 1
    return bodies, inside


@procedure
def _solve_spot(spot: Island, aims: Aims) -> None:
    """Better impulses of a spot's own points, while those of the points around it stay."""
    if pattern(spot) > len(spot.factors.later):
        return
    _change(spot, 0)
    move(spot)  # adds what its own impulses do, which its free velocities are to be without
    _change(spot, 1)
    move(spot)
    solve_whole(spot, aims, 1)
    _change(spot, 2)


@procedure
def _change(spot: Island, what: int) -> None:
    """Replaces the free velocities of a spot: `_replace`."""
    bodies, robots, kept = spot.bodies, spot.bodies.robots, spot.spots.free
    for at in range(len(spot.members)):
        body = spot.members[at]
        if robots.link[body] < 0:
            _replace(bodies.free[body], kept[body], bodies.after[body], what)
        if leads(robots, body) >= 0:
            first, rows = units_of(robots, body)
            for unit in range(first, first + rows):
                row = unit - len(bodies.mass)
                _replace(robots.free[row], kept[unit], robots.after[row], what)


@procedure
def _replace(free: Shaped[6], kept: Shaped[6], after: Shaped[6], what: int) -> None:
    """0: by those after the step, and keeps them; 1: by what these were before `move` added as much again; 2: by those kept."""
    if what == 0:
        kept[:] = free
        free[:] = after
    elif what == 1:
        free[:] = 2.0 * free - after
    else:
        free[:] = kept
