"""The columns of the derivatives of a step that one linear system gives: solved for, and carried to the end of the step.

The code is a loop over the columns, so that it is short, however many there are. A pass takes three of them: by a coordinate,
by its velocity and by an effort along it. So every entry of the factors is read once for three products.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...contact.impulse.jacobians import Pattern, along
from ...dynamics.derivatives.slopes import Matrix
from ...model import Tree
from ...scalar import Program, Scalar, call, loop, table, trace
from ...spatial import SparseFactors, dot
from .effort_columns import SparseColumn, effort_columns, entries_of

__all__ = ["JointEnd", "TwoRounds", "step_columns"]


class TwoRounds(NamedTuple):
    """H x₁ = r and H x = r + s − E x₁, for the changes x (nv) of the velocities after a step.

    Attributes:
        H, over: the matrix H of the system, and E, what is carried over to the second round.
        by_q, by_v: r by the coordinates and by the velocities (nv, nv); by an effort it is the length of the step.
        by_q_over: s by the coordinates (nv, nv).
    """

    H: Pattern
    over: Pattern
    by_q: Matrix
    by_v: Matrix
    by_q_over: Matrix


class JointEnd(NamedTuple):
    """How a step ends at a joint whose coordinates are not those of a vector space, of k degrees of freedom.

    Attributes:
        own: its motion at the end by each coordinate of the tree (k, nv), while the velocities stay.
        moved: its motion at the end by that in the step (k, k).
        carried: its velocities in the axes after the step by those before (k, k).
    """

    own: Sequence[Sequence[Scalar]]
    moved: Sequence[Sequence[Scalar]]
    carried: Sequence[Sequence[Scalar]]


def step_columns(
    tree: Tree, system: TwoRounds, ends: Mapping[int, JointEnd], h: Scalar, efforts: Sequence[SparseColumn]
) -> tuple[Matrix, Matrix]:
    """A (2nv, 2nv) and B (2nv, nv and more) of a step h.

    Args:
        ends: by the index of the link; other joints end where they moved to.
        efforts: for the columns of B behind those of efforts along the joints, such efforts in their place.
    """
    sparse = [[x for row in matrix.values() for x in row.values()] for matrix in (system.H, system.over)]
    given = [*sparse, h, system.by_q, system.by_v, system.by_q_over, entries_of(efforts)]
    found = call(_program(tree, system, list(ends), efforts), *given, *(part for end in ends.values() for part in end))
    return found["A"], found["B"]


def _program(tree: Tree, system: TwoRounds, turning: Sequence[int], efforts: Sequence[SparseColumn]) -> Program:
    """(entries of H and E, h, the other parts of the system, entries of the efforts, ends) → A and B."""
    n = tree.nv
    unit = [table([1.0 if i == k else 0.0 for k in range(n)]) for i in range(n)]

    def columns(H: Any, E: Any, h: Any, by_q: Any, by_v: Any, by_q_over: Any, entries: Any, *parts: Any) -> dict[str, Any]:
        factors, over = SparseFactors.of(_filled(system.H, H)), _filled(system.over, E)
        ends = {index: JointEnd(*parts[3 * k : 3 * k + 3]) for k, index in enumerate(turning)}
        own = [row for link in tree.links for row in (ends[link.index].own if link.index in ends else link.velocities(unit))]

        def three(k: Any, _: Any) -> tuple[None, list[list[Scalar]]]:
            right: Any = [np.array([by_q[i][k], by_v[i][k], h * unit[i][k]], dtype=object) for i in range(n)]
            once: Any = factors.solve(right)
            less = [along(over[i], once) - np.array([by_q_over[i][k], 0.0, 0.0], dtype=object) for i in range(n)]
            twice: Any = [r - s for r, s in zip(right, less, strict=True)]
            by_coordinate, by_velocity, by_effort = zip(*factors.solve(twice), strict=True)
            first, second, third = (_at_end(tree, ends, h, x) for x in (by_coordinate, by_velocity, by_effort))
            return None, [[x + row[k] for x, row in zip(first, own, strict=False)] + first[n:], second, third]

        _, found = loop(n, three, None)
        kept = [found[k] for k in range(n)]
        others = list(effort_columns(efforts, found, 2, entries))
        A = [[kept[k][part][i] for part in (0, 1) for k in range(n)] for i in range(2 * n)]
        B = [[*(kept[k][2][i] for k in range(n)), *(column[i] for column in others)] for i in range(2 * n)]
        return {"A": A, "B": B}

    sizes: dict[str, int | tuple[int, ...]] = {"H": _size(system.H), "E": _size(system.over), "h": ()}
    sizes |= dict.fromkeys(("by_q", "by_v", "by_q_over"), (n, n))
    sizes["entries"] = len(entries_of(efforts))
    for index in turning:
        k = tree.links[index].kind.nv
        sizes |= {f"own_{index}": (k, n), f"moved_{index}": (k, k), f"carried_{index}": (k, k)}
    return trace(columns, sizes, f"columns_{n}")


def _at_end(tree: Tree, ends: Mapping[int, JointEnd], h: Scalar, x: Sequence[Scalar]) -> list[Scalar]:
    """The motion and the velocities after a step, with changes x of the velocities."""
    moved: list[Scalar] = []
    after: list[Scalar] = []
    for link in tree.links:
        own = link.velocities(x)
        steps = [h * rate for rate in own]
        end = ends.get(link.index)
        moved += steps if end is None else [dot(row, steps) for row in end.moved]
        after += own if end is None else [dot(row, own) for row in end.carried]
    return [*moved, *after]


def _filled(pattern: Pattern, entries: Sequence[Scalar]) -> Pattern:
    """A sparse matrix with other entries, row by row."""
    places = iter(range(_size(pattern)))
    return {i: {j: entries[next(places)] for j in row} for i, row in pattern.items()}


def _size(pattern: Pattern) -> int:
    return sum(map(len, pattern.values()))
