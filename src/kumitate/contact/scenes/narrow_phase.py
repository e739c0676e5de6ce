"""The points at which near solids touch, with the impulses that the same points had in the last step.

Points are the same if their solids and their features are (`contact.pairs.rows`). Both lists are sorted by solids, so that one
walk along them matches all.
"""

from __future__ import annotations

from ...procedure import Floats, Ints, procedure
from ..pairs.rows.convex import gap_along
from ..pairs.rows.solids import CONVEX, MOST, SPHERE, Points, Solid, Solids
from ..pairs.rows.touch import touch
from .arrays import Memory, MovingBodies, Placed, ScenePoints


@procedure
def find_points(
    solids: Solids, placed: Placed, pairs: Ints[2], count: int, margin: float, memory: Memory, known: int, found: Points,
    points: ScenePoints, axes: Floats[3],
) -> int:  # fmt: skip
    """Lists the points of the pairs within a margin [m]; returns how many there are, or how many there must be room for.

    Args:
        known: the number of points of the last step.
        axes: of pairs of hulls, an axis along which they were further apart than the margin. If they still are, nothing else is
            computed; what is found does not depend on it, so that pairs may share an entry.
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
        axis = axes[(a * len(placed.body) + b) % len(axes)]
        kind, other = solids.kinds[a], solids.kinds[b]
        hulls = kind >= SPHERE and other >= SPHERE and max(kind, other) == CONVEX
        one, two = Solid(solids, a, placed.pose[a]), Solid(solids, b, placed.pose[b])
        if hulls and gap_along(one, two, axis) > margin:
            continue
        here = touch(one, two, margin, before, found, total)
        if hulls:
            axis[:] = found.normals[total] * (1.0 if here == 0 else 0.0)
        for c in range(total, total + here):
            points.solid[c, 0] = a
            points.solid[c, 1] = b
            points.gap[c] = found.gaps[c]
            points.feature[c] = found.features[c]
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
        points.impulse[c] = 0.0
        if c < len(points.turns.length):
            points.turns.impulse[c] = 0.0
        at = first
        while at < known and memory.solid[at, 0] == a and memory.solid[at, 1] == b:
            if memory.feature[at] == points.feature[c]:
                points.known[c] = 1
                for k in range(3):
                    axis = points.frame[c, k]
                    points.impulse[c, k] = axis @ memory.impulse[at] / (axis @ axis)
                points.recalled[c] = memory.impulse[at]
                break
            at += 1


@procedure
def remember(bodies: MovingBodies, placed: Placed, points: ScenePoints, count: int, memory: Memory, known: int) -> int:
    """Writes the points that carry impulses to the memory, which keeps those that rested; returns how many they are."""
    resting = _keep_resting(placed, memory, known, count)
    if count == 0:
        return resting
    rest, known = len(memory.feature) - resting, 0
    for c in range(count):
        if points.impulse[c, 0] > 0.0:
            a, b = points.solid[c, 0], points.solid[c, 1]
            while rest < len(memory.feature) and (
                memory.solid[rest, 0] < a or (memory.solid[rest, 0] == a and memory.solid[rest, 1] < b)
            ):
                _copy_known(memory, rest, known)
                rest += 1
                known += 1
            _write_known(bodies, points, c, memory, known)
            known += 1
    while rest < len(memory.feature):
        _copy_known(memory, rest, known)
        rest += 1
        known += 1
    return known


@procedure
def _keep_resting(placed: Placed, memory: Memory, known: int, count: int) -> int:
    """Moves the points of solids that both rest to the end, or without other points to the begin; returns how many they are."""
    found = 0
    for step in range(known):
        at = step if count == 0 else known - 1 - step
        if placed.resting[memory.solid[at, 0]] * placed.resting[memory.solid[at, 1]] == 1:
            found += 1
            to = found - 1 if count == 0 else len(memory.feature) - found
            if to != at:
                _copy_known(memory, at, to)
    return found


@procedure
def _copy_known(memory: Memory, at: int, to: int) -> None:
    memory.feature[to] = memory.feature[at]
    memory.solid[to] = memory.solid[at]
    memory.impulse[to] = memory.impulse[at]


@procedure
def _write_known(bodies: MovingBodies, points: ScenePoints, c: int, memory: Memory, at: int) -> None:
    """Writes one point to the memory; of a sleeping body, what was there.

    Impulses of bodies at rest that had to be improved have also stopped what the last ones had let move: kept as they are,
    they would miss by as much the other way, and be improved in every second step for ever. What rest needs is between both.
    """
    total = points.impulse[c] @ points.frame[c]
    memory.feature[at] = points.feature[c]
    memory.solid[at] = points.solid[c]
    if points.known[c] == 1 and points.steady[c] > 0.0:
        total += points.steady[c] * (points.recalled[c] - total)
    if bodies.still[points.body[c, 0]] == 1:
        total[:] = points.recalled[c]
    memory.impulse[at] = total
