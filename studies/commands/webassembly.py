"""scripts/study webassembly"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.options import AsJson
from kumitate.cli.report import print_json, print_table
from kumitate.measure.machine import machine

__all__ = ["webassembly"]


def webassembly(
    *,
    quick: Annotated[
        bool, Parameter(negative="", show_default=False, help="An arm for an instant, to check that it runs.")
    ] = False,
    markdown: Annotated[Path | None, Parameter(help="Write the page with the table to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure steps as WebAssembly in Node and Chromium, beside machine code: sizes and times."""
    from ..webassembly import CASES, COLUMNS, cells, measured, page

    found = [measured(CASES[0], 0.1)] if quick else [measured(case) for case in CASES]
    if as_json:
        print_json({"machine": machine(), "modules": [one._asdict() for one in found]})
        return
    if markdown is not None:
        markdown.write_text(page(found), encoding="utf-8")
    print_table(COLUMNS, [cells(one) for one in found])
