"""Projected Gauss-Seidel sweeps over the points of an island: slow, but they leave the stalls of the other methods.

Each point in turn takes the impulse that its law asks for at its present velocity (Jourdan, Alart, Jean 1998), forwards and
backwards, and the velocities of its bodies follow at once.
"""

from __future__ import annotations

from ....procedure import Shaped, local, procedure
from ..arrays import Islands, MovingBodies, ScenePoints, SolverSpace
from ..points import relative
from ..robots import nudged
from .laws import add_wrench, move, onto_cone, residual

__all__ = ["relax"]

#: The step of a point, as a part of its mass: its three velocities per unit impulse are at most three times the largest.
SHARE = 0.6


@procedure
def relax(island: int, sweeps: int, bodies: MovingBodies, islands: Islands, points: ScenePoints, trial: SolverSpace) -> float:
    """So many sweeps from the impulses of the points; returns the residual that they leave [m/s]."""
    first, last = islands.first_point[island], islands.first_point[island + 1]
    for sweep in range(sweeps):
        for at in range(first, last):
            _relax_point(islands.points[at if sweep % 2 == 0 else first + last - 1 - at], bodies, points, trial)
    move(island, bodies, islands, points)
    return residual(island, islands, points, trial)


@procedure
def _relax_point(c: int, bodies: MovingBodies, points: ScenePoints, trial: SolverSpace) -> None:
    a, b, aim = points.body[c, 0], points.body[c, 1], trial.aim[c]
    relative(points, c, bodies.after, a, b, aim)
    for k in range(3):
        aim[k] = points.impulse[c, k] - SHARE * points.mass[c] * (aim[k] + points.drift[c, k])
    aim[0] += SHARE * points.mass[c] * points.target[c]
    onto_cone(aim, points.friction[c])
    for k in range(3):
        change = aim[k] - points.impulse[c, k]
        points.impulse[c, k] = aim[k]
        aim[k] = change
    _push(bodies, a, points.frame[c], points.lever_a[c], aim, 1.0)
    if b >= 0:
        _push(bodies, b, points.frame[c], points.lever_b[c], aim, -1.0)


@procedure
def _push(bodies: MovingBodies, body: int, frame: Shaped[3, 3], lever: Shaped[3], impulse: Shaped[3], sign: float) -> None:
    """The velocities of a body after an impulse more."""
    wrench, twist, mobility, link = local(6), bodies.after[body], bodies.mobility[body], bodies.robots.link[body]
    add_wrench(frame, lever, impulse, sign, wrench)
    if link >= 0:
        nudged(bodies, link, wrench)
        return
    for i in range(3):
        twist[i] += mobility[i, 0] * wrench[0] + mobility[i, 1] * wrench[1] + mobility[i, 2] * wrench[2]
        twist[3 + i] += wrench[3 + i] / bodies.mass[body]
