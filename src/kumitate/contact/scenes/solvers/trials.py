"""Impulses that a solver sets aside: before a step that may fail, and the best so far."""

from __future__ import annotations

from ....procedure import Floats, procedure
from ..arrays import Island
from .laws import move

__all__ = ["best_again", "keep_best", "restore", "save"]


@procedure
def save(island: Island, impulses: Floats[3]) -> None:
    """Copies the impulses of an island."""
    points = island.points
    for at in range(len(island.listed)):
        c = island.listed[at]
        for k in range(3):
            impulses[c, k] = points.impulse[c, k]
        if c < len(points.turns.length):
            for k in range(3):
                impulses[len(points.gap) + c, k] = points.turns.impulse[c, k]


@procedure
def restore(island: Island, impulses: Floats[3]) -> None:
    """Takes the impulses of an island back; the velocities are not changed."""
    points = island.points
    for at in range(len(island.listed)):
        c = island.listed[at]
        for k in range(3):
            points.impulse[c, k] = impulses[c, k]
        if c < len(points.turns.length):
            for k in range(3):
                points.turns.impulse[c, k] = impulses[len(points.gap) + c, k]


@procedure
def keep_best(island: Island, now: float, best: float) -> float:
    """Sets the impulses aside if their residual is the least so far; returns the least."""
    trial = island.trial
    if now < best:
        save(island, trial.best)
        return now
    return best


@procedure
def best_again(island: Island, now: float, best: float) -> None:
    """Goes back to the best impulses if those that the points have now are worse."""
    trial = island.trial
    if not now <= best:
        restore(island, trial.best)
        move(island)
