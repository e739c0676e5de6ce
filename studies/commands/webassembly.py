"""scripts/study webassembly"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.options import AsJson
from kumitate.cli.report import print_json, print_table
from kumitate.measure.timing import machine

__all__ = ["webassembly"]


def webassembly(
    *,
    quick: Annotated[
        bool, Parameter(negative="", show_default=False, help="An arm for an instant, to check that it runs.")
    ] = False,
    pages: Annotated[bool, Parameter(negative="", show_default=False, help="Only the pages that simulate.")] = False,
    markdown: Annotated[Path | None, Parameter(help="Write the page with the table to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure steps as WebAssembly in Node and Chromium, beside machine code: sizes and times; and pages that simulate."""
    from ..webassembly import CASES, COLUMNS, PAGES, PLAYED, cells, measured, page, played

    chosen = CASES[:0] if pages else CASES[:1] if quick else CASES
    found = [measured(case, 0.1 if quick else 20.0) for case in chosen]
    rows = [played(name, make, 0.5 if quick else 5.0) for name, make in list(PAGES.items())[: 1 if quick else None]]
    if as_json:
        print_json({"machine": machine(), "modules": [one._asdict() for one in found], "pages": rows})
        return
    if markdown is not None:
        markdown.write_text(page(found, rows), encoding="utf-8")
    print_table(COLUMNS, [cells(one) for one in found])
    print_table(PLAYED, rows)
