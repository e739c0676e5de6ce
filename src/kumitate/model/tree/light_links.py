"""Light links between heavy ones: their inverse inertias are so large that those of the heavy ones are lost by rounding."""

from __future__ import annotations

import math
from collections import defaultdict

from ...scalar import floats
from .tree import WORLD_LINK, Tree

#: A link this much lighter than links on two sides of it costs four digits in methods that start from inverse inertias.
_LIGHT = 1e-4


def light_between_heavy(tree: Tree) -> list[list[int]]:
    """The links that are much lighter than links on at least two sides of them, in connected groups.

    A side is everything connected to the link by one of its joints, or by chords. The world is the heaviest side, if a joint
    connects the link to it.
    """
    sides: dict[int, list[float]] = defaultdict(list)  # for every link, the heaviest link on each side
    behind = floats(link.inertia.mass for link in tree.links)  # the heaviest of a link and its descendants
    for link in reversed(tree.links):
        if link.parent != WORLD_LINK:
            sides[link.parent].append(behind[link.index])
            behind[link.parent] = max(behind[link.parent], behind[link.index])
    before = [0.0] * len(tree.links)  # the heaviest on the side of the link's parent
    for link in tree.links:
        if link.parent == WORLD_LINK:
            before[link.index] = math.inf if link.kind.rows else 0.0
        else:
            outward = list(sides[link.parent])  # not yet with the inward side of the parent
            outward.remove(behind[link.index])
            before[link.index] = max(before[link.parent], float(tree.links[link.parent].inertia.mass), *outward, 0.0)
    for chord in tree.chords:
        for index in (chord.base.link, chord.follower.link):
            sides[index].append(max(behind, default=0.0))
    light = [
        link.index
        for link in tree.links
        if link.inertia.mass < _LIGHT * ([0.0, 0.0, *sorted([*sides[link.index], before[link.index]])][-2])
    ]
    groups: dict[int, list[int]] = {}
    for index in light:
        group = groups.get(tree.links[index].parent)
        groups[index] = [index] if group is None else group
        if group is not None:
            group.append(index)
    return [group for index, group in groups.items() if group[0] == index]
