"""Columns of B that are sums of those of efforts along the joints: of wrenches, and of what drives are commanded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ...scalar import Scalar, loop
from .stretches import Kept, kept_at

__all__ = ["SparseColumn", "effort_columns", "entries_of"]

#: The efforts along the joints, by degree of freedom, that one effort or input stands for.
SparseColumn = dict[int, Scalar]


class _Group(NamedTuple):
    """Neighbouring columns with equally many entries, of which each next column has its own `stride` rows further down.

    Attributes:
        rows: of the entries of the first column; width: the number of columns.
        start: the place of the first entry among those of all columns.
    """

    rows: list[int]
    stride: int
    width: int
    start: int


def entries_of(columns: Sequence[SparseColumn]) -> list[Scalar]:
    """The entries of all columns, one after the other."""
    return [entry for column in columns for entry in column.values()]


def effort_columns(columns: Sequence[SparseColumn], along: Kept, part: int, entries: Any) -> Iterator[list[Scalar]]:
    """The columns of B, in a loop over neighbours that are alike.

    Args:
        columns: of which the places of the entries are read; entries: as of `entries_of`.
        along: what loops have kept, of which `part` is the column of an effort along a joint.
    """
    height = len(along[0][1][0][part])
    for group in _groups(columns, [each.start for each, _ in along[1:]]):

        def column(k: Any, _: Any, group: _Group = group) -> tuple[None, list[Scalar]]:
            rows, stride, _, start = group
            weights = [entries[k * len(rows) + (start + j)] for j in range(len(rows))]
            parts = [stack[k * stride + at][part] for stack, at in (kept_at(along, row) for row in rows)]
            return None, [sum((w * each[i] for w, each in zip(weights, parts, strict=True)), 0.0) for i in range(height)]

        _, found = loop(group.width, column, None)
        yield from (found[k] for k in range(group.width))


def _groups(columns: Sequence[SparseColumn], borders: Sequence[int]) -> Iterator[_Group]:
    """The columns in groups as large as can be, in which no entry passes from one loop's columns to those of the next."""
    start, k = 0, 0
    while k < len(columns):
        rows, count, stride = list(columns[k]), 1, 0
        if _next(columns[k], columns[k + 1 : k + 2], 1, borders):
            stride = 1
        while _next(columns[k], columns[k + count : k + count + 1], stride * count, borders):
            count += 1
        yield _Group(rows, stride, count, start)
        start, k = start + count * len(rows), k + count


def _next(first: SparseColumn, column: Sequence[SparseColumn], down: int, borders: Sequence[int]) -> bool:
    """Whether a column, if there is one, has the entries of the first so many rows further down, before the next border."""
    moved = [row + down for row in first]
    return [list(each) for each in column] == [moved] and not any(
        row < border <= end for row, end in zip(first, moved, strict=True) for border in borders
    )
