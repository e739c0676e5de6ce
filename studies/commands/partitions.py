"""scripts/study partitions"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.options import AsJson, FixInertia, FloatingBase, RobotName
from kumitate.cli.report import complain, print_facts, print_json, print_table, progress, shown

__all__ = ["partitions"]


def partitions(
    *robots: RobotName,
    by: Annotated[
        str, Parameter(help="What to minimize: operations, time (one state at a time) or batch (many at once).")
    ] = "time",
    candidates: Annotated[int, Parameter(help="How many partitions are timed, those with the fewest operations.")] = 8,
    floating_base: FloatingBase = False,
    fix_inertia: FixInertia = False,
    quick: Annotated[
        bool, Parameter(negative="", show_default=False, help="Few samples, to check that everything runs.")
    ] = False,
    markdown: Annotated[Path | None, Parameter(help="Write the tables to this file too.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find the best partition of mechanisms into sub-chains for hybrid modelling, and say what was tried."""
    from kumitate.errors import InputError
    from kumitate.loading import load
    from kumitate.measure.timing import Effort
    from kumitate.papers.best_partition import ROUNDS, best_partition

    from ..partitions import HEAD, other_trials, partitions_page, rows_of_trials

    if not robots:
        raise InputError("name a robot's file or a sample, such as planar_7r; `kumitate simulate --help` says more")
    effort = Effort.quick() if quick else Effort(rounds=ROUNDS)
    found = []
    for name in robots:
        robot = load(name, floating_base=floating_base, fix_inertia=fix_inertia)
        with progress(f"partitions of {robot.name}") as tell:
            found.append(best_partition(robot, by=by, candidates=candidates, effort=effort, progress=tell))
    if markdown is not None:
        markdown.write_text(partitions_page(found, effort, candidates), encoding="utf-8")
    if as_json:
        print_json({"robots": [report.as_dict() for report in found]})
        return
    for report in found:
        print_facts(report.name, report.machine.items())
        print_table(HEAD, rows_of_trials(report))
        if others := other_trials(report):
            complain(f"{report.name}: {others}", what="note")
    if quick:
        complain("--quick takes few samples: its times only show that all runs", what="note")
    if markdown is not None:
        print_facts("", [("written to", shown(markdown))])
