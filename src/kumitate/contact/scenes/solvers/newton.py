"""Newton's method on all contact laws of an island at once, as in `impulse.newton` and `models.rigid`, in blocks.

It converges in a few steps from the impulses of the last step, and for islands of up to about twenty bodies from anywhere.
"""

from __future__ import annotations

from ....procedure import apply, at, local, procedure
from ... import tuned
from ...laws import LINEARISED, STIFF, TURNING
from ..arrays import Island
from .assembly import advance, assemble
from .blocks import factor
from .laws import keep_best, move, residual, restore, save


@procedure
def newton(island: Island, passes: int, begun: int, enough: float, hopeless: float) -> float:
    """At most `passes` steps from the impulses of the points, until their residual is below `enough`; returns the least.

    Steps end before that if one makes no progress above `hopeless` [m/s].
    The points keep the impulses with the least residual. begun: 1 if they are a guess, 0 if the modes of the points decide the
    first step.
    """
    factors, trial, now = island.factors, island.trial, residual(island)
    best, strength = now, STIFF
    save(island, trial.best)
    for step in range(passes):
        if now <= enough:
            break
        trial.did[1] += 1
        save(island, trial.kept)
        by_mode = 1 if step == 0 and begun == 0 else 0
        _linearise(island, strength, step, by_mode)
        assemble(island)
        factor(factors.count[0], factors)
        advance(island)
        move(island)
        after = residual(island)
        best = keep_best(island, after, best, trial.best)
        done, weakest = after < now, strength <= tuned.WEAKEST
        if not done and step > 0 and after > hopeless:
            now = after
            break
        strength = (
            min(strength * tuned.STRONGER, STIFF)
            if after < tuned.PROGRESS * now
            else max(strength / tuned.WEAKER, tuned.WEAKEST)
        )
        if done or weakest:
            now = after
        else:
            restore(island, trial.kept)
            move(island)
    if not now <= best:
        restore(island, trial.best)
        move(island)
    return best


@procedure
def _linearise(island: Island, strength: float, step: int, by_mode: int) -> None:
    """The laws of points near their impulses and speeds; by_mode: 1 if `ScenePoints.mode` decides what they do."""
    points, trial, turns, aim = island.points, island.trial, island.points.turns, local(1)
    for c in island.listed:
        stiff = strength * (points.common[c] if step < tuned.ALIKE else points.mass[c])
        apply(LINEARISED, at(points, c), at(trial, c), stiff, float(by_mode), aim)
        if c < len(turns.length):
            above = points.speed[c, 0] - points.target[c] + points.softness[c] * points.impulse[c, 0]
            apply(
                TURNING, at(turns, c), strength * turns.mass[c], float(by_mode), points.impulse[c, 0], aim[0], above,
                trial.K[c, 0, 0],
            )  # fmt: skip
