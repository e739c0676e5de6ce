"""Columns of B that are sums of those of efforts along the joints: of wrenches, and of what drives are commanded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ...scalar import Scalar, Stack, loop

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


def effort_columns(columns: Sequence[SparseColumn], along: Stack, part: int, entries: Any) -> Iterator[list[Scalar]]:
    """The columns of B, in a loop over neighbours that are alike.

    Args:
        columns: of which the places of the entries are read; entries: as of `entries_of`.
        along: what a loop has kept, of which `part` is the column of an effort along a joint.
    """
    height = len(along[0][part])
    for group in _groups(columns):

        def column(k: Any, _: Any, group: _Group = group) -> tuple[None, list[Scalar]]:
            rows, stride, _, start = group
            weights = [entries[k * len(rows) + (start + j)] for j in range(len(rows))]
            parts = [along[k * stride + row][part] for row in rows]
            return None, [sum((w * each[i] for w, each in zip(weights, parts, strict=True)), 0.0) for i in range(height)]

        _, found = loop(group.width, column, None)
        yield from (found[k] for k in range(group.width))


def _groups(columns: Sequence[SparseColumn]) -> Iterator[_Group]:
    """The columns in groups as large as can be."""
    start, k = 0, 0
    while k < len(columns):
        rows, count, stride = list(columns[k]), 1, 0
        if columns[k + 1 :] and list(columns[k + 1]) == [row + 1 for row in rows]:
            stride = 1
        while columns[k + count :] and list(columns[k + count]) == [row + stride * count for row in rows]:
            count += 1
        yield _Group(rows, stride, count, start)
        start, k = start + count * len(rows), k + count
