"""Stretches of neighbouring columns of a linear system that reach the same rows, each long enough for a loop of its own.

What acts on a joint is felt by the joints that carry it and by those that it carries: the columns of one limb leave the rows of
other limbs zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

from ...model import Tree
from ...scalar import Stack, loop

__all__ = ["Kept", "Stretch", "kept_at", "loops_over", "related", "stretches_of"]

#: Shorter stretches are joined with a neighbour: loops of up to eight passes are written pass by pass.
_FEWEST = 9


class Stretch(NamedTuple):
    """The columns from `start` up to `stop`, and the rows that one of them reaches."""

    start: int
    stop: int
    rows: frozenset[int]

    def joined(self, other: Stretch) -> Stretch:
        """With the stretch behind this one."""
        return Stretch(self.start, other.stop, self.rows | other.rows)


#: What the loops over stretches have kept.
Kept = Sequence[tuple[Stretch, Stack]]


def stretches_of(reached: Sequence[frozenset[int]]) -> list[Stretch]:
    """The stretches of columns that reach these rows each, their own included."""
    found: list[Stretch] = []
    for k, rows in enumerate(reached):
        if found and found[-1].rows == rows:
            found[-1] = found[-1]._replace(stop=k + 1)
        else:
            found.append(Stretch(k, k + 1, rows))
    while len(found) > 1 and min(stretch.stop - stretch.start for stretch in found) < _FEWEST:
        short = min(range(len(found)), key=lambda k: found[k].stop - found[k].start)
        pairs = [k for k in (short - 1, short) if 0 <= k < len(found) - 1]
        first = min(pairs, key=lambda k: len(found[k].rows | found[k + 1].rows))
        found[first : first + 2] = [found[first].joined(found[first + 1])]
    return found


def related(tree: Tree) -> list[frozenset[int]]:
    """For each degree of freedom those of the joints that carry its own, of those that it carries, and of its own."""
    own = [range(link.v_start, link.v_start + link.kind.nv) for link in tree.links]
    found: list[set[int]] = [set() for _ in range(tree.nv)]
    for link in tree.links:
        for other in tree.ancestors(link.index):
            for i, k in product(own[link.index], own[other.index]):
                found[i].add(k)
                found[k].add(i)
    return [frozenset(rows) for rows in found]


def loops_over(stretches: Sequence[Stretch], body: Callable[[Stretch, Any], Any]) -> Kept:
    """A loop over the columns of each stretch, and what `body(stretch, column)` gives."""

    def over(stretch: Stretch) -> Stack:
        return loop(stretch.stop - stretch.start, lambda k, _: (None, body(stretch, k + stretch.start)), None)[1]

    return [(stretch, over(stretch)) for stretch in stretches]


def kept_at(kept: Kept, column: int) -> tuple[Stack, int]:
    """The loop that has kept a column, and its pass."""
    return next((stack, column - stretch.start) for stretch, stack in kept if column < stretch.stop)
