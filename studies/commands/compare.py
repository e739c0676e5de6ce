"""scripts/study compare"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.options import AsJson
from kumitate.cli.report import complain, print_facts, print_json, print_table, progress, shown

__all__ = ["compare"]


def compare(
    *,
    quick: Annotated[
        bool, Parameter(negative="", show_default=False, help="Short chains and few samples, to check that everything runs.")
    ] = False,
    markdown: Annotated[Path | None, Parameter(help="Write all tables to this file.")] = None,
    figures: Annotated[
        Path | None, Parameter(help="Draw figures 4.13 and 4.16 and the one of the inertia matrices into this folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare Lagrange, CRBA, ABA, ADA and hybrid modelling (thesis tables 2.3, 4.2, 4.3), and three inertia matrices."""
    from kumitate.measure.timing import Effort

    from ..comparison import compare as run
    from ..comparison.report import Comparison

    with progress("comparison") as tell:
        found: Comparison = run(effort=Effort.quick() if quick else Effort(), longest=3 if quick else None, progress=tell)
    if markdown is not None:
        markdown.write_text(found.markdown(), encoding="utf-8")
    drawn = [] if figures is None else _draw(found, figures)
    if as_json:
        print_json(found.as_dict())
        return
    print_facts("machine", found.machine.items())
    for head, rows in found.tables():
        print_table(head, rows)
    for path in ([markdown] if markdown is not None else []) + drawn:
        print_facts("", [("written to", shown(path))])
    if quick:
        complain("--quick takes short chains and few samples: these numbers only show that all runs", what="note")


def _draw(found: object, folder: Path) -> list[Path]:
    from ..comparison.growth import plot_growth
    from ..comparison.report import curves

    folder.mkdir(parents=True, exist_ok=True)
    return [plot_growth(panels, folder / f"{name}.png") for name, panels in curves(found).items()]  # type: ignore[arg-type]
