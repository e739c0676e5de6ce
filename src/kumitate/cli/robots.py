"""kumitate robots"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from ..errors import InputError
from ..model.read.robot_names import NamedRobot, named_robots, similar
from ..model.samples import SAMPLES
from .options import AsJson
from .report import complain, print_json, print_table

#: The extras that bring robots by name, by the package that each installs.
_EXTRAS = {"example-robot-data": "robots", "robot_descriptions": "descriptions"}


def robots(
    part: Annotated[str, Parameter(help="A part of the name; without it, all are listed.")] = "", /, *, as_json: AsJson = False
) -> None:
    """List the mechanisms and robots that have a name, where they come from, and what each needs before it loads.

    Names work wherever a robot's file does: `kumitate simulate panda`, `km.load("panda")`.
    """
    downloaded = named_robots()
    known = [*(NamedRobot(name, "kumitate") for name in SAMPLES), *(one for one in downloaded if one.name not in SAMPLES)]
    shown = [robot for robot in known if part.lower() in robot.name.lower()]
    if not shown:
        raise InputError(f"no robot has {part!r} in its name; {similar(part, list(SAMPLES))}`kumitate robots` lists all")
    if as_json:
        print_json({"robots": [asdict(robot) for robot in shown]})
        return
    print_table(("name", "from", "needs"), [(robot.name, robot.source, robot.needs) for robot in shown])
    sources = {robot.source.partition(":")[0] for robot in downloaded}
    for package, extra in _EXTRAS.items():
        if package not in sources:
            complain(f"{package} has more, by pip install 'kumitate[{extra}]'", what="note")
