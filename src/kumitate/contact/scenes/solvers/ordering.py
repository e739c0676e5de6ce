"""The order in which the units of an island are eliminated, and the pattern of the factors that it leaves.

Minimum degree (Tinney and Walker 1967): always the body that is coupled with the fewest others next; those are then coupled
with one another. Couplings are rows of bits, as islands are small and dense.
"""

from __future__ import annotations

from ....procedure import Ints, procedure
from ..arrays import BlockFactors, Island, Robots
from ..robots import leads

#: Bits of a word that are used: its sign stays out of it.
BITS = 62


@procedure
def pattern(island: Island) -> int:
    """Orders the units of an island and lays out its blocks; returns how many couplings there are, fill included.

    More than there is room for in `factors.later` means that nothing after the order is usable.
    """
    points, factors, robots = island.points, island.factors, island.bodies.robots
    count = _list_units(island)
    words = (count + BITS - 1) // BITS
    factors.near[0 : count * words] = 0
    for body in island.members:
        if leads(robots, body) >= 0:
            _join_all(robots, body, body, words, factors)
    for c in island.listed:
        a, b = points.body[c, 0], points.body[c, 1]
        if b >= 0:
            _join_all(robots, a, b, words, factors)
    found = eliminate(count, words, factors)
    if found > len(factors.later):
        return found
    # from numbers in the island to numbers in the order: `mark` has where each is eliminated
    for k in range(count):
        factors.unit[k] = factors.listed[factors.unit[k]]
    for k in range(count):
        factors.node[factors.unit[k]] = k
        for e in range(factors.first[k], factors.first[k + 1]):
            factors.later[e] = factors.mark[factors.later[e]]
        _sort(factors.later, factors.first[k], factors.first[k + 1])
    for c in island.listed:
        a, b = points.body[c, 0], points.body[c, 1]
        one, other = factors.node[a], factors.node[b] if b >= 0 else -1
        points.node[c, 0], points.node[c, 1], points.edge[c] = one, other, -1
        if b >= 0 and robots.link[a] < 0 and robots.link[b] < 0:
            points.edge[c] = coupling(factors, min(one, other), max(one, other))
    return found


@procedure
def units_of(robots: Robots, body: int) -> tuple[int, int]:
    """The first unit of a moving body, and how many it has: all rows of the robot that a link belongs to."""
    link = robots.link[body]
    if link < 0:
        return body, 1
    first = robots.first_row[robots.owner[link]]
    return len(robots.link) + first, robots.first_row[robots.owner[link] + 1] - first


@procedure
def _list_units(island: Island) -> int:
    """Numbers the units of an island; returns how many it has."""
    factors, robots = island.factors, island.bodies.robots
    count, most = 0, len(factors.unit)
    for body in island.members:
        link = robots.link[body]
        if link >= 0:
            factors.node[body] = most + link
        if link < 0 or leads(robots, body) >= 0:
            first, units = units_of(robots, body)
            for unit in range(first, first + units):
                factors.node[unit] = count
                factors.listed[count] = unit
                count += 1
    factors.count[0] = count
    return count


@procedure
def _join_all(robots: Robots, a: int, b: int, words: int, factors: BlockFactors) -> None:
    """Couples all units of two moving bodies."""
    first_a, units_a = units_of(robots, a)
    first_b, units_b = units_of(robots, b)
    for one in range(first_a, first_a + units_a):
        for other in range(first_b, first_b + units_b):
            i, j = factors.node[one], factors.node[other]
            if i != j:
                factors.near[i * words + j // BITS] |= 1 << (j % BITS)
                factors.near[j * words + i // BITS] |= 1 << (i % BITS)


@procedure
def eliminate(count: int, words: int, factors: BlockFactors) -> int:
    """Fills `factors.unit` with the order, `mark` with each one's place in it, `first` and `later` with the couplings."""
    for k in range(count):
        factors.mark[k] = -1
        factors.degree[k] = _ones(factors.near, k * words, words)
    found = 0
    for turn in range(count):
        best = -1
        for k in range(count):
            if factors.mark[k] < 0 and (best < 0 or factors.degree[k] < factors.degree[best]):
                best = k
        factors.mark[best] = turn
        factors.unit[turn] = best
        factors.first[turn] = found
        for word in range(words):
            bits = factors.near[best * words + word]
            while bits != 0:
                lowest = bits & -bits
                bits ^= lowest
                other = word * BITS + (lowest - 1).bit_count()
                for to in range(words):
                    factors.near[other * words + to] |= factors.near[best * words + to]
                # both bits are set: its own by the row of `best`, that of `best` because couplings are mutual
                factors.near[other * words + word] ^= lowest
                factors.near[other * words + best // BITS] ^= 1 << (best % BITS)
                factors.degree[other] = _ones(factors.near, other * words, words)
                if found < len(factors.later):
                    factors.later[found] = other
                found += 1
    factors.first[count] = found
    return found


@procedure
def _ones(bits: Ints, start: int, words: int) -> int:
    total = 0
    for word in range(words):
        total += bits[start + word].bit_count()
    return total


@procedure
def _sort(numbers: Ints, start: int, end: int) -> None:
    """Sorts a short stretch by insertion."""
    for i in range(start + 1, end):
        number, at = numbers[i], i
        while at > start and numbers[at - 1] > number:
            numbers[at] = numbers[at - 1]
            at -= 1
        numbers[at] = number


@procedure
def coupling(factors: BlockFactors, k: int, later: int) -> int:
    """The coupling of node k with a later one, by bisection."""
    low, high = factors.first[k], factors.first[k + 1] - 1
    while low < high:
        middle = (low + high) // 2
        if factors.later[middle] < later:
            low = middle + 1
        else:
            high = middle
    return low
