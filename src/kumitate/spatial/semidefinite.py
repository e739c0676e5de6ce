"""Symmetric systems that may be singular: solved by a damped LDLᵀ and a few sweeps, in straight-line code without branches.

Square systems with structural zeros: L U without pivoting, in straight-line code without branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..scalar import Scalar, Scalars, is_zero

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
