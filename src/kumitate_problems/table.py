"""The table of reference problems: what was found beside what is published, as cells of text and as a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .contract import Checked, Measured
from .figure import file_of

__all__ = ["COLUMNS", "cells", "page"]

COLUMNS = ("problem", "quantity", "reference", "error", "bar", "unit", "s", "source")

_HEAD = """\
# Reference problems

Printed by `kumitate validate --markdown docs/validation.md`, which runs {problems} problems whose answer somebody else has
published and compares {quantities} quantities with it: published numbers as they are printed, closed forms by their formula.
It exits with 1 if one misses its bar. `kumitate validate --only rolling` runs those with a word in their name or class.

The error is the largest over all numbers of a quantity, over all recorded times where it is one of the whole motion. Where the
reference is 0 the quantity is an error by itself, or what must not move. Contact is by `rigid` with steps h of 1 ms, which
place things to 1.5 h v and impacts to h at best; elsewhere the bar is that of the publication's digits or of the steps.
[contact-table.md](contact-table.md) has the contact problems with all models.

In the figures: left, numbers found over those published, each quantity by its largest; right, the error of each quantity, a
point, and its bar, a line (errors of exactly 0 at 1e-18).

Each problem is written once, in `src/kumitate_problems`; the tests run the same pages. The time is the processor's, compiling
included, where code was not on disk yet; measured on {machine}.
"""


def reference_of(item: Measured) -> str:
    """A reference in some characters: a number, a few, or how many."""
    values = (
        np.unique(np.round(np.asarray(item.reference, float), 15)) if np.ndim(item.reference) else np.array([item.reference])
    )
    if len(values) > 3:
        return f"{np.size(item.reference)} values"
    shown = np.ravel(item.reference) if np.size(item.reference) <= 3 else values
    return ", ".join(f"{value:.10g}" for value in shown)


def cells(checked: Checked, *, every: bool = False) -> list[tuple[str, ...]]:
    """The rows of a problem: its worst quantity, or every one."""
    shown = checked.measured if every else [checked.worst]
    more = len(checked.measured) - len(shown)
    return [
        (
            checked.problem.name if k == 0 else "", f"{item.what}, and {more} more" if more else item.what, reference_of(item),
            f"{item.error:.1e}", f"{item.tolerance:.0e}" + ("" if item.holds else " missed"),
            "" if item.unit == "1" else item.unit, f"{checked.seconds:.2f}" if k == 0 else "",
            checked.problem.source if k == 0 else "",
        )
        for k, item in enumerate(shown)
    ]  # fmt: skip


def page(found: Sequence[Checked], machine: str, figures: str = "") -> str:
    """The page in Markdown: a section a class of problems, a table with every quantity, and the figures of that folder."""
    quantities = sum(len(one.measured) for one in found)
    parts = [_HEAD.format(problems=len(found), quantities=quantities, machine=machine).rstrip("\n")]
    for kind in dict.fromkeys(one.problem.kind for one in found):
        parts.append(f"\n## {kind[0].upper()}{kind[1:]}\n")
        for one in (one for one in found if one.problem.kind == kind):
            parts.append(f"**{one.problem.name}**: {one.problem.what}. {one.problem.source}. {one.seconds:.2f} s.\n")
            parts.append(f"| {' | '.join(COLUMNS[1:6])} |\n|---|---|---|---|---|")
            parts += ["| " + " | ".join(row[1:6]) + " |" for row in cells(one, every=True)]
            parts.append("")
            if figures:
                said = f"{one.problem.name}: found over published, and errors with their bars"
                parts.append(f"![{said}]({figures}/{file_of(one.problem.name)})\n")
    return "\n".join(parts).rstrip("\n") + "\n"
