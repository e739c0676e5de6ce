"""Limbs: chains below one link that are alike but for their numbers, such as the legs of a quadruped.

They are traced once, as a loop over limbs with tables of what differs: mirrored limbs need no thought. Machine code for one
state computes them side by side in lanes. What a pass of the loop computes for any `PerLink` is kept for later readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from ...scalar import Index, Stack, equal, flatten, loop, table
from .tree import WORLD_LINK, Limbs, Link, Tree

if TYPE_CHECKING:
    from .traversal import PerLink

#: The fields of links that hold constants.
CONSTANTS = ("placement", "inertia", "armature", "damping", "friction", "stiffness", "rest", "offset")
#: Limbs of fewer links in all are not worth a loop.
FEWEST = 6
#: More limbs become several loops: so many lanes have the vectors that one state is computed in.
TOGETHER = 4
#: Trees of more links become lines that are cut into parts, or loops along their chains, which loops over limbs cannot be.
MOST_LINKS = 50


def with_limbs(tree: Tree, pushed: Iterable[int] = ()) -> Tree:
    """The tree with its alike limbs noted, for algorithms that traverse it only by `inward` and `outward`.

    Limbs with one of the links `pushed`, on which wrenches act, are left out: what acts on one would be computed for all its
    like. Trees with chords or gears, which reach single links, stay as they are; so do large ones, and those whose numbers are
    parameters, which no table can hold.
    """
    if tree.closed or len(tree.links) > MOST_LINKS:
        return tree
    numeric = all(isinstance(x, float) for link in tree.links for name in CONSTANTS for x in flatten(getattr(link, name))[0])
    return replace(tree, limbs=tuple(_limbs(tree, frozenset(pushed)))) if numeric else tree


def _limbs(tree: Tree, pushed: frozenset[int]) -> Iterator[Limbs]:
    """The limbs of all links but those with links that are pushed, those of equal structure together."""
    for parent in (WORLD_LINK, *(link.index for link in tree.links)):
        alike: dict[tuple, list[tuple[int, ...]]] = {}
        for root in tree.children(parent):
            chain = _chain(tree, root)
            if chain and pushed.isdisjoint(link.index for link in chain):
                alike.setdefault(tuple(_structure(link) for link in chain), []).append(tuple(link.index for link in chain))
        for chains in alike.values():
            yield from _evenly_spaced(tree, parent, chains)


def _chain(tree: Tree, root: Link) -> list[Link]:
    """A link and what it carries, if that is an unbranched chain; else nothing."""
    chain = [root]
    while children := tree.children(chain[-1].index):
        if len(children) > 1:
            return []
        chain += children
    return chain


def _structure(link: Link) -> tuple:
    """What links in one place of alike limbs share: the kind of joint, and the structure of their constants."""
    return link.kind, *(len(flatten(getattr(link, name))[0]) for name in CONSTANTS)


def _evenly_spaced(tree: Tree, parent: int, chains: list[tuple[int, ...]]) -> Iterator[Limbs]:
    """Chains whose coordinates and velocities follow each other at equal distances, together."""
    starts = [(tree.links[chain[0]].q_start, tree.links[chain[0]].v_start) for chain in chains]
    first = 0
    while first < len(chains) - 1:
        stride = tuple(b - a for a, b in zip(starts[first], starts[first + 1], strict=True))
        last = first + 1
        while last + 1 < len(chains) and tuple(b - a for a, b in zip(starts[last], starts[last + 1], strict=True)) == stride:
            last += 1
        for together in _divided(chains[first : last + 1]):
            if len(together) * len(chains[first]) >= FEWEST:
                yield Limbs(parent, tuple(together), *stride)
        first = last + 1


def _divided(chains: list[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    """Like chains in groups of about equal size, of two to `TOGETHER`."""
    groups = -(-len(chains) // TOGETHER)
    for k in range(groups):
        yield chains[k * len(chains) // groups : (k + 1) * len(chains) // groups]


class LimbPass:
    """One pass of a loop over limbs.

    Attributes:
        position: the loop's index.
        links: the limb's, from its root to its tip.
        values: what was computed so far, by the `PerLink` that it belongs to and the place in the limb.
    """

    def __init__(self, tree: Tree, limbs: Limbs, position: int | Index):
        self.position = position
        self.values: dict[tuple[PerLink[Any], int], Any] = {}
        self.links = [self._link(tree, limbs, place, position) for place in range(len(limbs.chains[0]))]

    def _link(self, tree: Tree, limbs: Limbs, place: int, position: int | Index) -> LimbLink:
        alike = [tree.links[chain[place]] for chain in limbs.chains]
        moved = varying_link(alike, position, limbs.q_stride, limbs.v_stride)
        return LimbLink(**{f.name: getattr(moved, f.name) for f in fields(Link)}, limbs=limbs, place=place, during=self)


@dataclass(frozen=True, kw_only=True)
class LimbLink(Link):
    """The link at a `place` of every limb, in the limb of the pass `during` which it is asked for."""

    limbs: Limbs
    place: int
    during: LimbPass

    def is_link(self, index: int) -> Any:
        for k, chain in enumerate(self.limbs.chains):
            if chain[self.place] == index:
                position = self.during.position
                return position == k if isinstance(position, int) else equal(position.value, float(k))
        return False


def varying_link(alike: Sequence[Link], position: int | Index, q_stride: int, v_stride: int) -> Link:
    """The link at a position among like ones: constants that all share stay numbers, the others are read from tables."""
    first, parts = alike[0], {}
    for name in CONSTANTS:
        columns = list(zip(*(flatten(getattr(link, name))[0] for link in alike), strict=True))
        _, build = flatten(getattr(first, name))
        parts[name] = build([c[0] if len(set(c)) == 1 else table(c)[position] for c in columns])
    q_start, v_start = position * q_stride + first.q_start, position * v_stride + first.v_start
    return replace(first, index=None, parent=None, q_start=q_start, v_start=v_start, **parts)


def over_limbs(tree: Tree, limbs: Limbs, compute: Callable[[LimbPass], None]) -> None:
    """Runs `compute` for every limb, as a loop, and gives what the passes computed to the `PerLink`s that it belongs to."""
    owners: list[tuple[PerLink[Any], int]] = []

    def body(i: int | Index, _: tuple) -> tuple[tuple, list[Any]]:
        during = LimbPass(tree, limbs, i)
        compute(during)
        owners[:] = during.values
        return (), list(during.values.values())

    _, stack = loop(len(limbs.chains), body, ())
    whole = {k: stack[k] for k in range(len(limbs.chains))}
    for column, (owner, place) in enumerate(owners):
        owner.keep(limbs, place, Stack(lambda i, column=column: stack[i][column], len(limbs.chains)))  # type: ignore[misc]
        for k, chain in enumerate(limbs.chains):
            owner.known[chain[place]] = whole[k][column]
