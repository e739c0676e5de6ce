"""The inertia matrix of a tree stiffened by what touches, factored limb by limb: limbs that touch nothing are factored once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from ..model import Link, Tree
from ..scalar import Scalar, either, when
from ..spatial import Elimination, SparseFactors
from .columns import NO_STIFFNESS, Columns, Pattern, Rows, added

__all__ = ["Limbs"]


@dataclass(frozen=True)
class Limb:
    """What a limb hands to the trunk: its own eliminations, what they take from the trunk's rows, the stiffness behind it."""

    steps: list[Elimination]
    taken: Pattern
    K: Rows


@dataclass(frozen=True)
class Limbs:
    """A tree as a trunk, which ends where it first branches, and the limbs that hang on it.

    Attributes:
        columns: the links' Jacobians.
        M: the inertia matrix by its entries that are not always zero.
        trunk: the links that carry all others; `limbs`: by limb, its links; parents before children.
        free: what the limbs hand on while nothing touches them.
        factors: of M.
    """

    columns: Columns
    M: Pattern
    trunk: list[Link]
    limbs: list[list[Link]]
    free: list[Limb]
    factors: SparseFactors

    @classmethod
    def of(cls, columns: Columns, M: Pattern) -> Limbs:
        """All of it, by the inertia matrix."""
        trunk, limbs = _parts(columns.tree)
        free = [_limb(columns, M, trunk, links, None) for links in limbs]
        return cls(columns, M, trunk, limbs, free, _joined(columns, M, trunk, free, None))

    def stiffened(self, on: Mapping[int, Rows], near: Mapping[int, Scalar]) -> SparseFactors:
        """The factors of M + Σ Jᵀ K J; by the index of the link, its K (6×6), and whether that can be other than zero."""
        found = []
        for links, free in zip(self.limbs, self.free, strict=True):
            touched = [near[link.index] for link in links if link.index in near]
            bent = partial(_limb, self.columns, self.M, self.trunk, links, on)
            found.append(when(reduce(either, touched), bent, free) if touched else free)
        return _joined(self.columns, self.M, self.trunk, found, on)


def _parts(tree: Tree) -> tuple[list[Link], list[list[Link]]]:
    """The trunk and the limbs."""
    trunk: list[Link] = []
    carried = tree.children(-1)  # of the world
    while len(carried) == 1:
        trunk += carried
        carried = tree.children(trunk[-1].index)
    limbs: dict[int, list[Link]] = {link.index: [link] for link in carried}
    member = dict(limbs)
    for link in tree.links:
        if link.parent in member:
            member[link.index] = member[link.parent]
            member[link.index].append(link)
    return trunk, list(limbs.values())


def _limb(columns: Columns, M: Pattern, trunk: Sequence[Link], links: Sequence[Link], on: Mapping[int, Rows] | None) -> Limb:
    carrying, left = _freedoms(trunk), _rows(columns.tree, M, links)
    K = NO_STIFFNESS if on is None else columns.add_stiffness(left, links, on)
    steps = SparseFactors.eliminated(left, _freedoms(links), symmetric=on is None)
    return Limb(steps, {i: {j: left[i].get(j, 0.0) for j in carrying} for i in carrying}, K)


def _joined(
    columns: Columns, M: Pattern, trunk: Sequence[Link], limbs: Sequence[Limb], on: Mapping[int, Rows] | None
) -> SparseFactors:
    left = _rows(columns.tree, M, trunk)
    for limb in limbs:
        for i, row in limb.taken.items():
            for j, value in row.items():
                left[i][j] = left[i][j] + value
    if on is not None and trunk:
        end = trunk[-1].index
        behind = reduce(added, (limb.K for limb in limbs), on.get(end, NO_STIFFNESS))
        columns.add_stiffness(left, trunk, {**on, end: behind})
    steps = [step for limb in limbs for step in limb.steps]
    return SparseFactors([*steps, *SparseFactors.eliminated(left, list(left), symmetric=on is None)])


def _rows(tree: Tree, M: Pattern, links: Sequence[Link]) -> Pattern:
    """What M says of these links' freedoms, and of theirs with those that carry them, zeros written out."""
    rows: Pattern = {}
    for link in links:
        for ancestor in tree.ancestors(link.index):
            for k in _freedoms([link]):
                for j in _freedoms([ancestor]):
                    rows.setdefault(k, {})[j] = M[k].get(j, 0.0)
                    rows.setdefault(j, {})[k] = M[j].get(k, 0.0)
    return {k: dict(sorted(rows[k].items())) for k in sorted(rows)}


def _freedoms(links: Sequence[Link]) -> list[int]:
    return [k for link in links for k in range(link.v_start, link.v_start + link.kind.nv)]
