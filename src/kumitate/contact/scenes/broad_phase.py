"""The pairs of solids that are near each other: bounding boxes swept along x (Baraff 1992), and planes one by one.

The order along x hardly changes from step to step, so that sorting by insertion takes about one comparison per solid.
"""

from __future__ import annotations

from ...procedure import Floats, Ints, procedure
from .arrays import MovingBodies, Placed


@procedure
def place_solids(bodies: MovingBodies, placed: Placed) -> None:
    """Poses and bounding boxes of the solids, larger by their margins on every side."""
    for s in range(len(placed.body)):
        body, own, pose = placed.body[s], placed.own[s], placed.pose[s]
        placed.resting[s] = 1 if body < 0 else bodies.still[body]
        if body >= 0:
            pose[0:3] = bodies.turn[body] @ own[0:3]
            pose[3] = bodies.place[body] + bodies.turn[body] @ own[3]
        half, middle = placed.half[s], placed.middle[s]
        for i in range(3):
            out = abs(pose[i, 0]) * half[0] + abs(pose[i, 1]) * half[1] + abs(pose[i, 2]) * half[2]
            out, center = min(out, placed.reach[s]) + placed.margin[s], pose[3, i] + pose[i] @ middle
            placed.low[s, i] = center - out
            placed.high[s, i] = center + out


@procedure
def near_pairs(placed: Placed, allowed: Ints, pairs: Ints[2], starts: Ints, space: Ints[2]) -> int:
    """Lists the pairs (A, B), A of a moving body and before B, sorted by A and then B; returns how many there are.

    Solids that both rest are not listed. If there is not room for all, the list is not usable.

    Args:
        allowed: the number n of bodies, then n² bits, 32 a word: bit A's owner · n + B's owner is 1 if they may touch. If
            it is empty, all may.
        starts, space: work space, one entry per solid and one more, and as many rows as `pairs`.
    """
    _sort_along_x(placed.sorted, placed.low)
    solids, found = len(placed.body), 0
    _list_awake(placed, starts)
    for one in range(len(placed.sorted)):
        i = placed.sorted[one]
        other = starts[one] if placed.resting[i] == 1 else one + 1
        while other < len(placed.sorted) and placed.low[placed.sorted[other], 0] <= placed.high[i, 0]:
            j = placed.sorted[other]
            if _overlap(placed, i, j, 1) and _overlap(placed, i, j, 2) and _may(placed, allowed, i, j) == 1:
                if found < len(pairs):
                    space[found, 0] = min(i, j)
                    space[found, 1] = max(i, j)
                found += 1
            other = starts[other] if placed.resting[i] == 1 else other + 1
    for plane in placed.planes:
        for i in range(solids):
            if (
                placed.body[i] >= 0
                and i != plane
                and placed.resting[i] * placed.resting[plane] == 0
                and _above(placed, plane, i) <= placed.margin[i] + placed.margin[plane]
                and _may(placed, allowed, i, plane) == 1
            ):
                if found < len(pairs):
                    space[found, 0] = min(i, plane)
                    space[found, 1] = max(i, plane)
                found += 1
    if found <= len(pairs):
        _by_column(space, pairs, found, 1, starts, solids)
        space[0:found] = pairs[0:found]
        _by_column(space, pairs, found, 0, starts, solids)
    return found


@procedure
def _sort_along_x(order: Ints, low: Floats[3]) -> None:
    for i in range(1, len(order)):
        number, at = order[i], i
        while at > 0 and low[order[at - 1], 0] > low[number, 0]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = number


@procedure
def _list_awake(placed: Placed, after: Ints) -> None:
    """after: of every place in the order along x, the next place of a solid that does not rest."""
    following = len(placed.sorted)
    for one in range(len(placed.sorted) - 1, -1, -1):
        after[one] = following
        if placed.resting[placed.sorted[one]] == 0:
            following = one


@procedure
def _overlap(placed: Placed, i: int, j: int, k: int) -> bool:
    """Whether the boxes overlap along an axis."""
    return not (placed.low[i, k] > placed.high[j, k] or placed.low[j, k] > placed.high[i, k])


@procedure
def _may(placed: Placed, allowed: Ints, i: int, j: int) -> int:
    """Whether the bodies of two solids may touch."""
    if placed.body[i] == placed.body[j]:
        return 0
    if placed.body[i] < 0 or placed.body[j] < 0:
        moving, other = i if placed.body[j] < 0 else j, j if placed.body[j] < 0 else i
        return 1 - _holds(placed.barred, (placed.owner[moving] << 31) + placed.owner[other] + 1)
    if len(allowed) == 0:
        return 0 if placed.family[i] >= 0 and placed.family[i] == placed.family[j] else 1
    bit = placed.owner[i] * allowed[0] + placed.owner[j]
    return (allowed[1 + (bit >> 5)] >> (bit & 31)) & 1


@procedure
def _holds(keys: Ints, key: int) -> int:
    """Whether sorted keys hold one."""
    low, high = 0, len(keys) - 1
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return 1 if low == high and keys[low] == key else 0


@procedure
def _above(placed: Placed, plane: int, i: int) -> float:
    """How far the bounding box of a solid is above a plane, the half space z ≤ 0 of its frame [m]."""
    flat, pose, half, middle = placed.pose[plane], placed.pose[i], placed.half[i], placed.middle[i]
    height, out = 0.0, 0.0
    for k in range(3):
        x = flat[0, 2] * pose[0, k] + flat[1, 2] * pose[1, k] + flat[2, 2] * pose[2, k]
        out += abs(x) * half[k]
        height += x * middle[k] + flat[k, 2] * (pose[3, k] - flat[3, k])
    return height - min(out, placed.reach[i])


@procedure
def _by_column(rows: Ints[2], sorted_rows: Ints[2], count: int, column: int, starts: Ints, most: int) -> None:
    """Sorts pairs by counting, keeping the order of equal ones."""
    starts[0 : most + 1] = 0
    for k in range(count):
        starts[rows[k, column] + 1] += 1
    for k in range(most):
        starts[k + 1] += starts[k]
    for k in range(count):
        to = starts[rows[k, column]]
        starts[rows[k, column]] = to + 1
        sorted_rows[to] = rows[k]
