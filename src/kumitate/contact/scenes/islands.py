"""Islands: bodies that touch one another, found by union-find (Galler and Fischer 1964); the world joins nothing."""

from __future__ import annotations

from ...procedure import Ints, procedure
from .arrays import Islands, Robots, ScenePoints, Spots


@procedure
def group_all(robots: Robots, count: int, points: ScenePoints, islands: Islands, space: Spots) -> int:
    """Lists all bodies, and so many points, by islands; returns how many have points."""
    for body in range(len(robots.link)):
        space.bodies[body] = body
    for c in range(count):
        space.points[c] = c
    return group(robots, space.bodies, space.points[0:count], points, islands)


@procedure
def group(robots: Robots, members: Ints, listed: Ints, points: ScenePoints, islands: Islands) -> int:
    """Lists these bodies and points by islands; returns how many islands have points. Bodies without points are in none.

    The points of two bodies follow one another; the links of a robot are always together.
    """
    for at in range(len(members)):
        body = members[at]
        link = robots.link[body]
        islands.parent[body] = body if link < 0 else robots.body[robots.first_link[robots.owner[link]]]
        islands.label[body] = -1
    last, facing = -1, -1
    for at in range(len(listed)):
        a, b = points.body[listed[at], 0], points.body[listed[at], 1]
        if b >= 0 and (a != last or b != facing):
            one, other = root_of(islands.parent, a), root_of(islands.parent, b)
            islands.parent[max(one, other)] = min(one, other)
        last = a
        facing = b
    found = 0
    for at in range(len(listed)):  # islands are numbered in the order of their first points
        root = root_of(islands.parent, points.body[listed[at], 0])
        if islands.label[root] < 0:
            islands.label[root] = found
            found += 1
    for island in range(found + 1):
        islands.first_body[island] = 0
        islands.first_point[island] = 0
    for at in range(len(members)):
        body = members[at]
        islands.label[body] = islands.label[root_of(islands.parent, body)]
        if islands.label[body] >= 0:
            islands.first_body[islands.label[body] + 1] += 1
    for at in range(len(listed)):
        islands.first_point[islands.label[points.body[listed[at], 0]] + 1] += 1
    for island in range(found):
        islands.first_body[island + 1] += islands.first_body[island]
        islands.first_point[island + 1] += islands.first_point[island]
    for at in range(len(members)):
        if islands.label[members[at]] >= 0:
            _append(islands.bodies, islands.first_body, islands.label[members[at]], members[at])
    for at in range(len(listed)):
        _append(islands.points, islands.first_point, islands.label[points.body[listed[at], 0]], listed[at])
    for step in range(found):  # appending has moved every start on to the next one's
        island = found - step
        islands.first_body[island] = islands.first_body[island - 1]
        islands.first_point[island] = islands.first_point[island - 1]
    islands.first_body[0] = 0
    islands.first_point[0] = 0
    return found


@procedure
def root_of(parent: Ints, body: int) -> int:
    """The root of a body's tree; the path to it is halved on the way."""
    while parent[body] != body:
        parent[body] = parent[parent[body]]
        body = parent[body]
    return body


@procedure
def _append(listed: Ints, starts: Ints, island: int, number: int) -> None:
    listed[starts[island]] = number
    starts[island] += 1
