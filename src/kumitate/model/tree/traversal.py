"""Traversal of a tree, written once: outward (a link from its parent) and inward (a link from its children).

An algorithm gives a *stage*, the computation at one link, and gets one value per link. Outward values are computed when they
are first read, so that a trace goes down a branch and back up before it starts the next: the order that keeps the fewest
values alive. Long chains of links of equal structure are *rolled up*: the stage is traced once, with the constants that differ
from link to link read from tables, and becomes a loop; the algorithm's page is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

from ...scalar import Index, Stack, equal, flatten, loop, table
from .tree import CONSTANTS, WORLD_LINK, Limbs, Link, Tree

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
    numeric = all(isinstance(x, float) for link in tree.links for part in link.numbers.values() for x in part)
    return replace(tree, limbs=tuple(_limbs(tree, frozenset(pushed)))) if numeric else tree


def _limbs(tree: Tree, pushed: frozenset[int]) -> Iterator[Limbs]:
    """The limbs of all links but those with links that are pushed, those of equal structure together."""
    for parent in (WORLD_LINK, *(link.index for link in tree.links)):
        alike: dict[tuple, list[tuple[int, ...]]] = {}
        for root in tree.children(parent):
            chain = _chain(tree, root)
            if chain and pushed.isdisjoint(link.index for link in chain):
                structure = tuple((link.kind, *map(len, link.numbers.values())) for link in chain)
                alike.setdefault(structure, []).append(tuple(link.index for link in chain))
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


def _evenly_spaced(tree: Tree, parent: int, chains: list[tuple[int, ...]]) -> Iterator[Limbs]:
    """Chains whose coordinates and velocities follow each other at equal distances, together."""
    starts = [(tree.links[chain[0]].q_start, tree.links[chain[0]].v_start) for chain in chains]
    first = 0
    while first < len(chains) - 1:
        stride = tuple(b - a for a, b in zip(starts[first], starts[first + 1], strict=True))
        last = first + 1
        while last + 1 < len(chains) and tuple(b - a for a, b in zip(starts[last], starts[last + 1], strict=True)) == stride:
            last += 1
        count = last + 1 - first
        groups = -(-count // TOGETHER)  # of about equal size, of two to `TOGETHER`
        for k in range(groups):
            together = chains[first + k * count // groups : first + (k + 1) * count // groups]
            if len(together) * len(chains[first]) >= FEWEST:
                yield Limbs(parent, tuple(together), *stride)
        first = last + 1


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
        self.links: list[LimbLink] = []
        for place, like in enumerate(zip(*limbs.chains, strict=True)):
            moved = _varying([tree.links[index] for index in like], position, limbs.q_stride, limbs.v_stride)
            self.links.append(LimbLink(like=like, position=position, limbs=limbs, place=place, during=self, **moved))


@dataclass(frozen=True, kw_only=True)
class VaryingLink(Link):
    """The link at a `position`, a loop's index, among those of the indices `like`."""

    like: Sequence[int]
    position: Any

    def is_link(self, index: int) -> Any:
        if index not in self.like:
            return False
        k = self.like.index(index)
        return self.position == k if isinstance(self.position, int) else equal(self.position.value, float(k))


@dataclass(frozen=True, kw_only=True)
class LimbLink(VaryingLink):
    """The link at a `place` of every limb, in the limb of the pass `during` which it is asked for."""

    limbs: Limbs
    place: int
    during: LimbPass


def _varying(alike: Sequence[Link], position: int | Index, q_stride: int, v_stride: int) -> dict[str, Any]:
    """The fields of the link at a position among like ones: what all share stays numbers, other constants are from tables."""
    first, parts = alike[0], {}
    for name in CONSTANTS:
        columns = list(zip(*(link.numbers[name] for link in alike), strict=True))
        _, build = flatten(getattr(first, name))
        parts[name] = build([c[0] if len(set(c)) == 1 else table(c)[position] for c in columns])
    q_start, v_start = position * q_stride + first.q_start, position * v_stride + first.v_start
    moved = replace(first, index=None, parent=None, q_start=q_start, v_start=v_start, **parts)
    return {item.name: getattr(moved, item.name) for item in fields(Link)}


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


T = TypeVar("T")  # the value of a link: a pose, a `LinkMotion`, a force
W = TypeVar("W")  # the value of the world, mostly a T

#: Trees with fewer links are traced link by link: straight-line code is the fastest form of them.
ROLL_FROM_LINKS = 100
#: Chains of fewer like links are not worth a loop.
ROLL_AT_LEAST = 16


