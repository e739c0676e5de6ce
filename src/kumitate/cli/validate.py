"""kumitate validate"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..errors import InputError
from ..measure.timing import machine
from .options import AsJson, flag
from .report import complain, print_facts, print_json, print_table, progress, shown


def validate(
    *,
    only: Annotated[
        list[str] | None, Parameter(help="Only problems with this text in their name or class; several times.")
    ] = None,
    every: Annotated[bool, flag("Print every quantity, not only the one nearest to its bar.", "--all")] = False,
    markdown: Annotated[Path | None, Parameter(help="Write a page with all quantities to this file.")] = None,
    figures: Annotated[Path | None, Parameter(help="Write a figure a problem, SVG, into this folder.")] = None,
    as_json: AsJson = False,
) -> int:
    """Run problems whose answer is published, and compare; the exit code is 1 if a quantity misses its bar."""
    from kumitate_problems import PROBLEMS
    from kumitate_problems.figure import draw, file_of
    from kumitate_problems.table import COLUMNS, cells, page

    parts = [part.lower() for part in only or [""]]
    wanted = [one for one in PROBLEMS.values() if any(part in f"{one.name}\n{one.kind}".lower() for part in parts)]
    if not wanted:
        named = " or ".join(map(repr, only or []))
        raise InputError(f"no problem has {named} in its name or class; there are {', '.join(PROBLEMS)}")
    found = []
    with progress("reference problems") as tell:
        for k, problem in enumerate(wanted):
            tell(k / len(wanted), problem.name)
            found.append(problem.check())
    facts = machine()
    missed = [one for one in found if not one.holds]
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
        for one in found:
            draw(one, figures / file_of(one.problem.name))
    if markdown is not None:
        said = ", ".join(str(facts[key]) for key in ("processor", "system") if key in facts)
        shown_at = "" if figures is None else Path(os.path.relpath(figures, markdown.parent)).as_posix()
        markdown.write_text(page(found, said, shown_at), "utf-8")
    if as_json:
        print_json({
            "machine": facts, "holds": not missed,
            "problems": [
                {
                    "name": one.problem.name, "class": one.problem.kind, "what": one.problem.what, "source": one.problem.source,
                    "seconds": one.seconds, "holds": one.holds, "quantities": [item.as_dict() for item in one.measured],
                }
                for one in found
            ],
        })  # fmt: skip
        return int(bool(missed))
    print_table(COLUMNS, [row for one in found for row in cells(one, every=every)])
    for one in missed:
        names = ", ".join(item.what for item in one.measured if not item.holds)
        complain(f"{one.problem.name}: {names} {'misses its bar' if names.count(', ') == 0 else 'miss their bars'}")
    quantities, spent = sum(len(one.measured) for one in found), sum(one.seconds for one in found)
    print_facts("", [
        ("problems", f"{len(found)}, of which {len(missed)} missed"), ("quantities", str(quantities)),
        ("processor time", f"{spent:.0f} s"),
        *([("written to", shown(markdown))] if markdown is not None else []),
    ])  # fmt: skip
    return int(bool(missed))
