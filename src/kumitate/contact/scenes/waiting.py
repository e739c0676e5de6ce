"""Points that wait: they seem to stay apart, and are solved for only where the motion of the others would close them.

At long steps most points that may touch carry nothing; without them islands, and above all their factors, are far smaller.
"""

from __future__ import annotations

import math

from ...procedure import procedure
from .. import tuned
from .arrays import Island, Rules, Scene
from .islands import SOLVED, WAITS, WOKEN, count_piles
from .points import relative


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
