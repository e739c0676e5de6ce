"""Trees in dense-block form: every constant of a mechanism a number that is known at run time only.

A traced tree loses its zeros, its ones and all that follows from constants, and with them much of what tells the methods for
the inertia matrix apart. Here each link's placement, inertia, armature and motion subspace are inputs, and its pose in the
parent is one dense rotation and translation, formed once: what a library does that is compiled once for all mechanisms. The
pages of the algorithms run over such a tree as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from kumitate.dynamics import rnea
from kumitate.model import JointKind, Link, Tree
from kumitate.scalar import Program, Scalar, loop, table, trace
from kumitate.spatial import DenseRotation, Force, Inertia, Matrix3, Motion, Symmetric3, Transform, Vector3

__all__ = ["constants", "dense_program", "dense_tree", "unit_vector_at_run_time"]

#: Numbers of a link apart from those of its degrees of freedom: rotation 9, translation 3, mass 1, first moment 3, inertia 6.
_PER_LINK, _PER_FREEDOM = 22, 7


@dataclass(frozen=True)
class DenseJoint(JointKind):
    """A joint of some kind whose motion subspace is given, column by column."""

    of: JointKind
    columns: tuple[Motion, ...]

    @property
    def nq(self) -> int:
        return self.of.nq

    @property
    def nv(self) -> int:
        return self.of.nv

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self.of.transform(q)

    def locate(self, X_FM: Transform) -> list[Scalar]:
        return self.of.locate(X_FM)

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        return self.columns

    def active(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        return self.of.active(q)

    def constraint(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        return self.of.constraint(q)


@dataclass(frozen=True)
class DenseLink(Link):
    """A link whose pose in its parent is one dense matrix."""

    def pose(self, q: Sequence[Scalar]) -> Transform:
        return super().pose(q).dense()


def constants(tree: Tree, q: Sequence[float]) -> np.ndarray:
    """The numbers that a dense tree of this one takes at the coordinates q, in the order in which `dense_tree` reads them.

    The motion subspaces of some kinds of joints depend on q, so that all of them are given again with every q.
    """
    values: list[Scalar] = []
    for link in tree.links:
        inertia = link.inertia
        values += [x for row in link.placement.rotation.matrix() for x in row]
        values += [*link.placement.translation, inertia.mass, *inertia.first_moment]
        values += inertia.rotational.entries
        for motion, armature in zip(link.kind.subspace(link.coordinates(q)), link.armature, strict=True):
            values += [*motion, armature]
    return np.array(values, dtype=float)


def dense_tree(tree: Tree, numbers: Sequence[Scalar]) -> Tree:
    """The tree with its constants replaced by these numbers, of which nothing is known."""
    taken = iter(numbers)
    return replace(tree, links=tuple(_dense_link(link, taken) for link in tree.links))


def _dense_link(link: Link, numbers: Iterator[Scalar]) -> DenseLink:
    def take(count: int) -> list[Scalar]:
        return [next(numbers) for _ in range(count)]

    rotation = DenseRotation(Matrix3.of([take(3), take(3), take(3)]))
    placement = Transform(rotation, Vector3.of(take(3)))
    inertia = Inertia(next(numbers), Vector3.of(take(3)), Symmetric3(*take(6)))
    freedoms = [(Motion.of(take(6)), next(numbers)) for _ in range(link.kind.nv)]
    kept = {field.name: getattr(link, field.name) for field in fields(Link)}
    changed = {
        "kind": DenseJoint(link.kind, tuple(motion for motion, _ in freedoms)),
        "placement": placement,
        "inertia": inertia,
        "armature": tuple(armature for _, armature in freedoms),
    }
    return DenseLink(**(kept | changed))


def dense_program(page: Callable[[Tree, Any], Any], tree: Tree, name: str) -> Program:
    """The program of a page for M(q) over the dense tree: (q, constants, rest) → M; `rest` (nv + 3) is read by nobody here."""
    return trace(lambda q, numbers, rest: page(dense_tree(tree, numbers), q), _inputs(tree), name)


def unit_vector_at_run_time(tree: Tree) -> Program:
    """The unit-vector method as a library runs it that is compiled once: (q, constants, rest) → M, with `rest` (nv + 3) zero.

    Traced, the page knows that nothing moves before joint i and that velocities and gravity are zero. Here one inverse dynamics
    runs n times in a loop, and is told e_i, the velocities and gravity (`rest`) at run time; only friction is left out.
    """
    still = [replace(link, damping=(0.0,) * link.kind.nv, friction=(0.0,) * link.kind.nv) for link in tree.links]
    bare, nv = replace(tree, links=tuple(still)), tree.nv
    units = [table([1.0 if i == k else 0.0 for i in range(nv)]) for k in range(nv)]

    def matrix(q: Any, numbers: Any, rest: Any) -> list[list[Scalar]]:
        dense, v, gravity = dense_tree(bare, numbers), list(rest[:nv]), list(rest[nv:])

        def column(i: Any, before: Any) -> tuple[Any, list[Scalar]]:
            return before, rnea(dense, q, v, [unit[i] for unit in units], gravity=gravity)

        _, columns = loop(nv, column, ())
        return [[columns[min(i, j)][max(i, j)] for j in range(nv)] for i in range(nv)]

    return trace(matrix, _inputs(tree), "dense_unit_vector_at_run_time")


def _inputs(tree: Tree) -> dict[str, int | tuple[int, ...]]:
    size = sum(_PER_LINK + _PER_FREEDOM * link.kind.nv for link in tree.links)
    return {"q": tree.nq, "constants": size, "rest": tree.nv + 3}
