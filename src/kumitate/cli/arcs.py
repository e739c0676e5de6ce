"""Arcs beside lines of text: what connects two of the lines, as loops connect the bodies of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Arc(NamedTuple):
    """What connects the lines of these numbers, with a label at the lower one."""

    one: int
    other: int
    label: str


def with_arcs(lines: Sequence[str], arcs: Sequence[Arc]) -> list[str]:
    """The lines, each arc in the first column to the right of them that is free from its upper to its lower line.

    >>> print("\\n".join(with_arcs(["world", "a", "b"], [Arc(2, 0, "rod"), Arc(0, 1, "pin")])))
    world ─┬─╮
    a     ─╯─│─ pin
    b     ───╯─ rod
    """
    if not arcs:
        return list(lines)
    spans = [(min(arc.one, arc.other), max(arc.one, arc.other), arc.label) for arc in arcs]
    columns: list[list[tuple[int, int, str]]] = []
    for span in sorted(spans, key=lambda span: (span[1] - span[0], span[0])):  # short ones nearest to the text
        free = (column for column in columns if all(span[0] > end or span[1] < start for start, end, _ in column))
        column = next(free, None)
        if column is None:
            columns.append([span])
        else:
            column.append(span)
    width = max(map(len, lines))
    return [f"{line:<{width}} {_beside(k, columns)}".rstrip() for k, line in enumerate(lines)]


def _beside(k: int, columns: Sequence[Sequence[tuple[int, int, str]]]) -> str:
    """What stands to the right of line k: ends of arcs with a line that leads to them, and arcs that pass."""
    here = [next((span for span in column if span[0] <= k <= span[1]), None) for column in columns]
    last = max((c for c, span in enumerate(here) if span is not None and k in span[:2]), default=-1)
    labels = [span[2] for span in here if span is not None and k == span[1]]
    text = ""
    for c, span in enumerate(here):
        lead = "─" if c <= last or labels else " "
        if span is None:
            mark = lead
        elif k == span[0]:
            mark = "╮" if c == last else "┬"
        elif k == span[1]:
            mark = "╯"
        else:
            mark = "│"
        text += lead + mark
    return f"{text}─ {', '.join(labels)}" if labels else text
