"""Robots in a scene: their velocities by joints, and what contact with their links does to them.

A robot's velocities, those of its joints, stand in rows of six, so that its inertia has the blocks of free bodies; the last row
is filled up by zeros. The twist of a link about its own origin is Σ J v over these rows, a wrench on it is felt as Jᵀ w, and
impulses change v by M⁻¹ Jᵀ w: M is that of a step implicit in the dampers and springs of the joints.
"""

from __future__ import annotations

from ...procedure import Floats, Shaped, local, procedure
from .arrays import MovingBodies, Robots
from .rules import Rules

__all__ = ["add_effort", "add_twist", "leads", "let_go", "nudged", "pushed"]


@procedure
def leads(robots: Robots, body: int) -> int:
    """The robot of which a body is the first link; −1 for all other bodies."""
    link = robots.link[body]
    if link < 0:
        return -1
    robot = robots.owner[link]
    return robot if robots.first_link[robot] == link else -1


@procedure
def add_twist(robots: Robots, link: int, row: int, v: Shaped[6], twist: Shaped[6]) -> None:
    """Adds what a row of velocities, counted from the robot's first, contributes to the twist of a link."""
    J = robots.jacobian[robots.first_column[link] + row]
    for i in range(6):
        total = twist[i]
        for k in range(6):
            total += J[i, k] * v[k]
        twist[i] = total


@procedure
def add_effort(robots: Robots, link: int, row: int, wrench: Shaped[6], effort: Shaped[6]) -> None:
    """Adds what a wrench on a link contributes to the efforts along a row of velocities: its part of Jᵀ w."""
    J = robots.jacobian[robots.first_column[link] + row]
    for i in range(6):
        for k in range(6):
            effort[k] += J[i, k] * wrench[i]


@procedure
def let_go(rules: Rules, bodies: MovingBodies) -> None:
    """Twists of the links before a step and after it without contact, with drives, and with `push` on the links."""
    robots = bodies.robots
    for robot in range(len(robots.pushed)):
        first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
        robots.pushed[robot] = 0
        for row in range(first, first + rows):
            for k in range(6):
                robots.felt[row, k] = robots.effort[row, k]
        for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
            for row in range(rows):
                add_effort(robots, link, row, bodies.push[robots.body[link]], robots.felt[first + row])
        for row in range(first, first + rows):
            for k in range(6):
                robots.felt[row, k] *= rules.step
                robots.free[row, k] = robots.undriven[row, k]
        _respond(robots, robot, robots.free)
        _spread(robots, robot, robots.before, bodies.before)
        _spread(robots, robot, robots.free, bodies.free)
        for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
            _give(robots, link)


@procedure
def _respond(robots: Robots, robot: int, v: Floats[6]) -> None:
    """v += M⁻¹ `felt`."""
    first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
    for i in range(rows):
        for j in range(rows):
            block = robots.mobility[robots.first_block[robot] + i * rows + j]
            for a in range(6):
                total = v[first + i, a]
                for b in range(6):
                    total += block[a, b] * robots.felt[first + j, b]
                v[first + i, a] = total


@procedure
def _spread(robots: Robots, robot: int, v: Floats[6], twists: Floats[6]) -> None:
    """The twists of the links with velocities v."""
    first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        twist = twists[robots.body[link]]
        for k in range(6):
            twist[k] = 0.0
        for row in range(rows):
            add_twist(robots, link, row, v[first + row], twist)


@procedure
def _give(robots: Robots, link: int) -> None:
    """The twist of a link per unit wrench on it, J M⁻¹ Jᵀ."""
    robot, half = robots.owner[link], local(6, 6)
    rows, give = robots.first_row[robot + 1] - robots.first_row[robot], robots.give[link]
    for i in range(6):
        for j in range(6):
            give[i, j] = 0.0
    for m in range(rows):
        for i in range(6):
            for j in range(6):
                half[i, j] = 0.0
        for n in range(rows):
            J, block = robots.jacobian[robots.first_column[link] + n], robots.mobility[robots.first_block[robot] + n * rows + m]
            for i in range(6):
                for k in range(6):
                    factor = J[i, k]
                    for j in range(6):
                        half[i, j] += factor * block[k, j]
        J = robots.jacobian[robots.first_column[link] + m]
        for i in range(6):
            for j in range(6):
                for k in range(6):
                    give[i, j] += half[i, k] * J[j, k]


@procedure
def pushed(bodies: MovingBodies, robot: int) -> None:
    """Replaces wrenches on a robot's links, which stand in `after`, by the twists after them."""
    robots = bodies.robots
    first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
    for row in range(first, first + rows):
        for k in range(6):
            robots.felt[row, k] = 0.0
            robots.after[row, k] = robots.free[row, k]
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        for row in range(rows):
            add_effort(robots, link, row, bodies.after[robots.body[link]], robots.felt[first + row])
    _respond(robots, robot, robots.after)
    _spread(robots, robot, robots.after, bodies.after)


@procedure
def nudged(bodies: MovingBodies, link: int, wrench: Shaped[6]) -> None:
    """The velocities of a robot after one more impulse on a link."""
    robots, robot = bodies.robots, bodies.robots.owner[link]
    first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
    for row in range(rows):
        for k in range(6):
            robots.felt[first + row, k] = 0.0
        add_effort(robots, link, row, wrench, robots.felt[first + row])
    _respond(robots, robot, robots.after)
    _spread(robots, robot, robots.after, bodies.after)
