"""The inverse of the inertia matrix of a tree, by factors that are as sparse as the matrix (Featherstone 2008, chapter 6).

Its product with many columns is in loops over the columns: as straight code it is most of a large mechanism's program. What
acts on a joint is felt by the joints that carry it and by those that it carries. Columns that reach the same joints are solved
for by one loop, in which the entries that are zero for all of them are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...scalar import Scalar, Scalars, active_scope, call, is_zero, loop, trace

#: Groups of fewer columns are joined with others: loops of up to eight passes are written pass by pass.
_FEWEST = 9
#: Entries of a column that are multiplied with all that they meet before the next are read: as many stay in registers.
_TOGETHER = 8

Factor = Sequence[dict[int, Scalar]]


class ColumnGroup(NamedTuple):
    """Columns of a right side, and the rows in which at least one of them has an entry."""

    columns: list[int]
    rows: list[int]

    def joined(self, other: ColumnGroup) -> ColumnGroup:
        """Both as one group."""
        return ColumnGroup(self.columns + other.columns, sorted({*self.rows, *other.rows}))


def column_groups(right: Sequence[Scalars], reached: Sequence[Sequence[int]]) -> list[ColumnGroup]:
    """The groups of columns of a right side, without those that are zero.

    `reached`: for each row, itself and the rows of the joints that carry its own, which feel what acts on it.
    """
    found: dict[tuple[int, ...], ColumnGroup] = {}
    for j in range(len(right[0])):
        entries = [i for i, row in enumerate(right) if not is_zero(row[j])]
        if entries:
            rows = sorted({i for entry in entries for i in reached[entry]})
            found.setdefault(tuple(rows), ColumnGroup([], rows)).columns.append(j)
    groups = sorted(found.values(), key=lambda group: len(group.columns))
    while len(groups) > 1 and len(groups[0].columns) < _FEWEST:
        groups = sorted([groups[0].joined(groups[1]), *groups[2:]], key=lambda group: len(group.columns))
    return groups


def solve_in_loops(rows: Factor, inverse: Scalars, right: Sequence[Scalars]) -> list[list[Scalar]]:
    """W D⁻¹ Wᵀ times `right`, by rows; the arguments as in `InverseFactors`."""
    n, width = len(rows), len(right[0])
    places = [(i, k) for i, row in enumerate(rows) for k in row if k != i]
    groups = column_groups(right, [list(row) for row in rows])

    def solve(entries: Any, inverse: Any, *parts: Any) -> dict[str, Any]:
        W: list[dict[int, Scalar]] = [{i: 1.0} for i in range(n)]
        for place, (i, k) in enumerate(places):
            W[i][k] = entries[place]
        return {f"of_{g}": _solved(W, inverse, groups[g], part) for g, part in enumerate(parts)}

    sizes: dict[str, int | tuple[int, ...]] = {"entries": len(places), "inverse": n}
    sizes |= {f"right_{g}": (len(group.rows), len(group.columns)) for g, group in enumerate(groups)}
    parts = [[[right[i][j] for j in group.columns] for i in group.rows] for group in groups]
    solved = call(trace(solve, sizes, "solve_columns"), [rows[i][k] for i, k in places], inverse, *parts)
    blocks = list(solved.values()) if isinstance(solved, dict) else [solved]
    found: list[list[Scalar]] = [[0.0] * width for _ in range(n)]
    for group, block in zip(groups, blocks, strict=True):
        for row, values in zip(found, block, strict=True):
            for j, value in zip(group.columns, values, strict=True):
                row[j] = value
    return found


def _solved(W: Factor, inverse: Any, group: ColumnGroup, right: Any) -> list[list[Scalar]]:
    """The columns of one group, by rows: D⁻¹ Wᵀ times them in one loop, W times that in another.

    Each loop uses an entry of W once in a pass, so that it need not be kept.
    """
    count = len(group.columns)

    def scaled(j: Any, _: Any) -> tuple[None, list[Scalar]]:
        total: dict[int, Scalar] = dict.fromkeys(group.rows, 0.0)
        for start in range(0, len(group.rows), _TOGETHER):
            given = {i: right[place][j] for place, i in enumerate(group.rows) if start <= place < start + _TOGETHER}
            for k in group.rows:
                total[k] = sum((W[i][k] * b for i, b in given.items() if k in W[i]), total[k])
        return None, [total[k] * inverse[k] for k in group.rows]

    _, reached = loop(count, scaled, None)

    def column(j: Any, _: Any) -> tuple[None, list[Scalar]]:
        y = dict(zip(group.rows, reached[j], strict=True))
        return None, [sum((w * y[k] for k, w in row.items() if k in y), 0.0) for row in W]

    _, found = loop(count, column, None)
    return [[found[j][i] for j in range(count)] for i in range(len(W))]


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

    def solve(self, right: Scalars) -> list[Scalar]:
        """x of M x = right; zeros of `right` cost nothing, and branches that it does not reach little."""
        scaled: dict[int, Scalar] = {}
        for k, column in enumerate(self.columns):
            reached = [(i, w) for i, w in column.items() if not is_zero(right[i])]
            if reached:
                scaled[k] = sum((w * right[i] for i, w in reached), 0.0) * self.inverse[k]
        return [sum((w * scaled[k] for k, w in row.items() if k in scaled), 0.0) for row in self.rows]

    def solve_columns(self, right: Sequence[Scalars]) -> list[list[Scalar]]:
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


def inverse_factors(M: Sequence[Scalars]) -> InverseFactors:
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
