"""Impulses that a solver sets aside: before a step that may fail, and the best so far."""

from __future__ import annotations

from ....procedure import Floats, procedure
from ..arrays import Islands, MovingBodies, ScenePoints, SolverSpace
from .laws import move

__all__ = ["best_again", "keep_best", "restore", "save"]


@procedure
def save(island: int, islands: Islands, points: ScenePoints, impulses: Floats[3]) -> None:
    """Copies the impulses of an island."""
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        for k in range(3):
            impulses[c, k] = points.impulse[c, k]
        if c < len(points.turns.length):
            for k in range(3):
                impulses[len(points.gap) + c, k] = points.turns.impulse[c, k]


@procedure
def restore(island: int, islands: Islands, points: ScenePoints, impulses: Floats[3]) -> None:
    """Takes the impulses of an island back; the velocities are not changed."""
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        for k in range(3):
            points.impulse[c, k] = impulses[c, k]
        if c < len(points.turns.length):
            for k in range(3):
                points.turns.impulse[c, k] = impulses[len(points.gap) + c, k]


@procedure
def keep_best(island: int, now: float, best: float, islands: Islands, points: ScenePoints, trial: SolverSpace) -> float:
    """Sets the impulses aside if their residual is the least so far; returns the least."""
    if now < best:
        save(island, islands, points, trial.best)
        return now
    return best


@procedure
def best_again(
    island: int, now: float, best: float, bodies: MovingBodies, islands: Islands, points: ScenePoints, trial: SolverSpace
) -> None:
    """Goes back to the best impulses if those that the points have now are worse."""
    if not now <= best:
        restore(island, islands, points, trial.best)
        move(island, bodies, islands, points)
