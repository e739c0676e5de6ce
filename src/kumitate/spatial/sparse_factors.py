"""Square systems with structural zeros: L U without pivoting, straight-line code without a branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["SparseFactors"]

Scalar = Any


class SparseFactors:
    """L U of a square matrix by its rows 0, 1, …, entries that are not there being zero, the last pivot first.

    In the order of a tree's joints, parents before children, a mass matrix is so factored without fill-in. The pattern must be
    symmetric, the entries need not be. Nothing keeps a pivot away from zero: it is for matrices whose symmetric part is large.
    """

    def __init__(self, rows: Mapping[int, Mapping[int, Scalar]]):
        left = {i: dict(row) for i, row in rows.items()}
        self.inverse: dict[int, Scalar] = {}
        self.steps: list[tuple[int, dict[int, Scalar], dict[int, Scalar]]] = []  # pivot, column of L, row of U
        for pivot in sorted(left, reverse=True):
            row = left.pop(pivot)
            inverse = self.inverse[pivot] = 1.0 / row.pop(pivot)
            column = {i: left[i].pop(pivot) * inverse for i in row}
            for i, factor in column.items():
                target = left[i]
                for j, value in row.items():
                    target[j] = target[j] - factor * value if j in target else -(factor * value)
            self.steps.append((pivot, column, row))

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x of A x = b."""
        x = {pivot: b[pivot] for pivot, _, _ in self.steps}
        for pivot, column, _ in self.steps:
            for i, factor in column.items():
                x[i] = x[i] - factor * x[pivot]
        for pivot, _, row in reversed(self.steps):
            total = x[pivot]
            for j, value in row.items():
                total = total - value * x[j]
            x[pivot] = total * self.inverse[pivot]
        return [x[k] for k in range(len(x))]