class PerLink(Generic[T]):
    """One value of type T per link: `values[link]`."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self.runs = rolled_runs(tree)
        self.known: dict[int, T] = {}
        self.stacks: dict[Sequence[int], Stack] = {}
        self.kept: dict[tuple[Limbs, int], Stack] = {}

    def __getitem__(self, link: Link) -> T:
        if isinstance(link, LimbLink):
            return self._of_limb(link)
        if isinstance(link, VaryingLink):
            self._need(link.like[0])
            value: T = self.stacks[link.like][link.position]
            return value
        self._need(link.index)
        return self.known[link.index]

    def _need(self, index: int) -> None:
        """Computes the value of a link, if it is not known."""

    def _of_limb(self, link: LimbLink) -> T:
        """The value of a link of the limb that is computed now."""
        kept = self.kept.get((link.limbs, link.place))
        value: T = kept[link.during.position] if kept is not None else link.during.values[self, link.place]
        return value

    def keep(self, limbs: Limbs, place: int, values: Stack) -> None:
        """Receives the values at a place of all limbs."""
        self.kept[limbs, place] = values

    def _limbs_of(self, index: int) -> Limbs | None:
        return next((limbs for limbs in self.tree.limbs if any(index in chain for chain in limbs.chains)), None)

    def _roll(self, run: range, stage: Callable[[Link, T], T], first: T, *, backward: bool = False) -> None:
        """Runs the stage over the run as a loop; each link gets the value of the one before."""

        def body(i: int | Index, before: T) -> tuple[T, T]:
            # the value is both carried and stored; what is not used of either is removed as dead code
            at = last - i if backward else i
            moved = _varying(links, at, links[0].kind.nq, links[0].kind.nv)
            value = stage(VaryingLink(like=run, position=at, **moved), before)
            return value, value

        last, links = len(run) - 1, self.tree.links[run.start : run.stop]
        _, stack = loop(len(run), body, first)
        self.stacks[run] = Stack(lambda i: stack[last - i if backward else i], len(run))
        for k, index in enumerate(run):
            self.known[index] = stack[last - k if backward else k]

    def _run_of(self, index: int) -> range | None:
        return next((run for run in self.runs if index in run), None)


class _Outward(PerLink[T]):
    def __init__(self, tree: Tree, stage: Callable[[Link, T], T], root: T):
        super().__init__(tree)
        self.stage = stage
        self.known[WORLD_LINK] = root

    def _need(self, index: int) -> None:
        path = []
        while index not in self.known:
            path.append(index)
            index = self.tree.links[index].parent
        for i in reversed(path):
            if i in self.known:  # computed in the meantime with its run
                continue
            link = self.tree.links[i]
            run, limbs = self._run_of(i), self._limbs_of(i)
            if limbs is not None:
                over_limbs(self.tree, limbs, self._along)
            elif run is None:
                self.known[i] = self.stage(link, self.known[link.parent])
            else:
                self._roll(run, self.stage, self.known[link.parent])

    def _along(self, during: LimbPass) -> None:
        for link in during.links:
            self[link]

    def _of_limb(self, link: LimbLink) -> T:
        """Computed here if it is not known yet, in whichever traversal the limbs are."""
        values, place = link.during.values, link.place
        if (link.limbs, place) in self.kept or (self, place) in values:
            return super()._of_limb(link)
        if place == 0:
            self._need(link.limbs.parent)
            before = self.known[link.limbs.parent]
        else:
            before = self[link.during.links[place - 1]]
        value = values[self, place] = self.stage(link, before)
        return value


class _Inward(PerLink[T]):
    def __init__(self, tree: Tree, stage: Callable[[Link, list[T]], T]):
        super().__init__(tree)
        for index in _children_first(tree):
            if index in self.known:
                continue
            link = tree.links[index]
            run, limbs = self._run_of(index), self._limbs_of(index)
            if limbs is not None:
                over_limbs(tree, limbs, lambda during: self._along(during, stage))
                continue
            values = [self.known[child.index] for child in tree.children(index)]
            if run is None:
                self.known[index] = stage(link, values)
            else:
                self._roll(run, lambda rolled, value: stage(rolled, [value]), values[0], backward=True)

    def _along(self, during: LimbPass, stage: Callable[[Link, list[T]], T]) -> None:
        values: list[T] = []
        for link in reversed(during.links):
            values = [stage(link, values)]
            during.values[self, link.place] = values[0]


def outward(tree: Tree, stage: Callable[[Link, T | W], T], root: W) -> PerLink[T]:
    """From the root: `stage(link, value of the parent)` for every link whose value is read; `root` is the world's value."""
    return _Outward(tree, stage, root)  # type: ignore[arg-type]


def inward(tree: Tree, stage: Callable[[Link, list[T]], T]) -> PerLink[T]:
    """From the leaves: `stage(link, values of its children)` for every link."""
    return _Inward(tree, stage)


def _children_first(tree: Tree) -> Iterator[int]:
    """Every link after its children, branch by branch."""
    waiting = [(link, False) for link in reversed(tree.children(WORLD_LINK))]
    while waiting:
        link, left = waiting.pop()
        if left:
            yield link.index
        else:
            waiting.append((link, True))
            waiting.extend((child, False) for child in reversed(tree.children(link.index)))


def rolled_runs(tree: Tree) -> tuple[range, ...]:
    """The chains that become loops, in trees that are large enough: indices of like links.

    Each is the only child of the one before, and one more like link follows.
    """
    if len(tree.links) < ROLL_FROM_LINKS or tree.closed:  # chords and gears reach single links
        return ()
    runs, start = [], 0
    for index in range(1, len(tree.links) + 1):
        goes_on = (
            index < len(tree.links)
            and [child.index for child in tree.children(index - 1)] == [index]
            and _likeness(tree.links[index]) == _likeness(tree.links[start])
        )
        if not goes_on:
            # without the ends: the first link's parent and the last link's children differ from those within
            length = index - 2 - start
            if length >= ROLL_AT_LEAST:
                runs.append(range(start + 1, start + 1 + length))
            start = index
    return tuple(runs)


def _likeness(link: Link) -> tuple:
    """A key that two links in one loop must share: the kind of joint and the structure of their constants."""
    return link.kind, len(link.numbers["placement"])
