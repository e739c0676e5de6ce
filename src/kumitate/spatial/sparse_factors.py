"""Square systems with structural zeros: L U without pivoting, straight-line code without a branch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..scalar import Scalar

__all__ = ["Elimination", "SparseFactors"]


@dataclass(frozen=True)
class Elimination:
    """What eliminating one unknown leaves behind: the inverse of its pivot, its column of L and its row of U, by index."""

    pivot: int
    inverse: Scalar
    column: dict[int, Scalar]
    row: dict[int, Scalar]


class SparseFactors:
    """L U of a square matrix by its rows, entries that are not there being zero.

    The last unknown goes first: in the order of a tree's joints, parents before children, a mass matrix is so factored without
    fill-in. The pattern must be symmetric, the entries need not be. Nothing keeps a pivot away from zero: it is for matrices
    whose symmetric part is large.

    >>> SparseFactors.of({0: {0: 4.0, 1: 1.0}, 1: {0: 1.0, 1: 1.0}}).solve([6.0, 3.0])
    [1.0, 2.0]
    """

    def __init__(self, steps: Iterable[Elimination]):
        self.steps = tuple(steps)

    @classmethod
    def of(cls, rows: Mapping[int, Mapping[int, Scalar]], *, symmetric: bool = False) -> SparseFactors:
        """The factors of all of a matrix; `symmetric`, if its entries are, saves half the work."""
        left = {i: dict(row) for i, row in rows.items()}
        return cls(cls.eliminated(left, list(left), symmetric=symmetric))

    @staticmethod
    def eliminated(left: dict[int, dict[int, Scalar]], pivots: Sequence[int], *, symmetric: bool = False) -> list[Elimination]:
        """Eliminates these unknowns: `left`, all rows that they stand in, keeps what is left of the others."""
        steps = []
        for pivot in sorted(pivots, reverse=True):
            row = left.pop(pivot)
            inverse = 1.0 / row.pop(pivot)
            column = {i: left[i].pop(pivot) * inverse for i in row}
            for i, factor in column.items():
                target = left[i]
                for j, value in row.items():
                    if not symmetric or j <= i:
                        target[j] = target[j] - factor * value if j in target else -(factor * value)
                        if symmetric:
                            left[j][i] = target[j]
            steps.append(Elimination(pivot, inverse, column, row))
        return steps

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x of A x = b."""
        x = {step.pivot: b[step.pivot] for step in self.steps}
        for step in self.steps:
            for i, factor in step.column.items():
                x[i] = x[i] - factor * x[step.pivot]
        for step in reversed(self.steps):
            total = x[step.pivot]
            for j, value in step.row.items():
                total = total - value * x[j]
            x[step.pivot] = total * step.inverse
        return [x[k] for k in range(len(x))]
