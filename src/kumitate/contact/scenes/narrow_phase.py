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

    A number below zero says which routine `touch` lacks.

    Args:
        known: the number of points of the last step.
        axes: of pairs of hulls, an axis along which they were further apart than the margin. If they still are, nothing else is
            computed; what is found does not depend on it, so that pairs may share an entry.
    """
    total, last = 0, 0
    for k in range(count):
        a, b = pairs[k, 0], pairs[k, 1]
        while last < known and precedes(memory.solid, last, a, b):
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
        if here < 0:
            return here
        if hulls:
            axis[:] = found.normals[total] * (1.0 if here == 0 else 0.0)
        for c in range(total, total + here):
            points.solid[c, 0], points.solid[c, 1] = a, b
            points.gap[c], points.feature[c] = found.gaps[c], found.features[c]
        total += here
    return total


@procedure
def recall(points: ScenePoints, count: int, memory: Memory, known: int) -> None:
    """Takes over the impulses of the last step's points, along the axes that the points have now."""
    first = 0
    for c in range(count):
        a, b = points.solid[c, 0], points.solid[c, 1]
        while first < known and precedes(memory.solid, first, a, b):
            first += 1
        points.known[c], points.steady[c] = 0, 0.0
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
def remember(
    bodies: MovingBodies, placed: Placed, points: ScenePoints, count: int, memory: Memory, former: Memory, known: int
) -> int:  # fmt: skip
    """Writes the points that carry impulses to the memory, which keeps those of solids that both rest; returns their number."""
    for at in range(known):
        _copy_known(memory, at, former, at)
    at, kept = 0, 0
    for c in range(count):
        if points.impulse[c, 0] > 0.0:
            while at < known and precedes(former.solid, at, points.solid[c, 0], points.solid[c, 1]):
                kept += _keep_resting(placed, former, at, memory, kept)
                at += 1
            _write_known(bodies, points, c, memory, kept)
            kept += 1
    while at < known:
        kept += _keep_resting(placed, former, at, memory, kept)
        at += 1
    return kept


@procedure
def precedes(pairs: Ints[2], row: int, a: int, b: int) -> bool:
    """Whether a row of a sorted list of pairs of solids stands before where the pair (a, b) does."""
    return pairs[row, 0] < a or (pairs[row, 0] == a and pairs[row, 1] < b)


@procedure
def _keep_resting(placed: Placed, former: Memory, at: int, memory: Memory, to: int) -> int:
    """Copies a known point if both of its solids rest; returns how many that are."""
    if placed.resting[former.solid[at, 0]] * placed.resting[former.solid[at, 1]] == 0:
        return 0
    _copy_known(former, at, memory, to)
    return 1


@procedure
def _copy_known(memory: Memory, at: int, other: Memory, to: int) -> None:
    other.feature[to] = memory.feature[at]
    other.solid[to] = memory.solid[at]
    other.impulse[to] = memory.impulse[at]


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
