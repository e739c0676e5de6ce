"""scripts/study gym"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.options import AsJson
from kumitate.cli.report import complain, print_facts, print_json, print_table, progress, shown

__all__ = ["gym"]


def gym(
    *names: Annotated[str, Parameter(help="Tasks to time, such as anymal; all that ship unless given.")],
    beside: Annotated[bool, Parameter(help="Whether to time Gymnasium's suite beside MuJoCo, too.")] = True,
    count: Annotated[int, Parameter(help="Number of environments.")] = 1024,
    steps: Annotated[int, Parameter(help="Steps to time, after as many that are not timed.")] = 200,
    quick: Annotated[
        bool, Parameter(negative="", show_default=False, help="Few environments and steps, to check that everything runs.")
    ] = False,
    markdown: Annotated[Path | None, Parameter(help="Write the page with the table to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Time environments for learning on one thread, and say how much of it is Python."""
    from kumitate.gym import TASKS
    from kumitate.measure.timing import machine

    from .. import suite_speed
    from ..environments import measure_all, one_thread, page, table

    few: dict[str, int] = {"count": 16 if quick else count, "steps": 4 if quick else steps}
    own = names or tuple(name for name, registered in TASKS.items() if registered.family != "suite")
    suite = [name for name in suite_speed.SUITE if not names or name in names] if beside else []
    with progress("environments") as tell:
        found = measure_all(own, **few, progress=tell)
    with progress("beside MuJoCo") as tell, one_thread():
        compared = suite_speed.compare_all(suite, **few, progress=tell)
    if markdown is not None:
        markdown.write_text(page(found, machine(), compared), encoding="utf-8")
    if as_json:
        told = {"environments": [item.as_dict() for item in found], "beside": [item.as_dict() for item in compared]}
        print_json({"machine": machine(), **told})
        return
    print_facts("machine", machine().items())
    print_table(*table(found))
    if compared:
        print_table(*suite_speed.table(compared))
    if markdown is not None:
        print_facts("", [("written to", shown(markdown))])
    if quick:
        complain("--quick takes few environments and steps: these numbers only show that all runs", what="note")
