"""The inverse of the inertia matrix of a tree, by factors that are as sparse as the matrix (Featherstone 2008, chapter 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...scalar import Scalar, active_scope, is_zero
from .columns import solve_in_loops

#: Columns that are solved for together.
_TOGETHER = 8
#: Products from which on columns are solved for in a loop.
_LONGEST = 12_000


class InverseFactors(NamedTuple):
    """M⁻¹ = W D⁻¹ Wᵀ, from M = Lᵀ D L with W = L⁻¹: entry (i, k) of W is nonzero only if k is i or carries it.

    Attributes:
        rows: of W, by row and column.
        columns: the same by column and row.
        inverse: 1/D.
    """

    rows: list[dict[int, Scalar]]
    columns: list[dict[int, Scalar]]
    inverse: list[Scalar]

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """x of M x = right; zeros of `right` cost nothing, and branches that it does not reach little."""
        scaled: dict[int, Scalar] = {}
        for k, column in enumerate(self.columns):
            reached = [(i, w) for i, w in column.items() if not is_zero(right[i])]
            if reached:
                scaled[k] = sum((w * right[i] for i, w in reached), 0.0) * self.inverse[k]
        return [sum((w * scaled[k] for k, w in row.items() if k in scaled), 0.0) for row in self.rows]

    def solve_columns(self, right: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """X of M X = right, both by rows; many columns are solved for in loops (`columns`).

        Few are solved for some together, row by row: the rows of W that they need are then in the caches for the next one.
        """
        n, width = len(self.rows), len(right[0])
        if active_scope() is not None and 2 * width * sum(map(len, self.rows)) > _LONGEST:
            return solve_in_loops(self.rows, self.inverse, right)
        found: list[list[Scalar]] = [[] for _ in range(n)]
        for start in range(0, width, _TOGETHER):
            block = range(start, min(start + _TOGETHER, width))
            scaled: list[dict[int, Scalar]] = []
            for k, column in enumerate(self.columns):
                reached = {j: [(i, w) for i, w in column.items() if not is_zero(right[i][j])] for j in block}
                sums = {j: sum((w * right[i][j] for i, w in terms), 0.0) for j, terms in reached.items() if terms}
                scaled.append({j: total * self.inverse[k] for j, total in sums.items()})
            for i, row in enumerate(self.rows):
                found[i] += [sum((w * scaled[k][j] for k, w in row.items() if j in scaled[k]), 0.0) for j in block]
        return found

    def dense(self) -> list[list[Scalar]]:
        """M⁻¹, symmetric; computed in half."""
        n = len(self.rows)
        found: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        for i, row in enumerate(self.rows):
            scaled = {k: w * self.inverse[k] for k, w in row.items()}
            for j in range(i + 1):
                found[i][j] = found[j][i] = sum((scaled[k] * w for k, w in self.rows[j].items() if k in scaled), 0.0)
        return found


def inverse_factors(M: Sequence[Sequence[Scalar]]) -> InverseFactors:
    """The factors of a positive definite M, eliminated from the last row up, which makes no fill-in for trees."""
    n = len(M)
    left = [{j: M[i][j] for j in range(i + 1) if not is_zero(M[i][j])} for i in range(n)]
    inverse: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        row = left[k]
        inverse[k] = 1.0 / row.pop(k)
        for i in sorted(row, reverse=True):  # each row before it is overwritten
            factor = row[i] * inverse[k]
            for j in [j for j in row if j <= i]:
                left[i][j] = left[i].get(j, 0.0) - factor * row[j]
            row[i] = factor
    rows: list[dict[int, Scalar]] = []
    for k in range(n):  # W_k = −Σ L_ki W_i, and W_kk = 1
        own: dict[int, Scalar] = {}
        for i, factor in left[k].items():
            for j, w in rows[i].items():
                own[j] = own.get(j, 0.0) - factor * w
        own[k] = 1.0
        rows.append(own)
    columns: list[dict[int, Scalar]] = [{} for _ in range(n)]
    for i, row in enumerate(rows):
        for k, w in row.items():
            columns[k][i] = w
    return InverseFactors(rows, columns, inverse)
