"""scripts/study random-scenes"""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.options import AsJson
from kumitate.cli.report import print_facts, print_json, print_table, progress

__all__ = ["random_scenes"]


def random_scenes(
    *,
    count: Annotated[int, Parameter(help="How many scenes.")] = 1000,
    first: Annotated[int, Parameter(help="The seed of the first one; the others follow.")] = 0,
    turning: Annotated[bool, Parameter(negative="", help="With torsional and rolling friction.")] = False,
    step: Annotated[float, Parameter(help="Of time [s].")] = 1e-3,
    crowded: Annotated[bool, Parameter(negative="", help="With four times as many bodies.")] = False,
    as_json: AsJson = False,
) -> int:
    """Throw random bodies and robots into bins: how well the laws of contact are kept. The exit code is 1 below 99.9 %."""
    from kumitate.errors import KumitateWarning

    from ..random_scenes import run_scenes, summary

    with progress("scenes") as tell, warnings.catch_warnings():
        warnings.simplefilter("ignore", KumitateWarning)  # they are counted
        found = run_scenes(
            range(first, first + count), lambda done: tell(done / count), turning=turning, step=step, crowded=crowded
        )
    steps, missed = sum(one.steps for one in found), [one for one in found if one.missed]
    failed = sum(len(one.missed) for one in missed) > 1e-3 * steps
    if as_json:
        print_json({"summary": summary(found), "missed": [asdict(one) for one in missed]})
        return int(failed)
    rows = [
        [str(one.seed), str(one.bodies), str(one.robots), str(len(one.missed)), f"{one.worst:.1e}", ", ".join(one.touching)]
        for one in sorted(missed, key=lambda one: -one.worst)
    ]
    print_table(["seed", "bodies", "robots", "steps", "residual [m/s]", "what touches in the worst step"], rows)
    print_facts(
        "", [(name, f"{value:.3g}" if isinstance(value, float) else str(value)) for name, value in summary(found).items()]
    )
    return int(failed)
