"""Partition of trees into connected sub-chains (thesis 4.1): each a tree of its own, grounded or free.

A sub-chain that begins at the world keeps its first joint. One whose parent is in another sub-chain is free: its first link
has no coordinates (`Adrift`), and its joint is between the two sub-chains.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import ModelError
from ...scalar import Scalar, Scalars, flatten
from ...spatial import Transform
from ..joints.along_axes import CoordinateJoint
from .tree import CONSTANTS, WORLD_LINK, Link, Tree

#: Sub-chains by the names or the indices of their joints.
Partition = Sequence[Sequence[str | int]]


@dataclass(frozen=True)
class Adrift(CoordinateJoint):
    """The joint of a free link: all six directions, in its own axes, from its present pose; without coordinates."""

    name = "adrift"
    velocities = ("wx", "wy", "wz", "vx", "vy", "vz")
    axes = (0, 1, 2, 3, 4, 5)

    def transform(self, q: Scalars) -> Transform:
        return Transform()

    def locate(self, X_FM: Transform) -> list[Scalar]:
        return []


@dataclass(frozen=True)
class Subchain:
    """Connected links, renumbered from the first, which is the root of the others.

    Attributes:
        tree: of these links alone, without names of joints, so that sub-chains of equal content compare equal.
        grounded: whether the parent of the first link is the world; it is `Adrift` otherwise.
        handles: those of its links, by their new indices, that other sub-chains, chords or gears act on.
    """

    tree: Tree
    grounded: bool
    handles: tuple[int, ...]

    @property
    def numbers(self) -> tuple[tuple[Any, ...], ...]:
        """The constants of every link."""
        return tuple(tuple(getattr(link, name) for name in CONSTANTS) for link in self.tree.links)

    def with_numbers(self, numbers: Sequence[Sequence[Any]]) -> Subchain:
        """The sub-chain with these constants, which may be symbols."""
        links = (
            replace(link, **dict(zip(CONSTANTS, own, strict=True))) for link, own in zip(self.tree.links, numbers, strict=True)
        )
        return replace(self, tree=replace(self.tree, links=tuple(links)))

    @property
    def shape(self) -> Subchain:
        """A key that is equal for sub-chains that differ only by their constants."""
        leaves, build = flatten(self.numbers)
        return self.with_numbers(build([0.0] * len(leaves)))


@dataclass(frozen=True)
class Part:
    """A sub-chain's place in the whole tree: `members[k]` is the whole tree's index of its link k."""

    subchain: Subchain
    members: tuple[int, ...]

    @property
    def root(self) -> int:
        """The whole tree's index of the first link."""
        return self.members[0]

    def coordinates(self, links: Sequence[Link], q: Scalars) -> tuple[Scalar, ...]:
        """Its part of q; `links` are the whole tree's."""
        return tuple(x for index in self.carried for x in links[index].coordinates(q))

    def velocities(self, links: Sequence[Link], v: Scalars) -> tuple[Scalar, ...]:
        """Its part of v or tau, without that of its first link if it is adrift."""
        return tuple(x for index in self.carried for x in links[index].velocities(v))

    @property
    def carried(self) -> tuple[int, ...]:
        """The whole tree's indices of the links whose joints belong to the sub-chain."""
        return self.members if self.subchain.grounded else self.members[1:]


def parted(tree: Tree, parts: Sequence[Sequence[int]]) -> tuple[Part, ...]:
    """The sub-chains of these sets of links, as of `parts_by_names`, in the order of their first links in the tree."""
    home = {index: k for k, part in enumerate(parts) for index in part}
    ends = {end for chord in tree.chords for end in (chord.base.link, chord.follower.link)}
    geared = {index for gear in tree.gears for index, _ in gear.v_ratios}
    for link in tree.links:
        between = link.parent != WORLD_LINK and home[link.index] != home[link.parent]
        if between or geared.intersection(range(link.v_start, link.v_start + link.kind.nv)):
            ends |= {link.index, link.parent}
    return tuple(_part(tree, sorted(part), ends) for part in sorted(parts, key=min))


def _part(tree: Tree, members: Sequence[int], ends: set[int]) -> Part:
    new = {index: k for k, index in enumerate(members)}
    grounded = tree.links[members[0]].parent == WORLD_LINK
    links: list[Link] = []
    q_start = v_start = 0
    for index in members:
        link = replace(
            tree.links[index], name="", index=new[index], parent=new.get(tree.links[index].parent, WORLD_LINK),
            q_start=q_start, v_start=v_start,
        )  # fmt: skip
        if new[index] == 0 and not grounded:
            still: dict[str, Any] = dict.fromkeys(("armature", "damping", "friction", "stiffness", "rest"), (0.0,) * 6)
            link = replace(link, kind=Adrift(), placement=Transform(), offset=0.0, **still)
        links.append(link)
        q_start += link.kind.nq
        v_start += link.kind.nv
    own = Tree(tuple(links), {}, q_start, v_start)
    return Part(Subchain(own, grounded, tuple(new[index] for index in members if index in ends)), tuple(members))


def parts_by_cuts(tree: Tree, cuts: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """The sub-chains when the joints `cuts`, by index, lie between them; a joint to the world begins one in any case."""
    first: dict[int, int] = {}
    between = set(cuts)
    for link in tree.links:
        begins = link.parent == WORLD_LINK or link.index in between
        first[link.index] = link.index if begins else first[link.parent]
    return tuple(tuple(i for i in first if first[i] == root) for root in dict.fromkeys(first.values()))


def parts_by_names(tree: Tree, partition: Partition) -> tuple[tuple[int, ...], ...]:
    """A partition by indices; a `ModelError` if it names no or unknown joints, or one twice, or a part is not connected."""
    known = {link.name: link.index for link in tree.links}
    named: list[int] = []
    parts = []
    for part in partition:
        indices = []
        for joint in part:
            index = known.get(joint) if isinstance(joint, str) else joint
            if index is None or not 0 <= index < len(tree.links):
                raise ModelError(f"the partition names the joint {joint!r}, which does not exist; there are {', '.join(known)}")
            indices.append(index)
        named += indices
        if indices:
            parts.append(tuple(sorted(indices)))
    twice = sorted({tree.links[index].name for index in named if named.count(index) > 1})
    missing = [link.name for link in tree.links if link.index not in named]
    if twice or missing:
        wrong = f"names {', '.join(twice)} more than once" if twice else f"leaves out {', '.join(missing)}"
        raise ModelError(f"the partition {wrong}; every joint belongs to one sub-chain")
    for members in parts:
        roots = [tree.links[index].name for index in members if tree.links[index].parent not in members]
        if len(roots) > 1:
            raise ModelError(
                f"the sub-chain of {', '.join(tree.links[index].name for index in members)} is not connected: it begins at "
                f"{' and at '.join(roots)}; put them into sub-chains of their own"
            )
    return tuple(parts)
