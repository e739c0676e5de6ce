"""Square systems with structural zeros: L U without pivoting, in straight-line code without branches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..scalar import Scalar


@dataclass(frozen=True)
class Elimination:
    """The elimination of one unknown: the inverse of its pivot, its column of L and its row of U, by index."""

    pivot: int
    inverse: Scalar
    column: dict[int, Scalar]
    row: dict[int, Scalar]


class SparseFactors:
    """L U of a square matrix given by sparse rows.

    The last unknown is eliminated first: with the joints of a tree ordered parents before children, a mass matrix has no
    fill-in. The pattern must be symmetric, the entries need not be. There is no protection against zero pivots: it is meant
    for matrices with a large symmetric part.

    >>> SparseFactors.of({0: {0: 4.0, 1: 1.0}, 1: {0: 1.0, 1: 1.0}}).solve([6.0, 3.0])
    [1.0, 2.0]
    """

    def __init__(self, steps: Iterable[Elimination]):
        self.steps = tuple(steps)

    @classmethod
    def of(cls, rows: Mapping[int, Mapping[int, Scalar]], *, symmetric: bool = False) -> SparseFactors:
        """The factors of a whole matrix; `symmetric` halves the work for symmetric entries."""
        left = {i: dict(row) for i, row in rows.items()}
        return cls(cls.eliminated(left, list(left), symmetric=symmetric))

    @staticmethod
    def eliminated(left: dict[int, dict[int, Scalar]], pivots: Sequence[int], *, symmetric: bool = False) -> list[Elimination]:
        """Eliminates these unknowns from `left`, all rows that contain them, and leaves the remaining rows there."""
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
        return self.backward(self.forward(b))

    def forward(self, b: Sequence[Scalar]) -> list[Scalar]:
        """L⁻¹ b."""
        x = list(b)
        for step in self.steps:
            for i, factor in step.column.items():
                x[i] = x[i] - factor * x[step.pivot]
        return x

    def backward(self, y: Sequence[Scalar]) -> list[Scalar]:
        """U⁻¹ y."""
        x = list(y)
        for step in reversed(self.steps):
            total = x[step.pivot]
            for j, value in step.row.items():
                total = total - value * x[j]
            x[step.pivot] = total * step.inverse
        return x
