"""The connectivity graph of a mechanism: which links its joints, chords and gears connect."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Tree
from .connection import heavy_freedoms

#: The index of the world.
WORLD = -1


def carriers(tree: Tree) -> dict[int, int]:
    """The index of the link (or the world) that carries a link, by the link's index."""
    return {child.index: index for index in (WORLD, *(link.index for link in tree.links)) for child in tree.children(index)}


def connected_links(tree: Tree) -> list[tuple[int, ...]]:
    """The links (or the world) that each joint, chord and gear constrains to one another; empty if it only applies forces."""
    held: list[tuple[int, ...]] = []
    carried_by = carriers(tree)
    for link in tree.links:
        held.append((carried_by[link.index], link.index) if link.kind.rows or heavy_freedoms(link.armature) else ())
    for chord in tree.chords:
        ends = (chord.base.link, chord.follower.link)
        held.append(ends if ends[0] != ends[1] and (chord.closure.rows or heavy_freedoms(chord.armature)) else ())
    at = {link.v_start + k: (carried_by[link.index], link.index) for link in tree.links for k in range(link.kind.nv)}
    return held + [tuple(dict.fromkeys(end for k, _ in gear.v_ratios for end in at[k])) for gear in tree.gears]


def loop_closers(tree: Tree, order: Sequence[int]) -> set[int]:
    """Those that close a loop when connections are closed in this order, their links being connected already; and all gears."""
    held = connected_links(tree)
    body = {index: index for index in range(WORLD, len(tree.links))}  # named by one of its links
    closers = set(range(len(tree.links) + len(tree.chords), len(held)))
    for j in order:
        names = {body[end] for end in held[j]}
        if len(names) < len(held[j]):
            closers.add(j)
        body = {index: min(names) if name in names else name for index, name in body.items()}
    return closers
