"""scripts/study sweep-rate"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.options import AsJson
from kumitate.cli.report import print_json, print_table
from kumitate.measure.timing import machine

__all__ = ["sweep_rate"]


def sweep_rate(
    *,
    quick: Annotated[bool, Parameter(negative="", show_default=False, help="Few runs, to check that everything runs.")] = False,
    runs: Annotated[int, Parameter(help="Runs of the sweep, of two seconds at 1 ms each.")] = 20_000,
    processes: Annotated[
        list[int] | None, Parameter(help="Number of processes; may be given several times; 1 and 2 unless given.")
    ] = None,
    markdown: Annotated[Path | None, Parameter(help="Write the page with the table to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how much of the kernel's own rate a sweep keeps, by the clock and by the time of the processors."""
    from ..sweep_rate import COLUMNS, cells, measured, page

    found = [measured(64 if quick else runs, count) for count in processes or (1, 2)]
    if as_json:
        rows = [{**one._asdict(), "of_clock": one.of_clock, "of_processor": one.of_processor} for one in found]
        print_json({"machine": machine(), "rates": rows})
        return
    if markdown is not None:
        markdown.write_text(page(found), encoding="utf-8")
    print_table(COLUMNS, [cells(one) for one in found])
