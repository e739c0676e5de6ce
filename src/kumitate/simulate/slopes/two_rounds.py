"""Two rounds of a linear system at once, for many columns, by the factors H = L U.

With y = L⁻¹ r and T = L⁻¹ E U⁻¹, x₁ = U⁻¹ y and H x = r + s − E x₁ give

    x = U⁻¹ (y + L⁻¹ s − T y).

For the joints of a tree L, U and T have the sparsity of its inertia matrix, so that T y takes half the work of a third system.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...contact.impulse.jacobians import Pattern, along
from ...dynamics.derivatives.slopes import Matrix
from ...scalar import Program, Scalar, call, table, trace
from ...spatial import Elimination, SparseFactors
from .stretches import Stretch, loops_over

__all__ = ["ColumnSolver", "TwoRounds", "filled", "size_of"]


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


@dataclass(frozen=True)
class ColumnSolver:
    """The solution by three columns at a time: of a coordinate, of its velocity, and of an effort along it.

    Attributes:
        factors: L and U; `between`: T.
        h: the step, which is r of an effort; `right`: r by the coordinates and by the velocities, s by the coordinates.
        unit: for each row, a table of the unit vector's entries.
    """

    factors: SparseFactors
    between: Pattern
    h: Scalar
    right: Sequence[Any]
    unit: Sequence[Any]

    @classmethod
    def of(cls, stretches: Sequence[Stretch], H: Pattern, E: Pattern, h: Scalar, right: Sequence[Any]) -> ColumnSolver:
        """The factors are computed here; T in loops over the stretches."""
        factors, n = SparseFactors.of(H), len(H)
        lower = [step.column for step in factors.steps]
        upper = [{j: value * step.inverse for j, value in step.row.items()} for step in factors.steps]
        dense = [[E[i].get(k, 0.0) for k in range(n)] for i in range(n)]
        pivots = [step.pivot for step in factors.steps]
        program = _forward_program(n, pivots, [list(column) for column in lower], stretches)
        left = call(program, _entries(lower), dense)
        both = call(program, _entries(upper), list(zip(*left, strict=True)))
        inverse = {step.pivot: step.inverse for step in factors.steps}
        between = {i: {k: both[k][i] * inverse[k] for k in row} for i, row in _places(factors, E).items()}
        return cls(factors, between, h, right, [table([1.0 if i == k else 0.0 for k in range(n)]) for i in range(n)])

    def three(self, rows: Collection[int], k: Any) -> Iterable[Sequence[Scalar]]:
        """The changes of the velocities, by column k of a stretch whose right sides have entries in these rows."""
        by_q, by_v, by_q_over = self.right
        n = range(len(self.unit))
        right: Any = [_triple(by_q[i][k], by_v[i][k], self.h * self.unit[i][k]) if i in rows else _triple() for i in n]
        more: Any = [_triple(by_q_over[i][k]) if i in rows else _triple() for i in n]
        once, over = self.factors.forward(right), self.factors.forward(more)
        both: Any = [once[i] + over[i] - along(self.between[i], once) for i in n]
        return zip(*self.factors.backward(both), strict=True)


def _forward_program(n: int, pivots: Sequence[int], places: Sequence[Sequence[int]], stretches: Sequence[Stretch]) -> Program:
    """(entries of L, a matrix) → L⁻¹ times the matrix, both with zeros outside the rows of each stretch of columns.

    Args:
        pivots: in the order of the elimination; places: the rows of the entries of L in each column.
    """

    def forward(entries: Any, matrix: Any) -> list[list[Scalar]]:
        left = iter(range(len(entries)))
        steps = (
            Elimination(p, 1.0, {i: entries[next(left)] for i in rows}, {}) for p, rows in zip(pivots, places, strict=True)
        )
        L = SparseFactors(steps)

        def column(stretch: Stretch, k: Any) -> list[Scalar]:
            return L.forward([matrix[i][k] if i in stretch.rows else 0.0 for i in range(n)])

        found = [stack[k] for each, stack in loops_over(stretches, column) for k in range(each.stop - each.start)]
        return [[column[i] for column in found] for i in range(n)]

    sizes: dict[str, int | tuple[int, ...]] = {"entries": sum(map(len, places)), "matrix": (n, n)}
    return trace(forward, sizes, f"forward_{n}")


def _places(factors: SparseFactors, E: Pattern) -> dict[int, list[int]]:
    """Where L⁻¹ E U⁻¹ has entries, row by row."""
    found = {i: set(row) for i, row in E.items()}
    for step in factors.steps:
        for i in step.column:
            found[i] |= found[step.pivot]
    for step in factors.steps:
        for row in found.values():
            if step.pivot in row:
                row |= step.row.keys()
    return {i: sorted(row) for i, row in found.items()}


def _entries(columns: Sequence[dict[int, Scalar]]) -> list[Scalar]:
    return [entry for column in columns for entry in column.values()]


def _triple(*entries: Scalar) -> Any:
    """Three numbers that are computed with together; those left out are zero."""
    return np.array([*entries, *(0.0,) * (3 - len(entries))], dtype=object)


def filled(pattern: Pattern, entries: Sequence[Scalar]) -> Pattern:
    """A sparse matrix with other entries, row by row."""
    places = iter(range(size_of(pattern)))
    return {i: {j: entries[next(places)] for j in row} for i, row in pattern.items()}


def size_of(pattern: Pattern) -> int:
    """The number of entries of a sparse matrix."""
    return sum(map(len, pattern.values()))
