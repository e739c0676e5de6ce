"""The factors of a tree's inertia matrix plus contact stiffness, by branches: those without contact are factored once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import add

from ...model import Link, Tree, outward
from ...scalar import Scalar, either, when
from ...spatial import Dense, Elimination, SparseFactors
from .jacobians import NO_STIFFNESS, LinkJacobians, Pattern


@dataclass(frozen=True)
class Branch:
    """A branch's contribution to the trunk."""

    steps: list[Elimination]
    taken: Pattern  # the terms that these subtract from the trunk's rows
    K: Dense  # its stiffness


@dataclass(frozen=True)
class BranchFactors:
    """The factors of a tree's inertia matrix: a trunk, which ends where the tree first branches, and the branches on it."""

    jacobians: LinkJacobians
    M: Pattern  # the structurally nonzero entries of the inertia matrix
    trunk: list[Link]  # the links that carry all others; parents before children
    branches: list[list[Link]]  # by branch, its links
    free: list[Branch]  # the contributions of the branches without contact
    factors: SparseFactors  # of M

    @classmethod
    def of(cls, jacobians: LinkJacobians, M: Pattern) -> BranchFactors:
        """From the inertia matrix."""
        trunk, branches = _trunk_and_branches(jacobians.tree)
        free = [_branch(jacobians, M, trunk, links, None) for links in branches]
        return cls(jacobians, M, trunk, branches, free, _joined(jacobians, M, trunk, free, None))

    def stiffened(self, on: Mapping[int, Dense], near: Mapping[int, Scalar]) -> SparseFactors:
        """The factors of M + Σ Jᵀ K J; `on`: K (6×6) by link index; `near`: by link index, whether its K can be nonzero."""
        found = []
        for links, free in zip(self.branches, self.free, strict=True):
            touched = [near[link.index] for link in links if link.index in near]
            bent = partial(_branch, self.jacobians, self.M, self.trunk, links, on)
            found.append(when(reduce(either, touched), bent, free) if touched else free)
        return _joined(self.jacobians, self.M, self.trunk, found, on)


def _trunk_and_branches(tree: Tree) -> tuple[list[Link], list[list[Link]]]:
    trunk: list[Link] = []
    carried = tree.children(-1)  # of the world
    while len(carried) == 1:
        trunk += carried
        carried = tree.children(trunk[-1].index)
    branches: dict[int, list[Link]] = {link.index: [] for link in carried}

    def stage(link: Link, branch: list[Link] | None) -> list[Link] | None:
        return branches.get(link.index) if branch is None else branch

    branch_of = outward(tree, stage, None)
    for link in tree.links:
        if (branch := branch_of[link]) is not None:
            branch.append(link)
    return trunk, list(branches.values())


def _branch(
    jacobians: LinkJacobians, M: Pattern, trunk: Sequence[Link], links: Sequence[Link], on: Mapping[int, Dense] | None
) -> Branch:
    carrying, left = _freedoms(trunk), _rows(jacobians.tree, M, links)
    K = NO_STIFFNESS if on is None else jacobians.add_stiffness(left, links, on)
    steps = SparseFactors.eliminated(left, _freedoms(links), symmetric=on is None)
    return Branch(steps, {i: {j: left[i].get(j, 0.0) for j in carrying} for i in carrying}, K)


def _joined(
    jacobians: LinkJacobians, M: Pattern, trunk: Sequence[Link], branches: Sequence[Branch], on: Mapping[int, Dense] | None
) -> SparseFactors:
    left = _rows(jacobians.tree, M, trunk)
    for branch in branches:
        for i, row in branch.taken.items():
            for j, value in row.items():
                left[i][j] = left[i][j] + value
    if on is not None and trunk:
        end = trunk[-1].index
        behind = reduce(add, (branch.K for branch in branches), on.get(end, NO_STIFFNESS))
        jacobians.add_stiffness(left, trunk, {**on, end: behind})
    steps = [step for branch in branches for step in branch.steps]
    return SparseFactors([*steps, *SparseFactors.eliminated(left, list(left), symmetric=on is None)])


def _rows(tree: Tree, M: Pattern, links: Sequence[Link]) -> Pattern:
    """M between the degrees of freedom of these links and of those that carry them, including zeros."""
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
