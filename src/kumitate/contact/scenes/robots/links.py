"""The twists of a robot's links, and efforts of wrenches on them: handed from link to link along the tree.

Where loops are closed, all links move with all velocities: their twists are products with Jacobians (`robots.loops`).
"""

from __future__ import annotations

from ....procedure import Floats, Shaped, procedure
from ..arrays import MovingBodies, Robots


@procedure
def leads(robots: Robots, body: int) -> int:
    """The robot of which a body is the first link; −1 for all other bodies."""
    link = robots.link[body]
    if link < 0:
        return -1
    robot = robots.owner[link]
    return robot if robots.first_link[robot] == link else -1


@procedure
def is_whole(robots: Robots, robot: int) -> bool:
    """Whether the Jacobians of all links are there, with the loops of the robot."""
    return robots.motions.programs[robot, 5] != 0


@procedure
def spread(robots: Robots, robot: int, v: Floats[6]) -> None:
    """Writes the twists J v of all links to `screw`: that of the link above, moved to the own origin, and of the own joint."""
    whole, first = is_whole(robots, robot), robots.first_row[robot]
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        twist, above = robots.screw[link], robots.above[link]
        for k in range(6):
            twist[k] = 0.0
        if whole:
            for row in range(robots.first_row[robot + 1] - first):
                _add_twist(robots.jacobian[robots.first_column[link] + row], v[first + row], twist)
            continue
        if above >= 0:
            carried, lever = robots.screw[above], robots.lever[link]
            for k in range(6):
                twist[k] = carried[k]
            twist[3] += carried[1] * lever[2] - carried[2] * lever[1]
            twist[4] += carried[2] * lever[0] - carried[0] * lever[2]
            twist[5] += carried[0] * lever[1] - carried[1] * lever[0]
        for at in range(robots.joint[link, 0], robots.joint[link, 1]):
            column, rate = robots.columns[6 * first + at], v[first + at // 6, at % 6]
            for k in range(6):
                twist[k] += column[k] * rate


@procedure
def gather(robots: Robots, robot: int, efforts: Floats[6]) -> None:
    """Adds Jᵀ w of the wrenches w in `screw` to the rows of efforts: each is felt by the own joint, and by the link above."""
    whole, first = is_whole(robots, robot), robots.first_row[robot]
    begin, end = robots.first_link[robot], robots.first_link[robot + 1]
    for step in range(end - begin):
        link = end - 1 - step
        wrench, above = robots.screw[link], robots.above[link]
        if whole:
            for row in range(robots.first_row[robot + 1] - first):
                _add_effort(robots.jacobian[robots.first_column[link] + row], wrench, efforts[first + row])
            continue
        for at in range(robots.joint[link, 0], robots.joint[link, 1]):
            column = robots.columns[6 * first + at]
            along = column[0] * wrench[0] + column[1] * wrench[1] + column[2] * wrench[2]
            across = column[3] * wrench[3] + column[4] * wrench[4] + column[5] * wrench[5]
            efforts[first + at // 6, at % 6] += along + across
        if above < 0:
            continue
        carried, lever = robots.screw[above], robots.lever[link]
        for k in range(6):
            carried[k] += wrench[k]
        carried[0] += lever[1] * wrench[5] - lever[2] * wrench[4]
        carried[1] += lever[2] * wrench[3] - lever[0] * wrench[5]
        carried[2] += lever[0] * wrench[4] - lever[1] * wrench[3]


@procedure
def write_jacobian(bodies: MovingBodies, link: int) -> None:
    """The Jacobian of a link: the columns of all joints that carry it, moved to its origin."""
    robots, above = bodies.robots, link
    robot, begin = robots.owner[link], robots.first_column[link]
    rows, place = robots.first_row[robot + 1] - robots.first_row[robot], bodies.place[robots.body[link]]
    for row in range(rows):
        for i in range(6):
            for k in range(6):
                robots.jacobian[begin + row, i, k] = 0.0
    while above >= 0:
        joined = bodies.place[robots.body[above]]
        x, y, z = place[0] - joined[0], place[1] - joined[1], place[2] - joined[2]
        for at in range(robots.joint[above, 0], robots.joint[above, 1]):
            column, J, k = robots.columns[6 * robots.first_row[robot] + at], robots.jacobian[begin + at // 6], at % 6
            for i in range(6):
                J[i, k] = column[i]
            J[3, k] += column[1] * z - column[2] * y
            J[4, k] += column[2] * x - column[0] * z
            J[5, k] += column[0] * y - column[1] * x
        above = robots.above[above]


@procedure
def _add_twist(J: Shaped[6, 6], v: Shaped[6], twist: Shaped[6]) -> None:
    """twist += J v."""
    for i in range(6):
        total = twist[i]
        for k in range(6):
            total += J[i, k] * v[k]
        twist[i] = total


@procedure
def _add_effort(J: Shaped[6, 6], wrench: Shaped[6], effort: Shaped[6]) -> None:
    """effort += Jᵀ wrench."""
    for i in range(6):
        for k in range(6):
            effort[k] += J[i, k] * wrench[i]
