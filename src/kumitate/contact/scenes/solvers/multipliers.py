"""The method of multipliers of `impulse.cones` on an island, also of soft points and moments: where Newton's steps go round.

Along each of its steps the function is least where its derivative vanishes, for which the velocities of the points are enough.
"""

from __future__ import annotations

import math

from ....procedure import apply, at, local, procedure
from ....procedure.called import later
from ... import tuned
from ...laws import STIFF
from ...laws.cone import AUGMENTED, AUGMENTED_SLOPES, AUGMENTED_SLOPES_OF_TURNS, AUGMENTED_TURNS
from ..arrays import Island
from ..points import relative
from ..turns import add_moment, turning_speed
from .articulated import forget_links, go_on, solve_twists
from .assembly import assemble, inertial
from .blocks import factor
from .laws import keep_best, move, push_bodies, residual, restore, save


@later
def by_multipliers(island: Island, steps: int, good: float, strength: float, growth: float) -> float:
    """At most so many steps from the impulses of the points, until their residual is `good`; returns the least [m/s].

    strength: of the points in the first steps, as a part of their masses; growth: its factor whenever multipliers are renewed.
    """
    factors, trial, since, stalled, renewed, ahead = island.factors, island.trial, 0, 0, 0, 1.0
    left = residual(island)
    best = left
    save(island, trial.best)
    _raise(island, renewed, ahead)
    for _ in range(steps):
        _press(island, strength)
        trial.did[1] += 1
        assemble(island)
        factor(factors.count[0], factors)
        uneven = _descend(island, strength)
        since += 1
        if uneven > max(tuned.SETTLED * left, tuned.ROUNDED_BY * strength) and since <= tuned.MOST_AT_ONCE:
            continue
        _press(island, strength)
        move(island)
        left = residual(island)
        stalled = stalled + 1 if strength == STIFF and left > 0.5 * best else 0
        best = keep_best(island, left, best, trial.best)
        if best <= good or stalled > tuned.STALLS:
            break
        renewed, since = renewed + 1, 0
        ahead = _raise(island, renewed, ahead)
        strength = min(growth * strength, STIFF)
    restore(island, trial.best)
    move(island)
    return best


@procedure
def _raise(island: Island, times: int, ahead: float) -> float:
    """Takes impulses as multipliers x, and raises the normal velocities by z₀: the sliding speeds times μ.

    They converge by a factor that may be near 1, and are extrapolated from the last two of so many times (Anderson 1965), of
    which z has the last z₀ and its change; or, as long as changes are alike, go ahead by twice as many of them each time.
    Returns by how many.
    """
    points, trial, along, both, square, last = island.points, island.trial, 0.0, 0.0, 0.0, 0.0
    save(island, trial.x)
    for c in island.listed:
        z = trial.z[c]
        if times == 0:
            z[:] = 0.0
        change = points.friction[c] * math.sqrt(points.speed[c, 1] ** 2 + points.speed[c, 2] ** 2) - z[0]
        both += change * z[2]
        square += change * change
        last += z[2] * z[2]
        trial.share[c] = change
    along = square - both
    alike = times > 1 and both > tuned.ALIGNED * math.sqrt(square * last) and along > -0.05 * square
    ahead = min(2.0 * ahead, 1e6) if alike else 1.0
    part = min(max(along / max(square - 2.0 * both + last, 1e-300), -tuned.FARTHEST), tuned.FARTHEST)
    if times < 2 or alike:
        part = 0.0
    for c in island.listed:
        z, change = trial.z[c], trial.share[c]
        raised = z[0] + ahead * change - part * (z[0] - z[1] + change - z[2])
        z[0], z[1], z[2] = max(raised, 0.0), z[0], change
    return ahead


