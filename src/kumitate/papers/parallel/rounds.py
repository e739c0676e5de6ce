"""Which joints can be assembled in parallel: rounds of pairs in which each body occurs at most once (thesis fig. 2.4).

A chain of n links takes ⌈log₂(n + 1)⌉ rounds. A body keeps at most two handles, so that all bodies of a round are alike and a
round can be one batch. Trees also take O(log n) rounds unless a link carries very many others: the last link of a branch joins
its carrier whatever handles that has, and links that carry one other link join in pairs. The links that one link carries are
joined one per round: a hub with k spokes takes k rounds.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...dynamics.assembly.connection import WORLD, carriers
from ...model import Tree

#: The most handles of a body that are still to be joined.
MOST_HANDLES = 2


@dataclass(frozen=True)
class Cluster:
    """Links assembled into one body.

    Attributes:
        number: its identity; for a single link the link's index, −1 for the world.
        handles: the links in it that further joints will act on, in the order of the tree; empty for the world.
    """

    number: int
    handles: tuple[int, ...]


@dataclass(frozen=True)
class Merge:
    """The joint that carries link `joint`, closed between its carrier's body (or the world) and the link's."""

    joint: int
    carrier: int
    inner: Cluster
    outer: Cluster
    result: Cluster


def rounds(tree: Tree) -> list[list[Merge]]:
    """All joints of a tree in rounds. Each tree on the world has its own copy of the world: forces do not pass through it.

    >>> from kumitate.model.samples.stored import planar_chain
    >>> [[merge.joint for merge in done] for done in rounds(planar_chain(7).tree)]
    [[0, 2, 4, 6], [1, 5], [3]]
    """
    carried_by = carriers(tree)
    still_open = Counter(end for pair in carried_by.items() for end in pair)
    cluster_of = {index: Cluster(index, (index,)) for index in carried_by} | {WORLD: Cluster(WORLD, ())}
    waiting, following, found = sorted(carried_by), len(carried_by), []
    while waiting:
        taken: set[int] = set()
        merges, later = [], []
        for joint in waiting:
            carrier = carried_by[joint]
            inner, outer = cluster_of[carrier], cluster_of[joint]
            kept = {end for end in (*inner.handles, *outer.handles) if still_open[end] > (end in (joint, carrier))}
            if len(kept) > MOST_HANDLES or taken & {inner.number, outer.number}:
                later.append(joint)
                continue
            result = Cluster(following, tuple(sorted(kept)))
            merges.append(Merge(joint, carrier, inner, outer, result))
            taken.add(result.number)  # the bodies in it have its number from now on
            still_open.subtract((joint, carrier))
            cluster_of |= dict.fromkeys(kept, result)
            following += 1
        found.append(merges)
        waiting = later
    return found
