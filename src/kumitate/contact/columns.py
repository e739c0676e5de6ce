"""The links' Jacobians in the axes of the world, about one origin for all links that hang on one root: levers need no moving.

What is summed over a tree (twists outwards, wrenches and stiffnesses inwards) is then a plain sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..kinematics import link_poses
from ..model import Link, PerLink, Tree, inward, outward
from ..spatial import Force, Motion

__all__ = ["Columns", "Rows", "columns", "frozen"]

Scalar = Any
#: A matrix by its rows.
Rows = list[list[Scalar]]


@dataclass(frozen=True)
class Columns:
    """A tree at one posture.

    Attributes:
        poses: X_WL of every link.
        origins: of every link, the place of its root link in the world [m]: what its twists and wrenches are taken about.
        S: of every link, the columns [ω; v] of its joint's freedoms, there and in the axes of the world.
    """

    tree: Tree
    poses: PerLink
    origins: PerLink
    S: PerLink

    def twists(self, v: Sequence[Scalar]) -> PerLink:
        """[ω; v] of every link, in the axes of the world, about its origin."""

        def stage(link: Link, parent: Motion) -> Motion:
            for column, rate in zip(self.S[link], link.velocities(v), strict=True):
                parent = parent + column * rate
            return parent

        return outward(self.tree, stage, Motion())

    def efforts(self, wrenches: Mapping[int, Force]) -> list[Scalar]:
        """Jᵀ F (nv): what wrenches on links, by their index and like the twists, do along the joints."""
        felt = inward(self.tree, lambda link, children: sum(children, wrenches.get(link.index, Force())))
        return [column.dot(felt[link]) for link in self.tree.links for column in self.S[link]]

    def add_stiffness(self, H: dict[int, dict[int, Scalar]], on: Mapping[int, Rows]) -> None:
        """Adds Σ Jᵀ K J to H: a link's K (6×6) is what wrench its twist calls forth. The tree's sparsity stays."""
        nothing = [[0.0] * 6 for _ in range(6)]

        def gather(link: Link, children: list[Rows]) -> Rows:
            total = on.get(link.index, nothing)
            for child in children:
                total = [[a + b for a, b in zip(one, other, strict=True)] for one, other in zip(total, child, strict=True)]
            return total

        felt = inward(self.tree, gather)
        for link in self.tree.links:
            K = felt[link]
            transposed = [[K[j][i] for j in range(6)] for i in range(6)]
            for k, column in enumerate(self.S[link], link.v_start):
                pushed, pulled = (Force.of(_times(rows, column)) for rows in (K, transposed))
                for ancestor in self.tree.ancestors(link.index):
                    for i, other in enumerate(self.S[ancestor], ancestor.v_start):
                        _add(H, i, k, other.dot(pushed))
                        if ancestor is not link:
                            _add(H, k, i, other.dot(pulled))


def columns(tree: Tree, q: Sequence[Scalar]) -> Columns:
    """The columns at q (nq)."""
    poses = link_poses(tree, q)
    origins = outward(tree, lambda link, at: poses[link].translation if at is None else at, None)

    def stage(link: Link, _: None) -> tuple[Motion, ...]:
        X_WL = poses[link]
        lever = X_WL.translation - origins[link]
        found = []
        for S in link.kind.subspace(link.coordinates(q)):
            omega, v = X_WL.rotation.rotate(S.angular), X_WL.rotation.rotate(S.linear)
            found.append(Motion(omega, v + lever.cross(omega)))
        return tuple(found)

    return Columns(tree, poses, origins, outward(tree, stage, None))


def _times(rows: Rows, vector: Motion) -> list[Scalar]:
    return [sum((a * b for a, b in zip(row, vector, strict=True)), 0.0) for row in rows]


def _add(H: dict[int, dict[int, Scalar]], i: int, k: int, value: Scalar) -> None:
    if value.__class__ is not float or value != 0.0:
        H[i][k] = H[i].get(k, 0.0) + value
        H[k].setdefault(i, 0.0)  # the pattern stays symmetric where entries are not: friction follows the normal force


def frozen(rows: Iterable[Sequence[Scalar]]) -> tuple[tuple[Scalar, ...], ...]:
    """Rows as tuples, as programs that are reused take them."""
    return tuple(tuple(row) for row in rows)
