"""Islands: bodies that touch one another, found by union-find (Galler and Fischer 1964); the world joins nothing.

Points wait that seem to stay apart, and are solved for only where the motion of the others would close them: at long steps most
points that may touch carry nothing; without them islands, and above all their factors, are far smaller.
"""

from __future__ import annotations

import math

from ...procedure import Ints, procedure
from .. import tuned
from .arrays import Island, Islands, Robots, Rules, Scene, ScenePoints
from .points import relative
from .robots import leads

#: `ScenePoints.waits` of points that are solved for, that wait, and that have just ceased to.
SOLVED, WAITS, WOKEN = 0, 1, 2


@procedure
def group(robots: Robots, count: int, points: ScenePoints, islands: Islands) -> int:
    """Lists bodies, and those of so many points that do not wait, by islands; returns how many islands have points.

    Bodies without points are in none. The points of two bodies follow one another; the links of a robot are always together.
    """
    _join(robots, count, points, islands, False)
    found = 0
    for c in range(count):  # islands are numbered in the order of their first points
        root = root_of(islands.parent, points.body[c, 0])
        if points.waits[c] != WAITS and islands.label[root] < 0:
            islands.label[root] = found
            found += 1
    islands.first_body[0 : found + 1] = 0
    islands.first_point[0 : found + 1] = 0
    for body in range(len(robots.link)):
        islands.label[body] = islands.label[root_of(islands.parent, body)]
        if islands.label[body] >= 0:
            islands.first_body[islands.label[body] + 1] += 1
    for c in range(count):
        if points.waits[c] != WAITS:
            islands.first_point[islands.label[points.body[c, 0]] + 1] += 1
    for island in range(found):
        islands.first_body[island + 1] += islands.first_body[island]
        islands.first_point[island + 1] += islands.first_point[island]
    for body in range(len(robots.link)):
        if islands.label[body] >= 0:
            _append(islands.bodies, islands.first_body, islands.label[body], body)
    for c in range(count):
        if points.waits[c] != WAITS:
            _append(islands.points, islands.first_point, islands.label[points.body[c, 0]], c)
    for island in range(found, 0, -1):  # appending has moved every start on to the next one's
        islands.first_body[island] = islands.first_body[island - 1]
        islands.first_point[island] = islands.first_point[island - 1]
    islands.first_body[0] = 0
    islands.first_point[0] = 0
    return found


@procedure
def count_piles(robots: Robots, count: int, points: ScenePoints, islands: Islands) -> None:
    """Tells every body in how large a pile it is, were all points solved for; each robot counts as one body."""
    islands.pile[0 : len(robots.link)] = 0
    _join(robots, count, points, islands, True)
    for body in range(len(robots.link)):
        if robots.link[body] < 0 or leads(robots, body) >= 0:
            islands.pile[root_of(islands.parent, body)] += 1
    for body in range(len(robots.link)):
        islands.pile[body] = islands.pile[root_of(islands.parent, body)]


@procedure
def _join(robots: Robots, count: int, points: ScenePoints, islands: Islands, waiting: bool) -> None:
    """Makes the forest of bodies that points join, with those that wait or without; labels are forgotten."""
    for body in range(len(robots.link)):
        link = robots.link[body]
        islands.parent[body] = body if link < 0 else robots.body[robots.first_link[robots.owner[link]]]
        islands.label[body] = -1
    last, facing = -1, -1
    for c in range(count):
        a, b = points.body[c, 0], points.body[c, 1]
        if b >= 0 and (a != last or b != facing) and (waiting or points.waits[c] != WAITS):
            one, other = root_of(islands.parent, a), root_of(islands.parent, b)
            islands.parent[max(one, other)] = min(one, other)
            last, facing = a, b


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


@procedure
def choose(rules: Rules, scene: Scene, count: int) -> None:
    """Lets points wait that have carried hardly anything, and that stay apart unless their bodies are pushed more than others.

    Only those of free bodies in large piles, and none where bodies sleep or lie on springs.
    """
    bodies, points, closing, fastest = scene.bodies, scene.points, scene.trial.effort, 0.0
    points.waits[0:count] = SOLVED
    count_piles(bodies.robots, count, points, scene.islands)
    if rules.patience > 0 or len(scene.springs.law) > 0:
        return
    for body in range(len(bodies.mass)):
        closing[body, 0] = 0.0
    for c in range(count):
        a, b, speed = points.body[c, 0], points.body[c, 1], points.target[c] - points.free[c, 0]
        fastest = max(fastest, speed)
        closing[a, 0] = max(closing[a, 0], speed)
        if b >= 0:
            closing[b, 0] = max(closing[b, 0], speed)
    for c in range(count):
        a, b = points.body[c, 0], points.body[c, 1]
        pushed = closing[a, 0] + (closing[b, 0] if b >= 0 else 0.0)
        apart = points.free[c, 0] - points.target[c] > tuned.WAITS_OF_OWN * pushed + tuned.WAITS_OF_ALL * fastest
        free = bodies.robots.link[a] < 0 and (b < 0 or bodies.robots.link[b] < 0)
        idle = points.impulse[c, 0] * points.size[c] < tuned.WAITS_BELOW * rules.fall
        if apart and free and idle:
            points.waits[c] = WAITS
            points.impulse[c] = 0.0


@procedure
def wake(scene: Scene, count: int) -> tuple[int, float]:
    """Ends the waiting of points that the velocities after the step miss by more than their islands may miss the laws.

    Returns how many these are, and by how much the others are missed at most [m/s].
    """
    bodies, points, islands, woken, worst = scene.bodies, scene.points, scene.islands, 0, 0.0
    for body in range(len(bodies.mass)):
        if islands.label[body] < 0 and bodies.robots.link[body] < 0:
            bodies.after[body] = bodies.free[body]
    for c in range(count):
        if points.waits[c] == WOKEN:
            points.waits[c] = SOLVED
        if points.waits[c] == WAITS:
            a, b, allowed = points.body[c, 0], points.body[c, 1], math.inf
            relative(points, c, bodies.after, a, b, points.speed[c])
            points.speed[c] += points.drift[c]
            for side in range(2):
                body = points.body[c, side]
                if body >= 0 and islands.label[body] >= 0:
                    allowed = min(allowed, islands.allowed[body])
            missed = points.target[c] - points.speed[c, 0]
            if missed > allowed:
                points.waits[c] = WOKEN
                woken += 1
            else:
                worst = max(worst, missed)
    return woken, worst


@procedure
def has_woken(island: Island) -> bool:
    """Whether points of an island have just ceased to wait."""
    woken = False
    for c in island.listed:
        woken = woken or island.points.waits[c] == WOKEN
    return woken
