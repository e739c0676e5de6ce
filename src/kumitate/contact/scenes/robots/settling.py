"""Drives and stops of robots in a step: passes until those that hold agree with the motion (`dynamics.settling.settled`)."""

from __future__ import annotations

from ....procedure import Floats, apply_at, local, procedure
from ..arrays import MovingBodies, Rules, ScenePoints
from .motion import reach


@procedure
def begin_settling(rules: Rules, bodies: MovingBodies) -> None:
    """Lets drives act without their limits, and stops not at all."""
    robots, own = bodies.robots, bodies.robots.motions
    for robot in range(len(robots.pushed)):
        if own.programs[robot, 3] != 0:
            first, end = own.first_freedom[robot], own.first_freedom[robot + 1]
            apply_at(
                own.programs[robot, 3],
                (
                    rules.step,
                    own.q[own.first_q[robot] : own.first_q[robot + 1]],
                    own.v[own.first_v[robot] : own.first_v[robot + 1]],
                    own.commands[own.first_command[robot] : own.first_command[robot + 1]],
                ),
                (
                    own.pieces[own.first_piece[robot] : own.first_piece[robot + 1]],
                    own.driving[first:end],
                    own.resisting[first:end],
                    own.carried[first:end],
                ),
            )


@procedure
def settle(rules: Rules, bodies: MovingBodies, points: ScenePoints, count: int, work: Floats) -> int:
    """Makes the next pass's drives and stops from the motion of this one; returns whether they are others.

    Args:
        count: the number of points, with their impulses.
        work: that of drives and stops in the step, if it ends with this pass [J].
    """
    robots, own, again = bodies.robots, bodies.robots.motions, 0
    _mark_pushed(bodies, points, count)
    reach(robots)
    unsettled, done = local(1), local(1)
    work[0] = 0.0
    for robot in range(len(robots.pushed)):
        if own.programs[robot, 4] == 0:
            continue
        first, v, last = robots.first_row[robot], own.first_v[robot], own.first_v[robot + 1]
        freedom, end = own.first_freedom[robot], own.first_freedom[robot + 1]
        for k in range(last - v):
            own.rates[v + k] = (own.reached[first + k // 6, k % 6] - own.v[v + k]) / rules.step
        pieces = own.pieces[own.first_piece[robot] : own.first_piece[robot + 1]]
        following = own.following[own.first_piece[robot] : own.first_piece[robot + 1]]
        apply_at(
            own.programs[robot, 4],
            (
                rules.step,
                own.q[own.first_q[robot] : own.first_q[robot + 1]],
                own.v[v:last],
                own.commands[own.first_command[robot] : own.first_command[robot + 1]],
                own.rates[v:last],
                pieces,
            ),
            (following, own.driving[freedom:end], own.resisting[freedom:end], unsettled, done),
        )
        for k in range(len(pieces)):
            pieces[k] = following[k]
        if unsettled[0] > 0.5:
            again = 1
        work[0] += done[0]
    return again


@procedure
def _mark_pushed(bodies: MovingBodies, points: ScenePoints, count: int) -> None:
    """Marks the robots that points with impulses are on."""
    robots = bodies.robots
    for c in range(count):
        if points.impulse[c, 0] > 0.0:
            for side in range(2):
                body = points.body[c, side]
                if body >= 0 and robots.link[body] >= 0:
                    robots.pushed[robots.owner[robots.link[body]]] = 1
