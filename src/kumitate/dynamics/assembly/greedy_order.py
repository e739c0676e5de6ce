"""An order of assembly for loops: always the joint that leaves the fewest handles to the body it makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...model import Tree
from .connectivity import WORLD, connected_links

__all__ = ["few_handles"]


def few_handles(tree: Tree, preferred: Sequence[int]) -> list[int]:
    """What leaves the fewest handles to the bodies it makes, again and again: loops as soon as they are small.

    The world does not count: nothing passes through it, so that what hangs on it stays apart. Of equals
    the first in the order `preferred` is taken.
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
    """How many handles the body would have that holding these makes."""
    joined = {index for end in ends if end != WORLD for index in coupled[end]}
    return sum(still_open[index] > (index in ends) for index in joined)
