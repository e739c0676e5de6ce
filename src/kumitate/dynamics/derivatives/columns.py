"""The product of M⁻¹ with many columns, in loops over the columns: as straight code it is most of a large mechanism's program.

What acts on a joint is felt by the joints that carry it and by those that it carries. Columns that reach the same joints are
solved for by one loop, in which the entries that are zero for all of them are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...scalar import Scalar, call, is_zero, loop, trace

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


def column_groups(right: Sequence[Sequence[Scalar]], reached: Sequence[Sequence[int]]) -> list[ColumnGroup]:
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


def solve_in_loops(rows: Factor, inverse: Sequence[Scalar], right: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
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