@procedure
def _press(island: Island, strength: float) -> None:
    """The impulses and moments of the points at their speeds, and by which K these change; moments as x limits them."""
    points, trial, turns = island.points, island.trial, island.points.turns
    for c in island.listed:
        apply(AUGMENTED_SLOPES, at(trial, c), at(points, c), strength, points.impulse[c], trial.K[c])
        trial.K[c] *= -1.0
        if c < len(turns.length):
            x = trial.x[len(points.gap) + c]
            apply(AUGMENTED_SLOPES_OF_TURNS, x, at(turns, c), strength, trial.x[c, 0], turns.impulse[c], turns.K[c])
            turns.K[c] *= -1.0
            turns.push[c] = 0.0


@procedure
def _descend(island: Island, strength: float) -> float:
    """A step of Newton's method to where the function is about least along it.

    Returns by how much the function there differs from the quadratic one of the step, as a velocity [m/s].
    """
    bodies, points, factors, trial, turns = island.bodies, island.points, island.factors, island.trial, island.points.turns
    own, new, more = local(6), local(3), len(points.gap)
    for node in range(factors.count[0]):
        inertial(bodies, factors.unit[node], trial.effort[node])
    forget_links(island, trial.effort)
    for c in island.listed:
        push_bodies(points, c, points.impulse[c], trial.effort, points.node[c, 0], points.node[c, 1])
        if c < len(turns.length):
            add_moment(points, c, turns.impulse[c], trial.effort, points.node[c, 0], points.node[c, 1])
    solve_twists(island, trial.effort)
    # the derivative along it is flat + share · bend − Σ P · du, and (M + Jᵀ K J) dv = Jᵀ P − M (v − v_free)
    flat, pushed, bend = 0.0, 0.0, 0.0
    for node in range(factors.count[0]):
        inertial(bodies, factors.unit[node], own)
        flat -= own @ trial.effort[node]
    for c in island.listed:
        du = trial.aim[c]
        relative(points, c, trial.effort, points.node[c, 0], points.node[c, 1], du)
        pushed += points.impulse[c] @ du
        bend -= du @ (trial.K[c] @ du)
        if c < len(turns.length):
            dw = trial.aim[more + c]
            turning_speed(points, c, trial.effort, points.node[c, 0], points.node[c, 1], dw)
            pushed += turns.impulse[c] @ dw
            bend -= dw @ (turns.K[c] @ dw)
    start = flat - pushed
    bend -= start
    low, high, at_low, at_high, share = 0.0, 1.0, start, start, 1.0
    for attempt in range(tuned.HALVINGS):
        slope, uneven = flat + share * bend, 0.0
        for c in island.listed:
            trial.lack[c] = points.speed[c] + share * trial.aim[c]
            apply(
                AUGMENTED, trial.x[c], trial.z[c], trial.lack[c], points.target[c], points.friction[c], points.mass[c],
                points.softness[c], strength, new,
            )  # fmt: skip
            slope -= new @ trial.aim[c]
            new -= points.impulse[c] - trial.K[c] @ trial.aim[c]
            uneven = max(uneven, max(abs(new[0]), abs(new[1]), abs(new[2])) * points.size[c])
            if c < len(turns.length):
                w, dw = trial.lack[more + c], trial.aim[more + c]
                w[:] = turns.speed[c] + share * dw
                apply(AUGMENTED_TURNS, trial.x[more + c], w, turns.limit[c], turns.mass[c], strength, trial.x[c, 0], new)
                slope -= new @ dw
                new -= turns.impulse[c] - turns.K[c] @ dw
                uneven = max(uneven, max(abs(new[0]), abs(new[1]), abs(new[2])) * turns.size[c])
        if abs(slope) <= tuned.LEVEL * abs(start) or (attempt == 0 and slope <= 0.0):
            break
        if slope > 0.0:
            high, at_high = share, slope
        else:
            low, at_low = share, slope
        share = low + (high - low) * min(max(at_low / (at_low - at_high), 0.1), 0.9)
    go_on(island, share, trial.effort)
    for c in island.listed:
        points.speed[c] = trial.lack[c]
        if c < len(turns.length):
            turns.speed[c] = trial.lack[more + c]
    return uneven if share == 1.0 else math.inf
