"""Small dense matrices over scalars, for what has no structure of its own: the blocks of inverse articulated inertias."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Dense", "dot"]

Scalar = Any


@dataclass(frozen=True)
class Dense:
    """A matrix by its rows; a vector is a matrix of one column. Zeros cost nothing: they vanish while tracing."""

    rows: tuple[tuple[Scalar, ...], ...]

    @classmethod
    def of(cls, rows: Iterable[Iterable[Scalar]]) -> Dense:
        """The matrix with these rows."""
        return cls(tuple(tuple(row) for row in rows))

    @classmethod
    def columns(cls, columns: Sequence[Iterable[Scalar]], height: int = 6) -> Dense:
        """The matrix with these columns; `height` rows if there are none."""
        return cls.of(zip(*columns, strict=True)) if columns else cls.of([[] for _ in range(height)])

    @classmethod
    def column(cls, entries: Iterable[Scalar]) -> Dense:
        """A vector."""
        return cls.of([entry] for entry in entries)

    @classmethod
    def zero(cls, height: int, width: int) -> Dense:
        return cls.of([[0.0] * width for _ in range(height)])

    @property
    def T(self) -> Dense:
        """Transpose."""
        return Dense.of(zip(*self.rows, strict=True))

    def entries(self) -> list[Scalar]:
        """All entries, row by row."""
        return [entry for row in self.rows for entry in row]

    def __add__(self, other: Dense) -> Dense:
        return Dense.of([a + b for a, b in zip(r, s, strict=True)] for r, s in zip(self.rows, other.rows, strict=True))

    def __sub__(self, other: Dense) -> Dense:
        return Dense.of([a - b for a, b in zip(r, s, strict=True)] for r, s in zip(self.rows, other.rows, strict=True))

    def __neg__(self) -> Dense:
        return Dense.of([-a for a in row] for row in self.rows)

    def __matmul__(self, other: Dense) -> Dense:
        columns = list(zip(*other.rows, strict=True))
        return Dense.of([dot(row, column) for column in columns] for row in self.rows)

    def inverse(self) -> Dense:
        """The inverse of a symmetric positive definite matrix, by LDLᵀ without pivots."""
        n = len(self.rows)
        L = [list(row) for row in self.rows]
        D: list[Scalar] = [0.0] * n
        for k in range(n):
            D[k] = 1.0 / L[k][k]
            below = [L[i][k] for i in range(n)]
            for i in range(k + 1, n):
                L[i][k] = below[i] * D[k]
                for j in range(k + 1, i + 1):
                    L[i][j] = L[i][j] - L[i][k] * below[j]
        solved = []
        for column in range(n):  # L D Lᵀ x = e
            x: list[Scalar] = [1.0 if i == column else 0.0 for i in range(n)]
            for i in range(column, n):
                x[i] = x[i] - dot(L[i][column:i], x[column:i])
            x = [value * d for value, d in zip(x, D, strict=True)]
            for i in reversed(range(n)):
                x[i] = x[i] - sum((L[j][i] * x[j] for j in range(i + 1, n)), 0.0)
            solved.append(x)
        # symmetric up to rounding when computed: one triangle serves for both
        return Dense.of([solved[min(i, j)][max(i, j)] for j in range(n)] for i in range(n))


def dot(a: Iterable[Scalar], b: Iterable[Scalar]) -> Scalar:
    """Σ a b."""
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)
