"""What efforts and impulses do to a robot: its velocities change by M⁻¹ times them."""

from __future__ import annotations

from ....procedure import Shaped, local, procedure
from ..arrays import MovingBodies, Robots, Rules
from ..solvers.blocks import largest
from .links import gather, invert_once, is_closed, respond, spread, write_jacobian
from .loops import keep_closed, keep_jacobian_closed


@procedure
def resist(robots: Robots, robot: int) -> None:
    """The inertia with those of drives and stops."""
    own, begin = robots.motions, robots.first_block[robot]
    rows = robots.first_row[robot + 1] - robots.first_row[robot]
    robots.inertia[begin : robots.first_block[robot + 1]] = own.inertia[begin : robots.first_block[robot + 1]]
    first = own.first_freedom[robot]
    for k in range(min(6 * rows, own.first_freedom[robot + 1] - first)):
        robots.inertia[begin + k // 6 * (rows + 1), k % 6, k % 6] += own.resisting[first + k]
    for k in range(first + 6 * rows, own.first_freedom[robot + 1]):
        if own.resisting[k] > 0.0:
            axis = own.axes[own.first_axis[robot] + (k - first - 6 * rows) * rows : own.first_axis[robot + 1]]
            for i in range(rows):
                for j in range(rows):
                    for a in range(6):
                        robots.inertia[begin + i * rows + j, a] += own.resisting[k] * axis[i, a] * axis[j]


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
            change -= axis[i] @ robots.undriven[row + i]
        impulse = rules.step * own.driving[k] + own.resisting[k] * change
        robots.felt[row : row + rows] += impulse * axis[0:rows]


@procedure
def let_go(rules: Rules, bodies: MovingBodies) -> None:
    """Twists of the links before a step and after it without contact, with drives, and with `push` on the links."""
    robots = bodies.robots
    for robot in range(len(robots.pushed)):
        robots.pushed[robot] = 0
        resist(robots, robot)
        robots.inverted[robot] = 0
        if is_closed(robots, robot):
            keep_closed(robots, robot)
        feel(bodies, robot)
        begin, end = robots.first_row[robot], robots.first_row[robot + 1]
        robots.free[begin:end] = robots.undriven[begin:end] - robots.motions.opening[begin:end]
        robots.felt[begin:end] *= rules.step
        robots.felt[begin:end] += robots.motions.falling[begin:end]
        if robots.motions.first_freedom[robot + 1] > robots.motions.first_freedom[robot]:
            push(rules, robots, robot)
        respond(robots, robot, robots.free)
        for state in range(2):
            spread(robots, robot, robots.before if state == 0 else robots.free)
            for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
                twist = bodies.before[robots.body[link]] if state == 0 else bodies.free[robots.body[link]]
                twist[:] = robots.screw[link]
        robots.given[robots.first_link[robot] : robots.first_link[robot + 1]] = 0


@procedure
def feel(bodies: MovingBodies, robot: int) -> None:
    """felt: the efforts of the drives, and of `push` on the links."""
    robots = bodies.robots
    first, end, most = robots.first_row[robot], robots.first_row[robot + 1], 0.0
    robots.felt[first:end] = robots.effort[first:end] + robots.motions.along[first:end]
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        robots.screw[link] = bodies.push[robots.body[link]]
        most = max(most, largest(robots.screw[link]))
    if most > 0.0:
        gather(robots, robot, robots.felt)


@procedure
def yielding(bodies: MovingBodies, link: int) -> None:
    """Writes the Jacobian of a link, and `give`, J M⁻¹ Jᵀ, unless they are there in this step."""
    robots = bodies.robots
    if robots.given[link] == 1:
        return
    robots.given[link] = 1
    robot, half = robots.owner[link], local(6, 6)
    invert_once(robots, robot)
    write_jacobian(bodies, link)
    if is_closed(robots, robot):
        keep_jacobian_closed(robots, link)
    rows, give = robots.first_row[robot + 1] - robots.first_row[robot], robots.give[link]
    first = robots.first_column[link]
    give[:] = 0.0
    for m in range(rows):
        if robots.moves[first + m] == 1:
            half[:] = 0.0
            for n in range(rows):
                if robots.moves[first + n] == 1:
                    block = robots.mobility[robots.first_block[robot] + n * rows + m]
                    half += robots.jacobian[first + n] @ block
            give += half @ robots.jacobian[first + m].T


@procedure
def yielded(bodies: MovingBodies, body: int, one: Shaped[6], other: Shaped[6]) -> float:
    """oneᵀ M⁻¹ other: what an impulsive wrench on a body moves along another one [1/kg]; nothing of the world, which is −1."""
    if body < 0:
        return 0.0
    link, total = bodies.robots.link[body], 0.0
    if link >= 0:
        yielding(bodies, link)
        for k in range(6):
            total += one[k] * (bodies.robots.give[link, k] @ other)
        return total
    turned = bodies.mobility[body] @ other[0:3]
    return one[0:3] @ turned + (one[3:6] @ other[3:6]) / bodies.mass[body]


@procedure
def pushed(bodies: MovingBodies, robot: int) -> None:
    """Replaces wrenches on a robot's links, which stand in `after`, by the twists after them."""
    robots = bodies.robots
    begin, end = robots.first_row[robot], robots.first_row[robot + 1]
    robots.after[begin:end] = robots.free[begin:end]
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        robots.screw[link] = bodies.after[robots.body[link]]
    _push(bodies, robot)


@procedure
def nudged(bodies: MovingBodies, link: int, wrench: Shaped[6]) -> None:
    """The velocities of a robot after one more impulse on a link."""
    robots, robot = bodies.robots, bodies.robots.owner[link]
    robots.screw[robots.first_link[robot] : robots.first_link[robot + 1]] = 0.0
    robots.screw[link] = wrench
    _push(bodies, robot)


@procedure
def _push(bodies: MovingBodies, robot: int) -> None:
    """Adds what the wrenches in `screw` do to the velocities `after` of a robot and its links."""
    robots = bodies.robots
    robots.felt[robots.first_row[robot] : robots.first_row[robot + 1]] = 0.0
    gather(robots, robot, robots.felt)
    respond(robots, robot, robots.after)
    spread(robots, robot, robots.after)
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        bodies.after[robots.body[link]] = robots.screw[link]
