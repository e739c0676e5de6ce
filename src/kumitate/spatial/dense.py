"""Small dense matrices over scalars, for quantities without special structure: blocks of inverse articulated inertias.

Pseudo-inverses of symmetric matrices that may be singular.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..scalar import Scalar, Scalars


@dataclass(frozen=True)
class Dense:
    """A matrix by its rows; a vector is a matrix of one column. Zeros are free: tracing removes them."""

    rows: tuple[tuple[Scalar, ...], ...]

    @classmethod
    def of(cls, rows: Iterable[Iterable[Scalar]]) -> Dense:
        """The matrix with these rows."""
        return cls(tuple(tuple(row) for row in rows))

    @classmethod
    def columns(cls, columns: Sequence[Iterable[Scalar]], height: int = 6) -> Dense:
        """The matrix with these columns; without columns, it has `height` rows."""
        return cls.of(zip(*columns, strict=True)) if columns else cls.of([[] for _ in range(height)])

    @classmethod
    def column(cls, entries: Iterable[Scalar]) -> Dense:
        """A vector."""
        return cls.of([entry] for entry in entries)

    @classmethod
    def diagonal(cls, entries: Scalars) -> Dense:
        """The square matrix with these entries on its diagonal."""
        return cls.of([entry if i == j else 0.0 for j in range(len(entries))] for i, entry in enumerate(entries))

    @classmethod
    def unit(cls, n: int) -> Dense:
        return cls.diagonal([1.0] * n)

    @classmethod
    def blocks(cls, parts: Sequence[Dense]) -> Dense:
        """The square matrix with square matrices along its diagonal."""
        width, at = sum(len(part.rows) for part in parts), 0
        rows: list[list[Scalar]] = []
        for part in parts:
            behind = at + len(part.rows)
            rows += [[*[0.0] * at, *row, *[0.0] * (width - behind)] for row in part.rows]
            at = behind
        return cls.of(rows)

    @classmethod
    def beside(cls, *parts: Dense) -> Dense:
        """Matrices of the same height, one beside the other."""
        return cls.of([x for row in rows for x in row] for rows in zip(*(part.rows for part in parts), strict=True))

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

    def times(self, factor: Scalar) -> Dense:
        """Every entry times a factor."""
        return Dense.of([factor * entry for entry in row] for row in self.rows)

    def factored(self) -> Factors:
        """L D Lᵀ of a symmetric positive definite matrix."""
        return Factors.of(self)

    def inverse(self) -> Dense:
        """The inverse of a symmetric positive definite matrix."""
        return self.factored().inverse()


@dataclass(frozen=True)
class Factors:
    """L D Lᵀ of a symmetric positive definite matrix, without pivots: `L` below its diagonal of ones, `D` inverted."""

    L: tuple[tuple[Scalar, ...], ...]
    D: tuple[Scalar, ...]

    @classmethod
    def of(cls, matrix: Dense) -> Factors:
        """Reads the lower triangle."""
        n = len(matrix.rows)
        L = [list(row) for row in matrix.rows]
        D: list[Scalar] = [0.0] * n
        for k in range(n):
            D[k] = 1.0 / L[k][k]
            below = [L[i][k] for i in range(n)]
            for i in range(k + 1, n):
                L[i][k] = below[i] * D[k]
                for j in range(k + 1, i + 1):
                    L[i][j] = L[i][j] - L[i][k] * below[j]
        return cls(tuple(tuple(row[:i]) for i, row in enumerate(L)), tuple(D))

    def solve(self, b: Scalars) -> list[Scalar]:
        """x of A x = b."""
        x = [value * d for value, d in zip(self._forward(b), self.D, strict=True)]
        for i in reversed(range(len(x))):
            x[i] = x[i] - sum((self.L[j][i] * x[j] for j in range(i + 1, len(x))), 0.0)
        return x

    def inverse(self) -> Dense:
        """A⁻¹."""
        n = len(self.D)
        solved = [self.solve([1.0 if i == column else 0.0 for i in range(n)]) for column in range(n)]
        # symmetric up to rounding: one triangle is used for both
        return Dense.of([solved[min(i, j)][max(i, j)] for j in range(n)] for i in range(n))

    def between(self, left: Dense, right: Dense) -> Dense:
        """G A⁻¹ Hᵀ as (L⁻¹Gᵀ)ᵀ D (L⁻¹Hᵀ), which for several rows costs less than the inverse."""
        halves = [self._forward(row) for row in left.rows]
        scaled = [[value * d for value, d in zip(self._forward(row), self.D, strict=True)] for row in right.rows]
        return Dense.of([dot(half, other) for other in scaled] for half in halves)

    def _forward(self, b: Scalars) -> list[Scalar]:
        """L⁻¹ b."""
        x = list(b)
        for i in range(len(x)):
            x[i] = x[i] - sum((factor * x[j] for j, factor in enumerate(self.L[i])), 0.0)
        return x


def dot(a: Iterable[Scalar], b: Iterable[Scalar]) -> Scalar:
    """Σ a b."""
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)


@dataclass(frozen=True)
class RangeInverse:
    """A damped pseudo-inverse W of a positive semidefinite A: W A x = x up to the null space of A.

    W = B + BEB + BEBEB + BEBEBEB with B = (A + E)⁻¹: a direction whose eigenvalue is σ is resolved to (ε/(σ + ε))⁴, where ε is
    the damping E. B is applied by its factors and never formed: where A is singular its entries would be so large that rounding
    would destroy the rest.
    """

    factors: Factors
    damping: tuple[Scalar, ...]

    @classmethod
    def of(cls, A: Dense, damping: Scalars) -> RangeInverse:
        """From A and the diagonal of E, which must be small compared with A where A is not singular."""
        rows = [[value + (damping[i] if i == j else 0.0) for j, value in enumerate(row)] for i, row in enumerate(A.rows)]
        return cls(Dense.of(rows).factored(), tuple(damping))

    def solve(self, b: Scalars) -> list[Scalar]:
        """W b, by x ← B (b + E x)."""
        x = self.factors.solve(b)
        for _ in range(3):
            x = self.factors.solve([value + e for value, e in zip(b, self._damped(x), strict=True)])
        return x

    def between(self, left: Dense, right: Dense) -> Dense:
        """G W Hᵀ; symmetric if G and H are the same."""
        halves = [self._halves(row) for row in left.rows]
        others = halves if left is right else [self._halves(row) for row in right.rows]
        first = self.factors.between(left, right)

        def more(u: Scalars, v: Scalars, s: Scalars, t: Scalars) -> Scalar:
            """uᵀEs + uᵀEt + vᵀEt, with s = B h, t = B E s, and u, v likewise for the other row."""
            both = [a + b for a, b in zip(s, t, strict=True)]
            return dot(u, self._damped(both)) + dot(v, self._damped(t))

        return first + Dense.of([more(u, v, s, t) for s, t in others] for u, v in halves)

    def _halves(self, row: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """B h and B E B h."""
        once = self.factors.solve(row)
        return once, self.factors.solve(self._damped(once))

    def _damped(self, x: Scalars) -> list[Scalar]:
        return [e * value for e, value in zip(self.damping, x, strict=True)]
