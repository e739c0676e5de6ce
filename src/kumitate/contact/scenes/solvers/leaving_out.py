"""Newton's method with other laws for single points: where those of redundant points keep it going round between their modes.

Of the corners of a plate that falls flat on a floor and slides, say, three carry it, and rounding decides which; steps that
change the modes of all points at once may never find them. So some Newton steps leave a point out, or several, or hold one that
slides slowly, and go on from there with the laws of all.
"""

from __future__ import annotations

import math

from ....procedure import procedure
from ... import tuned
from ...laws import NEVER
from ..arrays import Island
from .laws import move, residual, restore, save
from .newton import newton

#: Points are left out one at a time, then more and more of them; then one at a time is held.
ALONE, TOGETHER, HELD = 0, 1, 2
#: The friction of a point that is held.
ROUGH = 1e3


@procedure
def leave_out(island: Island, tries: int, good: float, enough: float, best: float) -> float:
    """At most so many tries of each kind from the impulses in `trial.first`, whose residual is `best`, until one is `good`.

    Returns the least residual, of the impulses that are then in `trial.first`.
    """
    trial = island.trial
    for way in range(3):
        for at in range(len(island.listed)):
            trial.share[island.listed[at]] = 0.0
        restore(island, trial.first)
        for _ in range(min(tries, len(island.listed))):
            if way != TOGETHER:
                restore(island, trial.first)
            move(island)
            c = _next(island, way)
            if best <= good or c < 0:
                break
            _change(island, way, c)
            move(island)
            newton(island, tuned.STEPS_WITHOUT, 1, enough, math.inf)
            _change_back(island)
            left = newton(island, tuned.STEPS_WITHOUT, 1, enough, math.inf)
            if left < best:
                save(island, trial.first)
                best = left
    return best


@procedure
def _next(island: Island, way: int) -> int:
    """The point to try next, of those that push and were not tried yet; −1 if there is none, and else it is marked.

    To be left out, the one that misses its law most, those last that should push more; to be held, the slowest that slides.
    """
    points, trial = island.points, island.trial
    residual(island)  # leaves the impulses that the laws ask for in `aim`
    found, most = -1, 0.0
    for at in range(len(island.listed)):
        c = island.listed[at]
        if trial.share[c] > 0.0 or points.impulse[c, 0] <= 0.0:
            continue
        error = 0.0
        if way == HELD:
            x, y, sliding = points.impulse[c, 1], points.impulse[c, 2], points.friction[c] * points.impulse[c, 0]
            if x * x + y * y >= 0.999 * sliding * sliding:
                error = 1.0 / (1e-300 + math.sqrt(points.speed[c, 1] ** 2 + points.speed[c, 2] ** 2))
        else:
            for k in range(3):
                error = max(error, abs(points.impulse[c, k] - trial.aim[c, k]) * points.size[c])
            if points.speed[c, 0] < points.target[c]:
                error *= 1e-6
        if error > most:
            found = c
            most = error
    if found >= 0:
        trial.share[found] = 1.0
    return found


@procedure
def _change(island: Island, way: int, c: int) -> None:
    """Leaves a point out, with all that were tried before if they are left out together, or holds it."""
    points, trial = island.points, island.trial
    for at in range(len(island.listed)):
        d = island.listed[at]
        trial.slope[d, 0] = points.target[d]
        trial.slope[d, 1] = points.friction[d]
        if way == HELD:
            points.friction[d] = ROUGH if d == c else points.friction[d]
        elif d == c or (way == TOGETHER and trial.share[d] > 0.0):
            points.target[d] = NEVER
            points.impulse[d] = 0.0


@procedure
def _change_back(island: Island) -> None:
    """The laws of all points again."""
    points, trial = island.points, island.trial
    for at in range(len(island.listed)):
        c = island.listed[at]
        points.target[c] = trial.slope[c, 0]
        points.friction[c] = trial.slope[c, 1]
