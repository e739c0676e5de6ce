"""scripts/study levels"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.options import AsJson
from kumitate.cli.report import complain, print_facts, print_json, print_table, progress, shown

__all__ = ["levels"]


def levels(
    *,
    quick: Annotated[
        bool, Parameter(negative="", show_default=False, help="Short chains and few samples, to check that everything runs.")
    ] = False,
    threads: Annotated[
        list[int] | None, Parameter(help="Number of threads to time it on; may be given several times; 1 and 2 unless given.")
    ] = None,
    markdown: Annotated[Path | None, Parameter(help="Write the page with the table to this file.")] = None,
    figure: Annotated[Path | None, Parameter(help="Draw depth, operations, time and memory to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure ADA in parallel rounds against articulated bodies, over chains of 10 to 10 000 links (thesis 8.2, item 2)."""
    from kumitate.measure.timing import Effort

    from ..comparison.levels import LENGTHS, compare_levels

    with progress("chains") as tell:
        found = compare_levels(
            lengths=LENGTHS[:3] if quick else LENGTHS, threads=tuple(threads or (1, 2)),
            effort=Effort.quick() if quick else Effort(), progress=tell,
        )  # fmt: skip
    written = []
    if markdown is not None:
        markdown.write_text(found.markdown(), encoding="utf-8")
        written.append(markdown)
    if figure is not None:
        from ..comparison.scaling import plot_scaling

        written.append(plot_scaling(found.curves(), figure, straight=("Depth [operations]",), fits=(found.fit_name,)))
    if as_json:
        print_json(found.as_dict())
        return
    constant, doubling, certainty = found.fit
    print_facts("machine", found.machine.items())
    print_table(*found.table())
    print_facts("", [("depth", f"{constant:.0f} + {doubling:.0f} log2 n by least squares, R² = {certainty:.4f}")])
    for path in written:
        print_facts("", [("written to", shown(path))])
    if quick:
        complain("--quick takes short chains and few samples: these numbers only show that all runs", what="note")
