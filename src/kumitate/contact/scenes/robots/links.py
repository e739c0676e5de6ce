"""The twists of a robot's links, and efforts of wrenches on them: handed from link to link along the tree.

Where loops are closed, all links move with all velocities: their twists are products with Jacobians (`robots.loops`).
"""

from __future__ import annotations

import numpy as np

from ....procedure import Floats, procedure
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
        twist[:] = 0.0
        if whole:
            for row in range(robots.first_row[robot + 1] - first):
                J, rates = robots.jacobian[robots.first_column[link] + row], v[first + row]
                for k in range(6):
                    twist[k] += J[k] @ rates
            continue
        if above >= 0:
            carried = robots.screw[above]
            twist[:] = carried
            twist[3:6] += np.cross(carried[0:3], robots.lever[link])
        for at in range(robots.joint[link, 0], robots.joint[link, 1]):
            twist += robots.columns[6 * first + at] * v[first + at // 6, at % 6]


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
                J, effort = robots.jacobian[robots.first_column[link] + row], efforts[first + row]
                for i in range(6):
                    effort += J[i] * wrench[i]
            continue
        for at in range(robots.joint[link, 0], robots.joint[link, 1]):
            efforts[first + at // 6, at % 6] += robots.columns[6 * first + at] @ wrench
        if above >= 0:
            carried = robots.screw[above]
            carried += wrench
            carried[0:3] += np.cross(robots.lever[link], wrench[3:6])


@procedure
def write_jacobian(bodies: MovingBodies, link: int) -> None:
    """The Jacobian of a link: the columns of all joints that carry it, moved to its origin."""
    robots, above = bodies.robots, link
    robot, begin = robots.owner[link], robots.first_column[link]
    rows, place = robots.first_row[robot + 1] - robots.first_row[robot], bodies.place[robots.body[link]]
    robots.jacobian[begin : begin + rows] = 0.0
    while above >= 0:
        lever = place - bodies.place[robots.body[above]]
        for at in range(robots.joint[above, 0], robots.joint[above, 1]):
            column, J, k = robots.columns[6 * robots.first_row[robot] + at], robots.jacobian[begin + at // 6], at % 6
            moved = np.cross(column[0:3], lever)
            for i in range(3):
                J[i, k] = column[i]
                J[3 + i, k] = column[3 + i] + moved[i]
        above = robots.above[above]
