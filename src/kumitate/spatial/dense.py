"""Small matrices over scalars, for quantities without special structure, such as blocks of inverse articulated inertias.

Pseudo-inverses of symmetric matrices that may be singular; symmetric systems, solved by a damped LDLᵀ and a few sweeps; square
systems with structural zeros, by L U without pivoting. All of it is straight-line code without branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..scalar import Scalar, Scalars, is_zero


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


# --- systems that may be singular, and sparse ones ------------------------------------------------------------------------
#: A direction whose eigenvalue is σ is resolved to (ε/(σ + ε))^(1 + SWEEPS), where ε is the damping.
SWEEPS = 3


class DampedFactors:
    """L D Lᵀ of A + E for a positive semidefinite A by rows and a positive definite E, pivots in an order with little fill-in.

    Structural zeros are skipped: the cost of a chain of loops is linear in its length.
    """

    def __init__(self, A: Sequence[Scalars], E: Sequence[Scalars]):
        n = len(A)
        left = {i: {j: A[i][j] + E[i][j] for j in range(n) if not (is_zero(A[i][j]) and is_zero(E[i][j]))} for i in range(n)}
        self.inverse: list[Scalar] = [0.0] * n
        self.steps: list[tuple[int, dict[int, Scalar]]] = []  # a pivot, and the column of L below it
        while left:
            pivot = min(left, key=lambda i: (len(left[i]), i))
            row = left.pop(pivot)
            self.inverse[pivot] = 1.0 / row.pop(pivot)
            column = {i: value * self.inverse[pivot] for i, value in row.items()}
            for i, factor in column.items():
                del left[i][pivot]
                for j, value in row.items():
                    if j <= i:  # symmetric: both entries get the same value
                        left[i][j] = left[j][i] = left[i].get(j, 0.0) - factor * value
            self.steps.append((pivot, column))

    def solve(self, b: Scalars) -> list[Scalar]:
        """x of (A + E) x = b."""
        x = list(b)
        for pivot, column in self.steps:
            for i, factor in column.items():
                x[i] = x[i] - factor * x[pivot]
        x = [value * inverse for value, inverse in zip(x, self.inverse, strict=True)]
        for pivot, column in reversed(self.steps):
            for i, factor in column.items():
                x[pivot] = x[pivot] - factor * x[i]
        return x


class NearestSolver:
    """Solves A x = b for many b, or where A is singular finds the x nearest to a start in the norm of E.

    Proximal sweeps x ← x + (A + E)⁻¹ (b − A x) converge in the range of A and leave the null space of A unchanged. A + E is
    factored once.
    """

    def __init__(self, A: Sequence[Scalars], E: Sequence[Scalars]):
        """The solver for A (n, n) symmetric, positive semidefinite, and E (n, n) symmetric, positive definite, small."""
        self._A, self._E, self._factors = A, E, DampedFactors(A, E)

    @property
    def shares(self) -> list[Scalar]:
        """The share that the damping E has in the pivot of every row (n): 1 where a row adds nothing to those before it."""
        return [self._E[i][i] * inverse for i, inverse in enumerate(self._factors.inverse)]

    def solve(self, b: Scalars, start: Scalars | None = None, *, sweeps: int = SWEEPS) -> list[Scalar]:
        """The x (n) of A x = b (n) in the range of A, up to rounding, from a `start` (n), zero by default.

        `sweeps`: after the first solve. Without any, x is less by the share that E has in A + E.
        """
        change = self._factors.solve(b if start is None else _residual(self._A, b, start))
        x = change if start is None else _sum(start, change)
        if sweeps == 0:
            return x
        for _ in range(sweeps - 1):
            # the residual b − A x after a solve with A + E is E times the change of x
            change = self._factors.solve(_times(self._E, change))
            x = _sum(x, change)
        return _sum(x, self._factors.solve(_residual(self._A, b, x)))  # the last sweep also corrects rounding errors


def nearest_solution(A: Sequence[Scalars], b: Scalars, E: Sequence[Scalars], *, sweeps: int = SWEEPS) -> list[Scalar]:
    """The least x of A x = b in the norm of E; arguments as for `NearestSolver`."""
    return NearestSolver(A, E).solve(b, sweeps=sweeps)


def _residual(A: Sequence[Scalars], b: Scalars, x: Scalars) -> list[Scalar]:
    return [value - reached for value, reached in zip(b, _times(A, x), strict=True)]


def _times(A: Sequence[Scalars], x: Scalars) -> list[Scalar]:
    return [sum((a * y for a, y in zip(row, x, strict=True) if not is_zero(a)), 0.0) for row in A]


def _sum(a: Scalars, b: Scalars) -> list[Scalar]:
    return [x + y for x, y in zip(a, b, strict=True)]


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

    def solve(self, b: Scalars) -> list[Scalar]:
        """x of A x = b."""
        return self.backward(self.forward(b))

    def forward(self, b: Scalars) -> list[Scalar]:
        """L⁻¹ b."""
        x = list(b)
        for step in self.steps:
            for i, factor in step.column.items():
                x[i] = x[i] - factor * x[step.pivot]
        return x

    def backward(self, y: Scalars) -> list[Scalar]:
        """U⁻¹ y."""
        x = list(y)
        for step in reversed(self.steps):
            total = x[step.pivot]
            for j, value in step.row.items():
                total = total - value * x[j]
            x[step.pivot] = total * step.inverse
        return x
