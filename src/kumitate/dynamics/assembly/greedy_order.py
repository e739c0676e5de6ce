"""A greedy order of assembly for loops: next comes the joint whose assembled body keeps the fewest handles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...model import Tree
from .connectivity import WORLD, connected_links


def few_handles(tree: Tree, preferred: Sequence[int]) -> list[int]:
    """Repeatedly picks the connection whose assembled body keeps the fewest handles; small loops are closed first.

    The world does not count as a handle, since forces do not pass through it: trees that stand on it stay separate. Ties
    are decided by the order `preferred`.
    """
    held = connected_links(tree)
    coupled = {link.index: {link.index} for link in tree.links}
    still_open = Counter(end for ends in held for end in ends)
    turn = {j: k for k, j in enumerate(preferred)}
    waiting = sorted(range(len(held)), key=lambda j: turn[j])
    order = []
    while waiting:
        best = min(waiting, key=lambda j: _handles_left(held[j], coupled, still_open))
        waiting.remove(best)
        order.append(best)
        still_open.subtract(held[best])
        joined = {index for end in held[best] if end != WORLD for index in coupled[end]}
        coupled |= dict.fromkeys(joined, joined)
    return order


def _handles_left(ends: Sequence[int], coupled: dict[int, set[int]], still_open: Counter[int]) -> int:
    """How many handles the body would keep if these ends were connected."""
    joined = {index for end in ends if end != WORLD for index in coupled[end]}
    return sum(still_open[index] > (index in ends) for index in joined)
