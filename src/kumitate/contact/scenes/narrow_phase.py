"""The points at which near solids touch, with the impulses that the same points had in the last step.

Points are the same if their solids and their features are (`contact.touching`). Both lists are sorted by solids, so that one
walk along them matches all.
"""

from __future__ import annotations

from ...procedure import Ints, procedure
from ..touching.solids import MOST, Points, Solids
from ..touching.touch import touch
from .arrays import Memory, Placed, ScenePoints

__all__ = ["find_points", "recall", "remember"]


@procedure
def find_points(
    solids: Solids, placed: Placed, pairs: Ints[2], count: int, margin: float, memory: Memory, known: int, found: Points,
    points: ScenePoints,
) -> int:  # fmt: skip
    """Lists the points of the pairs within a margin [m]; returns how many there are, or how many there must be room for.

    known: the number of points of the last step.
    """
    total, last = 0, 0
    for k in range(count):
        a, b = pairs[k, 0], pairs[k, 1]
        while last < known and (memory.solid[last, 0] < a or (memory.solid[last, 0] == a and memory.solid[last, 1] < b)):
            last += 1
        before = -1
        if last < known and memory.solid[last, 0] == a and memory.solid[last, 1] == b:
            before = memory.feature[last]
        if total + MOST > len(points.gap):
            return total + MOST * (count - k)
        here = touch(solids, a, placed.pose[a], b, placed.pose[b], margin, before, found, total)
        for c in range(total, total + here):
            points.solid[c, 0] = a
            points.solid[c, 1] = b
            points.gap[c] = found.gaps[c]
            points.feature[c] = found.features[c]
            for i in range(3):
                points.place[c, i] = found.positions[c, i]
                points.frame[c, 0, i] = -found.normals[c, i]
        total += here
    return total


@procedure
def recall(points: ScenePoints, count: int, memory: Memory, known: int) -> None:
    """Takes over the impulses of the last step's points, along the axes that the points have now."""
    first = 0
    for c in range(count):
        a, b = points.solid[c, 0], points.solid[c, 1]
        while first < known and (memory.solid[first, 0] < a or (memory.solid[first, 0] == a and memory.solid[first, 1] < b)):
            first += 1
        points.known[c] = 0
        points.steady[c] = 0.0
        for k in range(3):
            points.impulse[c, k] = 0.0
        if c < len(points.turns.length):
            for k in range(3):
                points.turns.impulse[c, k] = 0.0
        at = first
        while at < known and memory.solid[at, 0] == a and memory.solid[at, 1] == b:
            if memory.feature[at] == points.feature[c]:
                points.known[c] = 1
                for k in range(3):
                    axis = points.frame[c, k]
                    points.impulse[c, k] = (
                        axis[0] * memory.impulse[at, 0] + axis[1] * memory.impulse[at, 1] + axis[2] * memory.impulse[at, 2]
                    )
                    points.recalled[c, k] = points.impulse[c, k]
                break
            at += 1


@procedure
def remember(points: ScenePoints, count: int, memory: Memory) -> int:
    """Writes the points that carry impulses to the memory; returns how many they are.

    Impulses of bodies at rest that had to be improved have also stopped what the last ones had let move: kept as they are,
    they would miss by as much the other way, and be improved in every second step for ever. What rest needs is between both.
    """
    known = 0
    for c in range(count):
        if points.impulse[c, 0] > 0.0:
            memory.solid[known, 0] = points.solid[c, 0]
            memory.solid[known, 1] = points.solid[c, 1]
            memory.feature[known] = points.feature[c]
            for k in range(3):
                frame, impulse, recalled = points.frame[c], points.impulse[c], points.recalled[c]
                total = frame[0, k] * impulse[0] + frame[1, k] * impulse[1] + frame[2, k] * impulse[2]
                if points.known[c] == 1 and points.steady[c] > 0.0:
                    before = frame[0, k] * recalled[0] + frame[1, k] * recalled[1] + frame[2, k] * recalled[2]
                    total += points.steady[c] * (before - total)
                memory.impulse[known, k] = total
            known += 1
    return known
