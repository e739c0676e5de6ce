"""What efforts and impulses do to a robot: its velocities change by M⁻¹ times them."""

from __future__ import annotations

from ....procedure import Shaped, local, procedure
from ..arrays import MovingBodies, Robots, Rules
from .inverse import invert, invert_once, respond
from .links import gather, is_whole, spread, write_jacobian
from .loops import keep_closed, keep_responses_closed


@procedure
def resist(robots: Robots, robot: int) -> None:
    """The inertia with those of drives and stops."""
    own, begin = robots.motions, robots.first_block[robot]
    rows = robots.first_row[robot + 1] - robots.first_row[robot]
    for at in range(begin, robots.first_block[robot + 1]):
        for i in range(6):
            for j in range(6):
                robots.inertia[at, i, j] = own.inertia[at, i, j]
    first = own.first_freedom[robot]
    for k in range(min(6 * rows, own.first_freedom[robot + 1] - first)):
        robots.inertia[begin + k // 6 * (rows + 1), k % 6, k % 6] += own.resisting[first + k]
    for k in range(first + 6 * rows, own.first_freedom[robot + 1]):
        if own.resisting[k] > 0.0:
            axis = own.axes[own.first_axis[robot] + (k - first - 6 * rows) * rows : own.first_axis[robot + 1]]
            for i in range(rows):
                for j in range(rows):
                    for a in range(6):
                        factor = own.resisting[k] * axis[i, a]
                        for b in range(6):
                            robots.inertia[begin + i * rows + j, a, b] += factor * axis[j, b]


@procedure
def push(rules: Rules, robots: Robots, robot: int) -> None:
    """Adds the impulses of drives and stops to `felt`.

    What resists changes of velocity by R also resists that of the step without it.
    """
    own, first, row = robots.motions, robots.motions.first_freedom[robot], robots.first_row[robot]
    rows = robots.first_row[robot + 1] - row
    for k in range(6 * rows):
        at, change = first + k, own.carried[first + k] - robots.undriven[row + k // 6, k % 6]
        robots.felt[row + k // 6, k % 6] += rules.step * own.driving[at] + own.resisting[at] * change
    for k in range(first + 6 * rows, own.first_freedom[robot + 1]):
        axis = own.axes[own.first_axis[robot] + (k - first - 6 * rows) * rows : own.first_axis[robot + 1]]
        change = own.carried[k]
        for i in range(rows):
            for a in range(6):
                change -= axis[i, a] * robots.undriven[row + i, a]
        impulse = rules.step * own.driving[k] + own.resisting[k] * change
        for i in range(rows):
            for a in range(6):
                robots.felt[row + i, a] += impulse * axis[i, a]


@procedure
def let_go(rules: Rules, bodies: MovingBodies) -> None:
    """Twists of the links before a step and after it without contact, with drives, and with `push` on the links."""
    robots = bodies.robots
    for robot in range(len(robots.pushed)):
        robots.pushed[robot] = 0
        resist(robots, robot)
        robots.inverted[robot] = 0
        if is_whole(robots, robot):
            robots.inverted[robot] = 1
            mean = keep_closed(robots, robot)
            invert(robots, robot)
            keep_responses_closed(robots, robot, mean)
        _measure_levers(bodies, robot)
        feel(bodies, robot)
        for row in range(robots.first_row[robot], robots.first_row[robot + 1]):
            for k in range(6):
                robots.free[row, k] = robots.undriven[row, k] - robots.motions.opening[row, k]
                robots.felt[row, k] *= rules.step
        if robots.motions.programs[robot, 3] != 0:
            push(rules, robots, robot)
        respond(robots, robot, robots.free)
        for state in range(2):
            spread(robots, robot, robots.before if state == 0 else robots.free)
            for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
                twist = bodies.before[robots.body[link]] if state == 0 else bodies.free[robots.body[link]]
                for k in range(6):
                    twist[k] = robots.screw[link, k]
        for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
            robots.given[link] = 0


@procedure
def _measure_levers(bodies: MovingBodies, robot: int) -> None:
    """From the origins of links to those of the links that they are joined to."""
    robots = bodies.robots
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        if robots.above[link] >= 0:
            own, above = bodies.place[robots.body[link]], bodies.place[robots.body[robots.above[link]]]
            for k in range(3):
                robots.lever[link, k] = own[k] - above[k]


@procedure
def feel(bodies: MovingBodies, robot: int) -> None:
    """felt: the efforts of the drives, and of `push` on the links."""
    robots = bodies.robots
    first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
    for row in range(first, first + rows):
        for k in range(6):
            robots.felt[row, k] = robots.effort[row, k] + robots.motions.along[row, k]
    most = 0.0
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        for k in range(6):
            robots.screw[link, k] = bodies.push[robots.body[link], k]
            most = max(most, abs(robots.screw[link, k]))
    if most > 0.0:
        gather(robots, robot, robots.felt)


@procedure
def yielding(bodies: MovingBodies, link: int) -> None:
    """Writes the Jacobian of a link, and `give`, J M⁻¹ Jᵀ, unless they are there in this step."""
    robots = bodies.robots
    if robots.given[link] == 1:
        return
    robots.given[link] = 1
    robot, half, turned = robots.owner[link], local(6, 6), local(6, 6)
    invert_once(robots, robot)
    if not is_whole(robots, robot):
        write_jacobian(bodies, link)
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
            for k in range(6):
                for j in range(6):
                    turned[k, j] = J[j, k]
            for i in range(6):
                for k in range(6):
                    factor = half[i, k]
                    for j in range(6):
                        give[i, j] += factor * turned[k, j]


@procedure
def pushed(bodies: MovingBodies, robot: int) -> None:
    """Replaces wrenches on a robot's links, which stand in `after`, by the twists after them."""
    robots = bodies.robots
    for row in range(robots.first_row[robot], robots.first_row[robot + 1]):
        for k in range(6):
            robots.after[row, k] = robots.free[row, k]
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        for k in range(6):
            robots.screw[link, k] = bodies.after[robots.body[link], k]
    _push(bodies, robot)


@procedure
def nudged(bodies: MovingBodies, link: int, wrench: Shaped[6]) -> None:
    """The velocities of a robot after one more impulse on a link."""
    robots, robot = bodies.robots, bodies.robots.owner[link]
    for other in range(robots.first_link[robot], robots.first_link[robot + 1]):
        for k in range(6):
            robots.screw[other, k] = wrench[k] if other == link else 0.0
    _push(bodies, robot)


@procedure
def _push(bodies: MovingBodies, robot: int) -> None:
    """Adds what the wrenches in `screw` do to the velocities `after` of a robot and its links."""
    robots = bodies.robots
    for row in range(robots.first_row[robot], robots.first_row[robot + 1]):
        for k in range(6):
            robots.felt[row, k] = 0.0
    gather(robots, robot, robots.felt)
    respond(robots, robot, robots.after)
    spread(robots, robot, robots.after)
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        for k in range(6):
            bodies.after[robots.body[link], k] = robots.screw[link, k]
