"""Projected Gauss-Seidel sweeps over the points of an island: slow, but they leave the stalls of the other methods.

Each point in turn takes the impulse that its law asks for at its present velocity (Jourdan, Alart, Jean 1998), forwards and
backwards, and the velocities of its bodies follow at once.
"""

from __future__ import annotations

from ....procedure import Shaped, apply, local, procedure
from ... import tuned
from ...laws import CONE
from ..arrays import Island, MovingBodies, ScenePoints, SolverSpace
from ..points import relative
from ..robots import nudged
from ..turns import add_moment, onto_limits, turning_speed
from .laws import move, push_bodies, residual


@procedure
def relax(island: Island, sweeps: int) -> float:
    """So many sweeps from the impulses of the points; returns the residual that they leave [m/s]."""
    bodies, points, trial = island.bodies, island.points, island.trial
    count = len(island.listed)
    for sweep in range(sweeps):
        for at in range(count):
            _relax_point(island.listed[at if sweep % 2 == 0 else count - 1 - at], bodies, points, trial)
    move(island)
    return residual(island)


@procedure
def _relax_point(c: int, bodies: MovingBodies, points: ScenePoints, trial: SolverSpace) -> None:
    a, b, aim, share = points.body[c, 0], points.body[c, 1], trial.aim[c], tuned.SHARE * points.mass[c]
    relative(points, c, bodies.after, a, b, aim)
    aim[:] = points.impulse[c] - share * (aim + points.drift[c])
    aim[0] += share * points.target[c]
    aim[0] /= 1.0 + share * points.softness[c]
    apply(CONE, aim, points.friction[c], aim)
    change = aim - points.impulse[c]
    points.impulse[c] = aim
    push_on(bodies, points, c, change)
    if c < len(points.turns.length):
        _relax_turn(c, bodies, points)


@procedure
def _relax_turn(c: int, bodies: MovingBodies, points: ScenePoints) -> None:
    """The moments of a point, by its present normal impulse."""
    aim, u, wrenches, turns, a, b = local(3), local(3), local(2, 6), points.turns, points.body[c, 0], points.body[c, 1]
    turning_speed(points, c, bodies.after, a, b, u)
    aim[:] = turns.impulse[c] - tuned.SHARE * turns.mass[c] * u
    onto_limits(points, c, aim)
    change = aim - turns.impulse[c]
    turns.impulse[c] = aim
    add_moment(points, c, change, wrenches, 0, 1)
    _pull(bodies, a, wrenches[0])
    _pull(bodies, b, wrenches[1])


@procedure
def push_on(bodies: MovingBodies, points: ScenePoints, c: int, impulse: Shaped[3]) -> None:
    """The velocities of both bodies of a point after an impulse more."""
    wrenches = local(2, 6)
    push_bodies(points, c, impulse, wrenches, 0, 1 if points.body[c, 1] >= 0 else -1)
    _pull(bodies, points.body[c, 0], wrenches[0])
    _pull(bodies, points.body[c, 1], wrenches[1])


@procedure
def _pull(bodies: MovingBodies, body: int, wrench: Shaped[6]) -> None:
    """The velocities of a body after an impulsive wrench more; the world, which is −1, does not move."""
    if body < 0:
        return
    link = bodies.robots.link[body]
    if link >= 0:
        nudged(bodies, link, wrench)
        return
    bodies.after[body, 0:3] += bodies.mobility[body] @ wrench[0:3]
    bodies.after[body, 3:6] += wrench[3:6] / bodies.mass[body]
