"""The laws of contact at the points of an island: velocities and the residual; and impulses that a solver sets aside."""

from __future__ import annotations

import numpy as np

from ....procedure import Floats, Shaped, apply, at, local, procedure
from ...laws import RESIDUAL, TURNED
from ..arrays import Island, ScenePoints
from ..points import relative
from ..robots import leads, pushed
from ..turns import add_moment, turning_speed


@procedure
def add_wrench(frame: Shaped[3, 3], lever: Shaped[3], impulse: Shaped[3], share: float, wrench: Shaped[6]) -> None:
    """Adds a share of a point's impulse to the wrench [n; f] on a body about its center of mass."""
    force = share * (impulse @ frame)
    wrench[0:3] += np.cross(lever, force)
    wrench[3:6] += force


@procedure
def push_bodies(points: ScenePoints, c: int, impulse: Shaped[3], wrenches: Floats[6], a: int, b: int) -> None:
    """Adds an impulse of a point to the wrenches on A and B, which stand in the rows a and b; −1: the world."""
    add_wrench(points.frame[c], points.lever_a[c], impulse, 1.0, wrenches[a])
    if b >= 0:
        add_wrench(points.frame[c], points.lever_b[c], impulse, -1.0, wrenches[b])


@procedure
def move(island: Island) -> None:
    """The velocities after the impulses of an island: `after` of its bodies and `speed` of its points."""
    bodies, points = island.bodies, island.points
    for body in island.members:
        bodies.after[body] = 0.0
    for c in island.listed:
        if points.impulse[c, 0] != 0.0:  # all of them are in their cones
            push_bodies(points, c, points.impulse[c], bodies.after, points.body[c, 0], points.body[c, 1])
            if c < len(points.turns.length):
                add_moment(points, c, points.turns.impulse[c], bodies.after, points.body[c, 0], points.body[c, 1])
    for body in island.members:
        if bodies.robots.link[body] >= 0:
            robot = leads(bodies.robots, body)
            if robot >= 0:
                pushed(bodies, robot)
            continue
        twist, each = bodies.after[body], 1.0 / bodies.mass[body]
        twist[0:3] = bodies.free[body, 0:3] + bodies.mobility[body] @ twist[0:3]
        twist[3:6] = bodies.free[body, 3:6] + each * twist[3:6]
    for c in island.listed:
        relative(points, c, bodies.after, points.body[c, 0], points.body[c, 1], points.speed[c])
        points.speed[c] += points.drift[c]
        if c < len(points.turns.length):
            turning_speed(points, c, bodies.after, points.body[c, 0], points.body[c, 1], points.turns.speed[c])


@procedure
def residual(island: Island) -> float:
    """The largest residual of an island's points [m/s], infinite for NaN; `aim` of each is what the laws ask for."""
    points, trial, worst, error = island.points, island.trial, 0.0, local(1)
    for c in island.listed:
        apply(RESIDUAL, at(points, c), at(trial, c), error)
        worst = max(worst, error[0])
        if c < len(points.turns.length):
            apply(TURNED, at(points.turns, c), points.impulse[c, 0], error)
            worst = max(worst, error[0])
    return worst


@procedure
def save(island: Island, impulses: Floats[3]) -> None:
    """Copies the impulses of an island."""
    points = island.points
    for c in island.listed:
        impulses[c] = points.impulse[c]
        if c < len(points.turns.length):
            impulses[len(points.gap) + c] = points.turns.impulse[c]


@procedure
def restore(island: Island, impulses: Floats[3]) -> None:
    """Takes the impulses of an island back; the velocities are not changed."""
    points = island.points
    for c in island.listed:
        points.impulse[c] = impulses[c]
        if c < len(points.turns.length):
            points.turns.impulse[c] = impulses[len(points.gap) + c]


@procedure
def keep_best(island: Island, now: float, best: float, impulses: Floats[3]) -> float:
    """Sets the impulses aside if their residual is the least so far; returns the least."""
    if now < best:
        save(island, impulses)
    return min(now, best)
