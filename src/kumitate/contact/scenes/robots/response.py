"""What efforts and impulses do to a robot: its velocities change by M⁻¹ times them."""

from __future__ import annotations

from ....procedure import Shaped, local, procedure
from ..arrays import MovingBodies, Robots
from ..rules import Rules
from .inverse import invert, respond
from .links import add_effort, spread
from .loops import keep_closed, keep_responses_closed
from .pushing import push, resist

__all__ = ["feel", "let_go", "nudged", "pushed", "yielding"]


@procedure
def let_go(rules: Rules, bodies: MovingBodies) -> None:
    """Twists of the links before a step and after it without contact, with drives, and with `push` on the links."""
    robots = bodies.robots
    for robot in range(len(robots.pushed)):
        robots.pushed[robot] = 0
        resist(robots, robot)
        if robots.motions.programs[robot, 5] == 0:
            invert(robots, robot)
        else:
            mean = keep_closed(robots, robot)
            invert(robots, robot)
            keep_responses_closed(robots, robot, mean)
        feel(bodies, robot)
        for row in range(robots.first_row[robot], robots.first_row[robot + 1]):
            for k in range(6):
                robots.free[row, k] = robots.undriven[row, k] - robots.motions.opening[row, k]
                robots.felt[row, k] *= rules.step
        if robots.motions.programs[robot, 3] != 0:
            push(rules, robots, robot)
        respond(robots, robot, robots.free)
        spread(robots, robot, 0, robots.before, bodies.before)
        spread(robots, robot, 0, robots.free, bodies.free)
        for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
            robots.given[link] = 0


@procedure
def feel(bodies: MovingBodies, robot: int) -> None:
    """felt: the efforts of the drives, and of `push` on the links."""
    robots = bodies.robots
    first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
    for row in range(first, first + rows):
        for k in range(6):
            robots.felt[row, k] = robots.effort[row, k] + robots.motions.along[row, k]
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        push, most = bodies.push[robots.body[link]], 0.0
        for k in range(6):
            most = max(most, abs(push[k]))
        if most > 0.0:
            for row in range(rows):
                add_effort(robots, link, row, push, robots.felt[first + row])


@procedure
def yielding(robots: Robots, link: int) -> None:
    """Writes `give` of a link, J M⁻¹ Jᵀ, unless it is there in this step."""
    if robots.given[link] == 1:
        return
    robots.given[link] = 1
    robot, half = robots.owner[link], local(6, 6)
    rows, give = robots.first_row[robot + 1] - robots.first_row[robot], robots.give[link]
    first = robots.first_column[link]
    for i in range(6):
        for j in range(6):
            give[i, j] = 0.0
    for m in range(rows):
        if robots.moves[first + m] == 1:
            for i in range(6):
                for j in range(6):
                    half[i, j] = 0.0
            for n in range(rows):
                if robots.moves[first + n] == 1:
                    J, block = robots.jacobian[first + n], robots.mobility[robots.first_block[robot] + n * rows + m]
                    for i in range(6):
                        for k in range(6):
                            factor = J[i, k]
                            for j in range(6):
                                half[i, j] += factor * block[k, j]
            J = robots.jacobian[first + m]
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
        if robots.given[link] == 1:
            for row in range(rows):
                add_effort(robots, link, row, bodies.after[robots.body[link]], robots.felt[first + row])
    respond(robots, robot, robots.after)
    spread(robots, robot, 1, robots.after, bodies.after)


@procedure
def nudged(bodies: MovingBodies, link: int, wrench: Shaped[6]) -> None:
    """The velocities of a robot after one more impulse on a link."""
    robots, robot = bodies.robots, bodies.robots.owner[link]
    first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
    for row in range(rows):
        for k in range(6):
            robots.felt[first + row, k] = 0.0
        add_effort(robots, link, row, wrench, robots.felt[first + row])
    respond(robots, robot, robots.after)
    spread(robots, robot, 1, robots.after, bodies.after)
