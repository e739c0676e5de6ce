"""scripts/study work-precision"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.options import AsJson, flag
from kumitate.cli.report import complain, print_facts, print_json, print_table, progress, shown
from kumitate.errors import InputError

__all__ = ["work_precision"]


def work_precision(
    *,
    case: Annotated[list[str] | None, Parameter(help="Only this problem; may be given several times.")] = None,
    quick: Annotated[bool, flag("Two steps each, to check that everything runs.")] = False,
    markdown: Annotated[Path | None, Parameter(help="Write the page to this file, and its figures beside it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Draw error against processor time for kumitate's integrators and other programs, on problems whose end is known."""
    os.environ.update(KUMITATE_THREADS="1", OMP_NUM_THREADS="1")
    from kumitate.measure.timing import machine, version_of

    from ..work_precision.cases import CASES, cases
    from ..work_precision.page import LEVELS, PEERS, draw, measured, page, summary

    unknown = [name for name in case or () if name not in CASES]
    if unknown:
        raise InputError(f"there is no problem {unknown[0]!r}; there are {', '.join(CASES)}")
    names, found = case or list(CASES), []
    with progress("work and precision") as tell:
        for k, name in enumerate(names):
            tell(k / len(names), name)
            wanted = cases(name)
            found.append(measured(replace(wanted, steps=wanted.steps[1:3]) if quick else wanted, [peer() for peer in PEERS]))
    facts = machine()
    if markdown is not None:
        versions = ", ".join(
            f"{name} {version_of(name)}"
            for name in ("kumitate", "mujoco", "pin", "exudyn", "drake")
            if version_of(name) is not None
        )
        for one in found:
            draw(one, markdown.parent / "images" / "work-precision" / f"{one.case.name}.svg")
        told = ", ".join(str(facts[key]) for key in ("processor", "system") if key in facts)
        markdown.write_text(page(found, "images/work-precision", told, versions), encoding="utf-8")
    if as_json:
        print_json({"machine": facts, "cases": [one.as_dict() for one in found]})
        return
    for level in LEVELS:
        print_table(
            (f"error ≤ {level:.0e}", *(peer.name for peer in PEERS), "batch, a row"), [summary(one, level) for one in found]
        )
    if markdown is not None:
        print_facts("", [("written to", shown(markdown))])
    if quick:
        complain("--quick takes two steps each: these numbers only show that all runs", what="note")
