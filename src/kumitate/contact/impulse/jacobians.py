"""The Jacobians of links in the axes of the world, about one origin for all links of the same root.

Sums over a tree (twists outwards, wrenches and stiffnesses inwards) then need no transformations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from ...kinematics import link_poses
from ...model import Link, PerLink, Tree, inward, outward
from ...scalar import Scalar, Scalars, is_zero
from ...spatial import Dense, Force, Motion, Transform, Vector3, dot

#: A sparse matrix: its structurally nonzero entries.
Pattern = dict[int, dict[int, Scalar]]
NO_STIFFNESS = Dense.zero(6, 6)


@dataclass(frozen=True)
class LinkJacobians:
    """The Jacobians of a tree at one posture."""

    tree: Tree
    poses: PerLink[Transform]  # X_WL
    origins: PerLink[Vector3]  # of the root link of each in the world [m]: its twists and wrenches are taken about it
    S: PerLink[tuple[Motion, ...]]  # the columns [ω; v] of joints' degrees of freedom, about these in the axes of the world

    def twists(self, v: Scalars) -> PerLink[Motion]:
        """[ω; v] of every link, in the axes of the world, about its origin."""

        def stage(link: Link, parent: Motion) -> Motion:
            for column, rate in zip(self.S[link], link.velocities(v), strict=True):
                parent = parent + column * rate
            return parent

        return outward(self.tree, stage, Motion())

    def efforts(self, wrenches: Mapping[int, Force]) -> list[Scalar]:
        """Jᵀ F (nv): the generalised forces of wrenches on links, given by link index, about the same origins as the twists."""
        felt: PerLink[Force] = inward(self.tree, lambda link, children: sum(children, wrenches.get(link.index, Force())))
        return [column.dot(felt[link]) for link in self.tree.links for column in self.S[link]]

    def add_stiffness(self, H: Pattern, links: Sequence[Link], on: Mapping[int, Dense]) -> Dense:
        """Adds Σ Jᵀ K J of these links to H, where K (6×6) is the wrench per unit twist. The sparsity of the tree is kept.

        Returns the sum of K on these links, which also acts on the links that carry them.
        """
        own = {link.index for link in links}
        at_roots: list[Dense] = []

        def stage(link: Link, behind: list[Dense | None]) -> Dense | None:
            found = [K for K in behind if K is not None]
            if link.index not in own:
                at_roots.extend(found)
                return None
            given = [on[link.index]] if link.index in on else []
            if not (found or given):
                return None
            K = reduce(add, [*given, *found])
            # S_iᵀ K S_k for the columns of a link's joint and of all joints that carry it, either at the right once
            for k, column in enumerate(self.S[link], link.v_start):
                pushed, pulled = (Force.of([dot(row, column) for row in matrix.rows]) for matrix in (K, K.T))
                for ancestor in self.tree.ancestors(link.index):
                    for i, other in enumerate(self.S[ancestor], ancestor.v_start):
                        _add(H, i, k, other.dot(pushed))
                        if ancestor is not link:
                            _add(H, k, i, other.dot(pulled))
            return K

        felt = inward(self.tree, stage)
        at_roots += [K for K in (felt[link] for link in self.tree.children(-1)) if K is not None]
        return reduce(add, at_roots, NO_STIFFNESS)


def link_jacobians(tree: Tree, q: Scalars) -> LinkJacobians:
    """The Jacobians at q (nq)."""
    poses = link_poses(tree, q)

    def origin(link: Link, at: Vector3 | None) -> Vector3:
        return poses[link].translation if at is None else at

    origins: PerLink[Vector3] = outward(tree, origin, None)

    def stage(link: Link, _: object) -> tuple[Motion, ...]:
        X = Transform(poses[link].rotation, poses[link].translation - origins[link])
        return tuple(S.to_parent(X) for S in link.kind.subspace(link.coordinates(q)))

    S = outward(tree, stage, None)
    for link in tree.links:
        _ = S[link]  # evaluate now: the first use may be in a block that is skipped at run time
    return LinkJacobians(tree, poses, origins, S)


def _add(H: Pattern, i: int, k: int, value: Scalar) -> None:
    if not is_zero(value):
        H[i][k] = H[i].get(k, 0.0) + value
        H[k].setdefault(i, 0.0)  # the pattern stays symmetric even if entries are not: friction depends on the normal force


def along(row: Mapping[int, Scalar], x: Scalars) -> Scalar:
    """Σ row x, of a sparse row."""
    return sum((value * x[k] for k, value in row.items()), 0.0)


def frozen(rows: Iterable[Scalars]) -> tuple[tuple[Scalar, ...], ...]:
    """Rows as tuples, which `call_shared` requires."""
    return tuple(tuple(row) for row in rows)
