"""The twists of a robot's links, and efforts of wrenches on them."""

from __future__ import annotations

from ....procedure import Floats, Shaped, procedure
from ..arrays import Robots

__all__ = ["add_effort", "add_twist", "leads", "spread"]


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
    at = robots.first_column[link] + row
    if robots.moves[at] == 0:
        return
    J = robots.jacobian[at]
    for i in range(6):
        total = twist[i]
        for k in range(6):
            total += J[i, k] * v[k]
        twist[i] = total


@procedure
def add_effort(robots: Robots, link: int, row: int, wrench: Shaped[6], effort: Shaped[6]) -> None:
    """Adds what a wrench on a link contributes to the efforts along a row of velocities: its part of Jᵀ w."""
    at = robots.first_column[link] + row
    if robots.moves[at] == 0:
        return
    J = robots.jacobian[at]
    for i in range(6):
        for k in range(6):
            effort[k] += J[i, k] * wrench[i]


@procedure
def spread(robots: Robots, robot: int, given: int, v: Floats[6], twists: Floats[6]) -> None:
    """The twists of the links with velocities v; if `given` is 1, of those that points are near."""
    first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        if robots.given[link] < given:
            continue
        twist = twists[robots.body[link]]
        for k in range(6):
            twist[k] = 0.0
        for row in range(rows):
            add_twist(robots, link, row, v[first + row], twist)
