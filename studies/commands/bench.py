"""scripts/study bench"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.options import AsJson
from kumitate.cli.report import complain, print_facts, print_json, print_table, progress, shown

__all__ = ["bench"]


def bench(
    *cases: Annotated[str, Parameter(help="Benchmarks to run; without them, all are run.")],
    quick: Annotated[
        bool, Parameter(negative="", show_default=False, help="Few samples, to check that everything runs.")
    ] = False,
    listed: Annotated[bool, Parameter(name="--list", negative="", show_default=False, help="List the benchmarks.")] = False,
    markdown: Annotated[Path | None, Parameter(help="Write the tables to this file too.")] = None,
    as_json: AsJson = False,
) -> None:
    """Time kumitate against Pinocchio and MuJoCo, where they are installed."""
    from ..bench import CASES, Effort, run
    from ..bench.report import COLUMNS

    if listed:
        if as_json:
            print_json({"benchmarks": [{"name": case.name, "title": case.title} for case in CASES.values()]})
        else:
            print_table(("benchmark", "what"), [(case.name, case.title) for case in CASES.values()])
        return
    with progress("benchmarks") as tell:
        report = run(cases, effort=Effort.quick() if quick else Effort(), progress=tell)
    if markdown is not None:
        markdown.write_text(report.markdown(), encoding="utf-8")
    if as_json:
        print_json(report.as_dict())
        return
    print_facts("machine", report.machine.items())
    narrow = COLUMNS.index("verdict") + 1  # the rest is for wide pages: --markdown
    print_table(COLUMNS[:narrow], (row.cells()[:narrow] for row in report.rows))
    for note in report.notes:
        complain(note, what="note")
    if quick:
        complain("--quick takes few samples of little work: these numbers only show that all runs", what="note")
    if markdown is not None:
        print_facts("", [("written to", shown(markdown))])
