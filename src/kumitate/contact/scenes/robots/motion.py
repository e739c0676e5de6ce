"""Robots before and after the contact of a step, by programs of their own (`arrays.RobotMotions`).

Drives and stops take passes through it, until those that hold agree with the motion (`dynamics.settling`).
"""

from __future__ import annotations

import math

from ....procedure import Floats, apply_at, local, procedure
from ..arrays import MovingBodies, Robots, Rules, ScenePoints
from .carrying import carry
from .loops import find_loops
from .response import feel

#: So often at most are loops closed to the first order in their error at the end of a step.
CLOSING = 8


@procedure
def place_robots(rules: Rules, bodies: MovingBodies) -> None:
    """Poses of links, columns of joints, inertias; velocities before a step, and after it without drives and contact."""
    robots, own = bodies.robots, bodies.robots.motions
    for robot in range(len(robots.pushed)):
        links, end = robots.first_link[robot], robots.first_link[robot + 1]
        first, v = robots.first_row[robot], own.v[own.first_v[robot] : own.first_v[robot + 1]]
        carry(rules, bodies, robot)
        for link in range(links, end):
            bodies.place[robots.body[link]] = own.pose[link, 3]
            bodies.turn[robots.body[link]] = own.pose[link, 0:3]
        for k in range(len(v)):
            robots.before[first + k // 6, k % 6] = v[k]
        if own.programs[robot, 2] != 0:
            find_loops(rules, bodies, robot)


@procedure
def move_robots(rules: Rules, bodies: MovingBodies, work: Floats) -> None:
    """Advances the states of robots by a step: those that were pushed with the velocities after it, others in free flight.

    Where neither stops push nor anything else but springs that the step resolves, the motion is smooth (`impulse.splitting`).
    """
    robots, own, power, error = bodies.robots, bodies.robots.motions, local(1), local(1)
    own.settled[:] = own.pieces
    for robot in range(len(robots.pushed)):
        first_q, first_v = own.first_q[robot], own.first_v[robot]
        end_q, end_v = own.first_q[robot + 1], own.first_v[robot + 1]
        q, v, next_q, next_v = own.q[first_q:end_q], own.v[first_v:end_v], own.next_q[first_q:end_q], own.next_v[first_v:end_v]
        if robots.pushed[robot] == 0 and own.programs[robot, 1] != 0:
            u = own.u[own.first_u[robot] : own.first_u[robot + 1]]  # constant: the time does not matter
            apply_at(own.programs[robot, 1], (0.0, rules.step, q, v, 0.0, u), (next_q, next_v, power, error))
            work[0] += power[0]
        else:
            feel(bodies, robot)
            first, end = robots.first_row[robot], robots.first_row[robot + 1]
            free, after, felt = robots.free[first:end], own.reached[first:end], robots.felt[first:end]
            if robots.pushed[robot] == 0:
                free[:] = after
            smooth = 1.0 if rules.flies == 1 and robots.pushed[robot] != 1 and robots.stopping[robot] <= 0.0 else 0.0
            apply_at(own.programs[robot, 0], (rules.step, q, v, free, after, felt, smooth), (next_q, next_v, power))
            work[0] += rules.step * power[0]
        q[:] = next_q
        v[:] = next_v
        for _ in range(CLOSING if own.programs[robot, 3] != 0 else 0):
            apply_at(own.programs[robot, 3], (q, v), (error,))
            if not error[0] > 0.0:
                break
            apply_at(own.programs[robot, 4], (q, v), (next_q, next_v))
            q[:] = next_q
            v[:] = next_v


@procedure
def reach(robots: Robots) -> None:
    """The velocities of all robots after a step, in the axes before it."""
    own = robots.motions
    for robot in range(len(robots.pushed)):
        begin, end = robots.first_row[robot], robots.first_row[robot + 1]
        own.reached[begin:end] = robots.after[begin:end]
        if robots.pushed[robot] == 0:
            own.reached[begin:end] = robots.free[begin:end] + own.opening[begin:end]


@procedure
def write_reached(robots: Robots, reached: Floats) -> None:
    """`reached` of all robots, one after the other."""
    own = robots.motions
    for robot in range(len(robots.pushed)):
        first, start = robots.first_row[robot], own.first_v[robot]
        for k in range(own.first_v[robot + 1] - start):
            reached[start + k] = own.reached[first + k // 6, k % 6]


@procedure
def are_finite(robots: Robots) -> int:
    """0 if the state of a robot has run away, else 1."""
    total, own = 0.0, robots.motions
    for k in range(len(own.q)):
        total += abs(own.q[k])
    for k in range(len(own.v)):
        total += abs(own.v[k])
    return 1 if total < math.inf else 0


@procedure
def begin_settling(rules: Rules, bodies: MovingBodies) -> None:
    """Lets drives act without their limits, and stops as they held in the last step."""
    own = bodies.robots.motions
    for k in range(len(own.acting)):
        at = own.acting[k]
        q, v, commands, numbers = own.q[at[2] :], own.v[at[3] :], own.commands[at[4] :], own.laws[at[5] :]
        pieces, before, first, end = own.pieces[at[6] : at[7]], own.settled[at[6] : at[7]], at[8], at[9]
        driving, resisting, carried = own.driving[first:end], own.resisting[first:end], own.carried[first:end]
        apply_at(at[0], (rules.step, q, v, commands, numbers, before), (pieces, driving, resisting, carried))


@procedure
def settle(rules: Rules, bodies: MovingBodies, points: ScenePoints, count: int, work: Floats) -> int:
    """Makes the next pass's drives and stops from the motion of this one; returns whether they are others.

    Args:
        count: the number of points, with their impulses.
        work: that of drives and stops in the step, if it ends with this pass [J].
    """
    robots, own, again = bodies.robots, bodies.robots.motions, 0
    for c in range(count):  # robots are marked that points with impulses are on
        for side in range(2 if points.impulse[c, 0] > 0.0 else 0):
            body = points.body[c, side]
            if body >= 0 and robots.link[body] >= 0:
                robot = robots.owner[robots.link[body]]
                if robots.pushed[robot] != 1:
                    robots.pushed[robot] = 2 if points.resolved[c] > 0.5 else 1
    reach(robots)
    unsettled, done, stopping = local(1), local(1), local(1)
    robots.stopping[:] = 0.0
    work[0] = 0.0
    for robot in range(len(robots.pushed)):
        row, first = robots.first_row[robot], own.first_v[robot]
        for k in range(own.first_v[robot + 1] - first):
            own.rates[first + k] = (own.reached[row + k // 6, k % 6] - own.v[first + k]) / rules.step
    for k in range(len(own.acting)):
        at = own.acting[k]
        q, v, commands, numbers = own.q[at[2] :], own.v[at[3] :], own.commands[at[4] :], own.laws[at[5] :]
        pieces, following = own.pieces[at[6] : at[7]], own.following[at[6] : at[7]]
        driving, resisting = own.driving[at[8] : at[9]], own.resisting[at[8] : at[9]]
        apply_at(
            at[1], (rules.step, q, v, commands, numbers, own.rates[at[3] :], pieces),
            (following, driving, resisting, unsettled, done, stopping),
        )  # fmt: skip
        robots.stopping[at[10]] += stopping[0]
        again = 1 if unsettled[0] > 0.5 else again
        work[0] += done[0]
    own.pieces[:] = own.following
    return again
