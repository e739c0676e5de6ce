"""Which links are held to one another by what: the graph that assembling works through."""

from __future__ import annotations

from ..model import Tree
from .ties import heavy_freedoms

__all__ = ["WORLD", "carriers", "handles_of_ties"]

#: The index of the world.
WORLD = -1


def carriers(tree: Tree) -> dict[int, int]:
    """The index of the link (or the world) that carries a link, by the link's index."""
    return {child.index: index for index in (WORLD, *(link.index for link in tree.links)) for child in tree.children(index)}


def handles_of_ties(tree: Tree) -> list[tuple[int, ...]]:
    """The links (or the world) that each joint, chord and gear holds to one another; none for what only pushes."""
    held: list[tuple[int, ...]] = []
    carried_by = carriers(tree)
    for link in tree.links:
        held.append((carried_by[link.index], link.index) if link.kind.rows or heavy_freedoms(link.armature) else ())
    for chord in tree.chords:
        ends = (chord.base.link, chord.follower.link)
        held.append(ends if ends[0] != ends[1] and (chord.closure.rows or heavy_freedoms(chord.armature)) else ())
    at = {link.v_start + k: (carried_by[link.index], link.index) for link in tree.links for k in range(link.kind.nv)}
    return held + [tuple(dict.fromkeys(end for k, _ in gear.v_ratios for end in at[k])) for gear in tree.gears]
