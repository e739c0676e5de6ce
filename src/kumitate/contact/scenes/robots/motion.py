"""Robots before and after the contact of a step, by programs of their own (`arrays.RobotMotions`)."""

from __future__ import annotations

import math

from ....procedure import Floats, apply_at, local, procedure
from ..arrays import MovingBodies, Robots, Rules
from .loops import find_loops
from .response import feel


@procedure
def place_robots(rules: Rules, bodies: MovingBodies) -> None:
    """Poses of links, columns of joints, inertias; velocities before a step, and after it without drives and contact."""
    robots, own = bodies.robots, bodies.robots.motions
    for robot in range(len(robots.pushed)):
        links, end = robots.first_link[robot], robots.first_link[robot + 1]
        v, last = own.first_v[robot], own.first_v[robot + 1]
        first = robots.first_row[robot]
        apply_at(
            own.programs[robot, 0],
            (rules.step, own.q[own.first_q[robot] : own.first_q[robot + 1]], own.v[v:last]),
            (
                own.pose[links:end],
                robots.columns[6 * first : 6 * robots.first_row[robot + 1]],
                own.inertia[robots.first_block[robot] : robots.first_block[robot + 1]],
                robots.undriven[first : robots.first_row[robot + 1]],
            ),
        )
        for link in range(links, end):
            body = robots.body[link]
            for i in range(3):
                bodies.place[body, i] = own.pose[link, 9 + i]
                for j in range(3):
                    bodies.turn[body, i, j] = own.pose[link, 3 * i + j]
        for k in range(last - v):
            robots.before[first + k // 6, k % 6] = own.v[v + k]
        if own.programs[robot, 5] != 0:
            find_loops(rules, bodies, robot)


@procedure
def move_robots(rules: Rules, bodies: MovingBodies, work: Floats) -> None:
    """Advances the states of robots by a step: those that were pushed with the velocities after it, others in free flight."""
    robots, own = bodies.robots, bodies.robots.motions
    power, error = local(1), local(1)
    for robot in range(len(robots.pushed)):
        first_q, first_v = own.first_q[robot], own.first_v[robot]
        end_q, end_v = own.first_q[robot + 1], own.first_v[robot + 1]
        q, v, next_q, next_v = own.q[first_q:end_q], own.v[first_v:end_v], own.next_q[first_q:end_q], own.next_v[first_v:end_v]
        if robots.pushed[robot] == 0 and own.programs[robot, 2] != 0:
            u = own.u[own.first_u[robot] : own.first_u[robot + 1]]  # constant: the time does not matter
            apply_at(own.programs[robot, 2], (0.0, rules.step, q, v, 0.0, u), (next_q, next_v, power, error))
            work[0] += power[0]
        else:
            feel(bodies, robot)
            first, end = robots.first_row[robot], robots.first_row[robot + 1]
            after = own.reached[first:end]
            apply_at(own.programs[robot, 1], (rules.step, q, v, after, robots.felt[first:end]), (next_q, next_v, power))
            work[0] += rules.step * power[0]
        if own.programs[robot, 6] != 0:
            apply_at(own.programs[robot, 6], (next_q, next_v), (q, v))
        else:
            for k in range(end_q - first_q):
                q[k] = next_q[k]
            for k in range(end_v - first_v):
                v[k] = next_v[k]


@procedure
def reach(robots: Robots) -> None:
    """The velocities of all robots after a step, in the axes before it."""
    own = robots.motions
    for robot in range(len(robots.pushed)):
        for row in range(robots.first_row[robot], robots.first_row[robot + 1]):
            for k in range(6):
                after = robots.free[row, k] + own.opening[row, k]
                own.reached[row, k] = robots.after[row, k] if robots.pushed[robot] == 1 else after


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
