"""The links' Jacobians in the axes of the world, about one origin for all links that hang on one root: levers need no moving.

What is summed over a tree (twists outwards, wrenches and stiffnesses inwards) is then a plain sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..kinematics import link_poses
from ..model import Link, PerLink, Tree, inward, outward
from ..scalar import Scalar, is_zero
from ..spatial import Force, Motion, Transform, Vector3

__all__ = ["NO_STIFFNESS", "Columns", "Pattern", "Rows", "added", "columns", "frozen"]

#: A matrix by its rows, and one by its entries that are not always zero.
Rows = list[list[Scalar]]
Pattern = dict[int, dict[int, Scalar]]
NO_STIFFNESS: Rows = [[0.0] * 6 for _ in range(6)]


@dataclass(frozen=True)
class Columns:
    """A tree at one posture.

    Attributes:
        poses: X_WL of every link.
        origins: of every link, the place of its root link in the world [m]: what its twists and wrenches are taken about.
        S: of every link, the columns [ω; v] of its joint's freedoms, there and in the axes of the world.
    """

    tree: Tree
    poses: PerLink[Transform]
    origins: PerLink[Vector3]
    S: PerLink[tuple[Motion, ...]]

    def twists(self, v: Sequence[Scalar]) -> PerLink[Motion]:
        """[ω; v] of every link, in the axes of the world, about its origin."""

        def stage(link: Link, parent: Motion) -> Motion:
            for column, rate in zip(self.S[link], link.velocities(v), strict=True):
                parent = parent + column * rate
            return parent

        return outward(self.tree, stage, Motion())

    def efforts(self, wrenches: Mapping[int, Force]) -> list[Scalar]:
        """Jᵀ F (nv): what wrenches on links, by their index and like the twists, do along the joints."""
        felt: PerLink[Force] = inward(self.tree, lambda link, children: sum(children, wrenches.get(link.index, Force())))
        return [column.dot(felt[link]) for link in self.tree.links for column in self.S[link]]

    def add_stiffness(self, H: Pattern, links: Sequence[Link], on: Mapping[int, Rows]) -> Rows:
        """Adds Σ Jᵀ K J to H: a link's K (6×6) is what wrench its twist calls forth. The tree's sparsity stays.

        Args:
            links: whose freedoms are meant, parents before children; on: K by the index of the link.

        Returns:
            The sum of K on these links, which those that carry them feel as well.
        """
        felt, total = dict(on), NO_STIFFNESS
        own = {link.index for link in links}
        for link in reversed(links):
            if (K := felt.get(link.index)) is None:
                continue
            transposed = [[K[j][i] for j in range(6)] for i in range(6)]
            for k, column in enumerate(self.S[link], link.v_start):
                pushed, pulled = (Force.of(_times(rows, column)) for rows in (K, transposed))
                for ancestor in self.tree.ancestors(link.index):
                    for i, other in enumerate(self.S[ancestor], ancestor.v_start):
                        _add(H, i, k, other.dot(pushed))
                        if ancestor is not link:
                            _add(H, k, i, other.dot(pulled))
            if link.parent in own:
                felt[link.parent] = added(felt.get(link.parent, NO_STIFFNESS), K)
            else:
                total = added(total, K)
        return total


def columns(tree: Tree, q: Sequence[Scalar]) -> Columns:
    """The columns at q (nq)."""
    poses = link_poses(tree, q)

    def origin(link: Link, at: Vector3 | None) -> Vector3:
        return poses[link].translation if at is None else at

    origins: PerLink[Vector3] = outward(tree, origin, None)

    def stage(link: Link, _: object) -> tuple[Motion, ...]:
        X_WL = poses[link]
        lever = X_WL.translation - origins[link]
        found = []
        for S in link.kind.subspace(link.coordinates(q)):
            omega, v = X_WL.rotation.rotate(S.angular), X_WL.rotation.rotate(S.linear)
            found.append(Motion(omega, v + lever.cross(omega)))
        return tuple(found)

    S = outward(tree, stage, None)
    for link in tree.links:
        _ = S[link]  # now, not where they are first asked for, which may be in a block that is skipped
    return Columns(tree, poses, origins, S)


def _times(rows: Rows, vector: Motion) -> list[Scalar]:
    return [sum((a * b for a, b in zip(row, vector, strict=True)), 0.0) for row in rows]


def _add(H: Pattern, i: int, k: int, value: Scalar) -> None:
    if not is_zero(value):
        H[i][k] = H[i].get(k, 0.0) + value
        H[k].setdefault(i, 0.0)  # the pattern stays symmetric where entries are not: friction follows the normal force


def added(one: Rows, other: Rows) -> Rows:
    """The sum of two matrices."""
    return [[a + b for a, b in zip(row, more, strict=True)] for row, more in zip(one, other, strict=True)]


def frozen(rows: Iterable[Sequence[Scalar]]) -> tuple[tuple[Scalar, ...], ...]:
    """Rows as tuples, as `call_shared` takes them."""
    return tuple(tuple(row) for row in rows)
