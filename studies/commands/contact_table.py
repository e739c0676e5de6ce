"""scripts/study contact-table"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.options import AsJson
from kumitate.cli.report import complain, print_facts, print_json, print_table, progress, shown

__all__ = ["contact_table"]


def contact_table(
    *,
    model: Annotated[list[str] | None, Parameter(help="Only this contact model; may be given several times.")] = None,
    row: Annotated[
        list[str] | None, Parameter(help="Only rows with this text in their name; may be given several times.")
    ] = None,
    step: Annotated[float, Parameter(help="Time step of the runs [s].")] = 1e-3,
    markdown: Annotated[Path | None, Parameter(help="Write the page with the table to this file.")] = None,
    as_json: AsJson = False,
) -> int:
    """Run contact models on problems with known answers; the exit code is 1 if a verdict is not the one written before."""
    from kumitate.errors import InputError

    from ..contact_rows import ROWS
    from ..contact_table import MODELS, contact_page, told
    from ..contact_table import contact_table as run

    rows = [one for one in ROWS if row is None or any(part in one.name for part in row)]
    if not rows:
        raise InputError(f"no row has {row} in its name; the rows are {', '.join(one.name for one in ROWS)}")
    models = model or list(MODELS)
    with progress("contact models") as tell:
        count = sum(name in one.expected for one in rows for name in models)
        done = iter(range(count))
        found = run(models, rows, step=step, progress=lambda _: tell(next(done) / count))
    if markdown is not None:
        markdown.write_text(contact_page(found), encoding="utf-8")
    surprises = [verdict for verdict in found if not verdict.as_expected]
    if as_json:
        print_json({"verdicts": [verdict.as_dict() for verdict in found]})
        return 1 if surprises else 0
    cells = {(verdict.row.name, verdict.model): told(verdict) for verdict in found}
    print_table(["problem", *models], [[one.name, *(cells.get((one.name, name), "") for name in models)] for one in rows])
    for verdict in surprises:
        complain(
            f"{verdict.row.name}, {verdict.model}: not as expected ({verdict.row.expected[verdict.model].because})",
            what="warning",
        )
    if markdown is not None:
        print_facts("", [("written to", shown(markdown))])
    return 1 if surprises else 0
