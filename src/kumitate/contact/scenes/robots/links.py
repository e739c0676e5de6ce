"""The twists of a robot's links, efforts of wrenches on them, and the inverse of its inertia.

Twists and wrenches are handed from link to link along the tree, also where loops are closed: velocities that keep them so move
links as others do, and the inverse has nothing of efforts that would open them (`robots.loops`). It is found in blocks, by
Gauss and Jordan; the pivots are those of an inertia, and need no search.
"""

from __future__ import annotations

import numpy as np

from ....procedure import Floats, Shaped, local, procedure
from ..arrays import MovingBodies, Robots
from ..solvers.blocks import invert_block, largest, subtract_product, times


@procedure
def leads(robots: Robots, body: int) -> int:
    """The robot of which a body is the first link; −1 for all other bodies."""
    link = robots.link[body]
    if link < 0:
        return -1
    robot = robots.owner[link]
    return robot if robots.first_link[robot] == link else -1


@procedure
def is_closed(robots: Robots, robot: int) -> bool:
    """Whether a robot has loops or couplings."""
    return robots.motions.programs[robot, 2] != 0


@procedure
def spread(robots: Robots, robot: int, v: Floats[6]) -> None:
    """Writes the twists J v of all links to `screw`: that of the link above, moved to the own origin, and of the own joint."""
    first = robots.first_row[robot]
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        twist, above = robots.screw[link], robots.above[link]
        twist[:] = 0.0
        if above >= 0:
            carried = robots.screw[above]
            twist[:] = carried
            twist[3:6] += np.cross(carried[0:3], robots.lever[link])
        for at in range(robots.joint[link, 0], robots.joint[link, 1]):
            twist += robots.columns[6 * first + at] * v[first + at // 6, at % 6]


@procedure
def gather(robots: Robots, robot: int, efforts: Floats[6]) -> None:
    """Adds Jᵀ w of the wrenches w in `screw` to the rows of efforts: each is felt by the own joint, and by the link above."""
    first = robots.first_row[robot]
    for link in range(robots.first_link[robot + 1] - 1, robots.first_link[robot] - 1, -1):
        wrench, above = robots.screw[link], robots.above[link]
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
                J[i, k], J[3 + i, k] = column[i], column[3 + i] + moved[i]
        above = robots.above[above]


@procedure
def invert(robots: Robots, robot: int) -> None:
    """mobility = inertia⁻¹ of one robot."""
    begin, end = robots.first_block[robot], robots.first_block[robot + 1]
    rows, A = robots.first_row[robot + 1] - robots.first_row[robot], robots.mobility
    pivot, old = local(6, 6), local(6, 6)
    A[begin:end] = robots.inertia[begin:end]
    for k in range(rows - 1, -1, -1):  # from the tips of branches: blocks of separate ones stay zero until their joint root
        invert_block(A[begin + k * rows + k], pivot)
        for i in range(rows):
            at = begin + i * rows + k
            if i != k and is_zero(A[at]) == 0:
                times(A[at], pivot)
                for j in range(rows):
                    if j != k:
                        subtract_product(A[begin + i * rows + j], A[at], A[begin + k * rows + j])
                A[at] *= -1.0
        for j in range(rows):
            at = begin + k * rows + j
            if j != k:
                old[:] = A[at]
                A[at] = pivot @ old
        A[begin + k * rows + k] = pivot


@procedure
def invert_once(robots: Robots, robot: int) -> None:
    """`invert`, unless it is done in this pass: where nothing pushes, no inverse is needed."""
    if robots.inverted[robot] == 0:
        robots.inverted[robot] = 1
        invert(robots, robot)


@procedure
def respond(robots: Robots, robot: int, v: Floats[6]) -> None:
    """v += M⁻¹ `felt`."""
    first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
    for j in range(rows):
        felt = robots.felt[first + j]
        if largest(felt) > 0.0:
            invert_once(robots, robot)
            for i in range(rows):
                block, row = robots.mobility[robots.first_block[robot] + j * rows + i], v[first + i]
                for b in range(6):  # the mobility is symmetric
                    row += block[b] * felt[b]


@procedure
def is_zero(block: Shaped[6, 6]) -> int:
    """1 of a block of zeros, else 0."""
    most = 0.0
    for i in range(6):
        most = max(most, largest(block[i]))
    return 1 if most == 0.0 else 0
