"""The partition into sub-chains with the fewest operations, found by counting (an open question in thesis 4.6, 8.2).

A partition is the set of joints between sub-chains, its cuts. Branches and sub-chains of equal size are tried first; the best
partition is then changed cut by cut as long as that reduces the count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from ...errors import InputError, ModelError
from ...model import Link, Tree, inward, outward
from ...model.tree.subchains import Partition, parts_by_cuts, parts_by_names

#: How many partitions are counted, for small trees and for those with more than `LARGEST` links, which cost more to trace.
BUDGET, FEW = 24, 6
#: Sub-chains with more links are not tried: the number of operations is cubic in the number of links.
LARGEST = 30

Parts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Trial:
    """A partition that was tried: its sub-chains by the indices of their links, and the number of operations.

    `operations` is infinite where a sub-chain has no inverse inertia.
    """

    parts: Parts
    operations: float


def chosen_parts(tree: Tree, partition: Partition | str, count: Callable[[Tree, Parts], int]) -> Parts:
    """The sub-chains of a partition, by the indices of their links; "auto": those with the fewest operations.

    Raises:
        InputError: for a word other than "auto"; ModelError: for an invalid partition.
    """
    if not isinstance(partition, str):
        return parts_by_names(tree, partition)
    if partition != "auto":
        raise InputError(f'there is no partition {partition!r}; give "auto", or one sequence of joints per sub-chain')
    return min(tried_partitions(tree, count), key=lambda trial: (trial.operations, len(trial.parts))).parts


def tried_partitions(tree: Tree, count: Callable[[Tree, Parts], int], budget: int | None = None) -> tuple[Trial, ...]:
    """Partitions and their operations, in the order they were tried."""
    found: dict[frozenset[int], float] = {}
    budget = budget or (BUDGET if len(tree.links) <= LARGEST else FEW)

    def tried(cuts: frozenset[int]) -> float:
        if cuts not in found:
            found[cuts] = math.inf
            with suppress(ModelError):  # the whole tree as one sub-chain is always valid
                found[cuts] = count(tree, parts_by_cuts(tree, cuts))
        return found[cuts]

    for cuts in _like_sizes(tree):
        if len(found) < budget:
            tried(cuts)
    if all(operations == math.inf for operations in found.values()):
        tried(frozenset())
    best = min(found, key=lambda cuts: (found[cuts], len(cuts)))
    while True:
        nearby = [cuts for cuts in _changed(tree, best) if cuts not in found][: max(0, budget - len(found))]
        better = [cuts for cuts in nearby if tried(cuts) < found[best]]
        if not better:
            return tuple(Trial(parts_by_cuts(tree, cuts), operations) for cuts, operations in found.items())
        best = min(better, key=lambda cuts: found[cuts])


def _like_sizes(tree: Tree) -> Iterator[frozenset[int]]:
    """The whole tree; branches; sub-chains of half of the links, …, 6, 4, 3, 2, counted from the world and from the tips."""
    n = len(tree.links)
    inner = frozenset(link.index for link in tree.links) - {link.index for link in tree.children(-1)}
    forked = {child.index for link in tree.links if len(tree.children(link.index)) > 1 for child in tree.children(link.index)}
    yield from [frozenset(), frozenset(forked)] if n <= LARGEST else [frozenset(forked)] if forked else []
    sizes = {(n + 1) // 2, *(s for s in (2, 3, 4, 6, 8, 12, 16, 24) if s < n)} if n <= LARGEST else {2, 4, 8}
    for size in sorted(sizes, reverse=True):
        yield frozenset(_every(tree, size)) & inner
        yield frozenset(_filled(tree, size)) & inner


def _every(tree: Tree, size: int) -> list[int]:
    """Cuts after every `size` links outward."""
    depths = outward(tree, lambda link, above: above + 1, -1)
    return [link.index for link in tree.links if depths[link] % size == 0]


def _filled(tree: Tree, size: int) -> list[int]:
    """Cuts where at least `size` links are together, counted from the tips inward."""

    def together(link: Link, children: list[int]) -> int:
        return 1 + sum(count for count in children if count < size)

    counts = inward(tree, together)
    return [link.index for link in tree.links if counts[link] >= size]


def _changed(tree: Tree, cuts: frozenset[int]) -> Iterator[frozenset[int]]:
    """Each cut moved by a link outward or inward; each sub-chain cut in the middle; each cut left out."""
    inner = {child.index: link for link in tree.links for child in tree.children(link.index)}
    for cut in sorted(cuts):
        for other in (inner[cut].index, *(child.index for child in tree.children(cut))):
            if other in inner:
                yield cuts - {cut} | {other}
    for part in sorted(parts_by_cuts(tree, cuts), key=len, reverse=True):
        if len(part) > 1:
            yield cuts | {part[len(part) // 2]}
    for cut in sorted(cuts):
        yield cuts - {cut}
