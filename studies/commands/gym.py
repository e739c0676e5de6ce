"""scripts/study gym"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.options import AsJson
from kumitate.cli.report import complain, print_facts, print_json, print_table, progress

__all__ = ["gym"]


def gym(
    *names: Annotated[str, Parameter(help="Tasks to time, such as anymal; all that ship unless given.")],
    count: Annotated[int, Parameter(help="Number of environments.")] = 1024,
    steps: Annotated[int, Parameter(help="Steps to time, after as many that are not timed.")] = 200,
    quick: Annotated[
        bool, Parameter(negative="", show_default=False, help="Few environments and steps, to check that everything runs.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Time environments for learning on one thread, and say how much of it is Python."""
    from kumitate.gym import TASKS
    from kumitate.measure.machine import machine

    from ..environments import measure_all, table

    with progress("environments") as tell:
        found = measure_all(names or tuple(TASKS), count=16 if quick else count, steps=4 if quick else steps, progress=tell)
    if as_json:
        print_json({"machine": machine(), "environments": [item.as_dict() for item in found]})
        return
    print_facts("machine", machine().items())
    print_table(*table(found))
    if quick:
        complain("--quick takes few environments and steps: these numbers only show that all runs", what="note")
