"""The laws of contact at the points of an island: velocities and the residual; and impulses that a solver sets aside."""

from __future__ import annotations

from ....procedure import Floats, Shaped, apply, at, local, procedure
from ...laws import RESIDUAL
from ..arrays import Island
from ..points import relative
from ..robots import leads, pushed
from ..turns import add_moments, residual_of_turns, turning_speeds


@procedure
def add_wrench(frame: Shaped[3, 3], lever: Shaped[3], impulse: Shaped[3], share: float, wrench: Shaped[6]) -> None:
    """Adds a share of a point's impulse to the wrench [n; f] on a body about its center of mass."""
    x = share * (frame[0, 0] * impulse[0] + frame[1, 0] * impulse[1] + frame[2, 0] * impulse[2])
    y = share * (frame[0, 1] * impulse[0] + frame[1, 1] * impulse[1] + frame[2, 1] * impulse[2])
    z = share * (frame[0, 2] * impulse[0] + frame[1, 2] * impulse[1] + frame[2, 2] * impulse[2])
    wrench[0] += lever[1] * z - lever[2] * y
    wrench[1] += lever[2] * x - lever[0] * z
    wrench[2] += lever[0] * y - lever[1] * x
    wrench[3] += x
    wrench[4] += y
    wrench[5] += z


@procedure
def move(island: Island) -> None:
    """The velocities after the impulses of an island: `after` of its bodies and `speed` of its points."""
    bodies, points = island.bodies, island.points
    for row in range(len(island.members)):
        for k in range(6):
            bodies.after[island.members[row], k] = 0.0
    for row in range(len(island.listed)):
        c = island.listed[row]
        a, b = points.body[c, 0], points.body[c, 1]
        if points.impulse[c, 0] == 0.0:  # all of them are in their cones
            continue
        add_wrench(points.frame[c], points.lever_a[c], points.impulse[c], 1.0, bodies.after[a])
        if b >= 0:
            add_wrench(points.frame[c], points.lever_b[c], points.impulse[c], -1.0, bodies.after[b])
    if len(points.turns.length) > 0:
        add_moments(island, bodies.after)
    for row in range(len(island.members)):
        body = island.members[row]
        if bodies.robots.link[body] >= 0:
            robot = leads(bodies.robots, body)
            if robot >= 0:
                pushed(bodies, robot)
            continue
        twist, mobility, each = bodies.after[body], bodies.mobility[body], 1.0 / bodies.mass[body]
        x, y, z = twist[0], twist[1], twist[2]
        for k in range(3):
            twist[k] = bodies.free[body, k] + mobility[k, 0] * x + mobility[k, 1] * y + mobility[k, 2] * z
            twist[3 + k] = bodies.free[body, 3 + k] + each * twist[3 + k]
    for row in range(len(island.listed)):
        c = island.listed[row]
        relative(points, c, bodies.after, points.body[c, 0], points.body[c, 1], points.speed[c])
        for k in range(3):
            points.speed[c, k] += points.drift[c, k]
    if len(points.turns.length) > 0:
        turning_speeds(island, bodies.after)


@procedure
def residual(island: Island) -> float:
    """The largest residual of an island's points [m/s], infinite for NaN; `aim` of each is what the laws ask for."""
    points, trial = island.points, island.trial
    worst, error = 0.0, local(1)
    for row in range(len(island.listed)):
        c = island.listed[row]
        apply(RESIDUAL, at(points, c), at(trial, c), error)
        worst = max(worst, error[0])
    if len(points.turns.length) > 0:
        worst = max(worst, residual_of_turns(island))
    return worst


@procedure
def save(island: Island, impulses: Floats[3]) -> None:
    """Copies the impulses of an island."""
    points = island.points
    for row in range(len(island.listed)):
        c = island.listed[row]
        for k in range(3):
            impulses[c, k] = points.impulse[c, k]
        if c < len(points.turns.length):
            for k in range(3):
                impulses[len(points.gap) + c, k] = points.turns.impulse[c, k]


@procedure
def restore(island: Island, impulses: Floats[3]) -> None:
    """Takes the impulses of an island back; the velocities are not changed."""
    points = island.points
    for row in range(len(island.listed)):
        c = island.listed[row]
        for k in range(3):
            points.impulse[c, k] = impulses[c, k]
        if c < len(points.turns.length):
            for k in range(3):
                points.turns.impulse[c, k] = impulses[len(points.gap) + c, k]


@procedure
def keep_best(island: Island, now: float, best: float) -> float:
    """Sets the impulses aside if their residual is the least so far; returns the least."""
    trial = island.trial
    if now < best:
        save(island, trial.best)
        return now
    return best


@procedure
def best_again(island: Island, now: float, best: float) -> None:
    """Goes back to the best impulses if those that the points have now are worse."""
    trial = island.trial
    if not now <= best:
        restore(island, trial.best)
        move(island)
