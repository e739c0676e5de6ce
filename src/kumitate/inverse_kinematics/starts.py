"""Where searches begin again: at random postures, those first at which goals are nearest their targets.

The same postures are drawn for all targets. What they reach is computed once, and one product of matrices compares it with all
targets: −½ |t − r|² = t · r − ½ |r|² − ½ |t|². For a target this takes less time than a step of its search.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..compile import Kernel
from ..kinematics import random_coordinates
from ..model import Mechanism, Tree
from ..scalar import Scalar, trace
from .contract import Goal, KeyedGoals, Posture
from .limits import limits_of

#: How many postures are drawn at least: with half or twice as many, searches of Panda take the same time within 10 %.
DRAWN = 256


class ComparedPostures:
    """Random postures, compared with several targets.

    Attributes:
        postures: their coordinates (postures, nq).
        nearness: to every target (targets, postures), larger where nearer, −∞ for those that were taken.
    """

    def __init__(self, postures: np.ndarray, nearness: np.ndarray):
        self.postures, self.nearness = postures, nearness

    def take(self, count: int) -> np.ndarray:
        """The next `count` postures (targets, count, nq) for every target, the nearest first."""
        rows, chosen = np.arange(len(self.nearness)), np.empty((len(self.nearness), count), dtype=np.intp)
        for k in range(count):
            chosen[:, k] = self.nearness.argmax(axis=1)
            self.nearness[rows, chosen[:, k]] = -np.inf
        return self.postures[chosen]

    def keep(self, rows: np.ndarray) -> None:
        """Goes on with some of the targets (a mask)."""
        self.nearness = self.nearness[rows]


def compared(
    mechanism: Mechanism, goals: Sequence[Goal], targets: Sequence[np.ndarray], postures: np.ndarray
) -> ComparedPostures:
    """Postures as starts for targets (targets, size) of goals; without a goal that can be compared they keep their order."""
    told = [(goal, target) for goal, target in zip(goals, targets, strict=True) if goal.scales(mechanism.tree)]
    if not told:
        return ComparedPostures(postures, np.zeros((len(targets[0]), len(postures)), np.float32))
    scale = np.concatenate([goal.weight**0.5 * np.array(goal.scales(mechanism.tree)) for goal, _ in told])
    reached = _reached(mechanism, KeyedGoals([[goal for goal, _ in told]]))(postures) * scale
    wanted = np.concatenate([target for _, target in told], axis=1) * scale
    nearness = wanted.astype(np.float32) @ reached.astype(np.float32).T
    nearness -= 0.5 * np.sum(reached**2, axis=1, dtype=np.float32)
    return ComparedPostures(postures, nearness)


@lru_cache(maxsize=64)
def random_postures(mechanism: Mechanism, seed: int, count: int, limits: bool) -> np.ndarray:
    """Random coordinates (at least `count`, nq), those with limits within them; kept, as drawing 256 takes milliseconds."""
    rng = np.random.default_rng(seed)
    low, high = limits_of(mechanism) if limits else ({}, {})
    bounded = sorted(low.keys() & high.keys())
    q = np.zeros((max(count, DRAWN), mechanism.nq))
    if len(bounded) < mechanism.nq:
        q[:] = [random_coordinates(mechanism.tree, rng) for _ in q]
    q[:, bounded] = rng.uniform([low[i] for i in bounded], [high[i] for i in bounded], (len(q), len(bounded)))
    q.flags.writeable = False
    return q


@lru_cache(maxsize=64)
def _reached(mechanism: Mechanism, goals: KeyedGoals) -> Kernel:
    """q → the targets that a posture reaches, side by side."""
    tree: Tree = mechanism.tree

    def reached(q: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        posture = Posture(tree, q)
        return {"reached": [x for goal in goals.levels[0] for x in goal.reached(posture)]}

    return Kernel(trace(reached, {"q": tree.nq}, f"reached_{mechanism.name}"))
