"""kumitate export"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ..errors import InputError
from ..model.write import WRITERS as OF_ROBOTS
from ..share.run_files import WRITERS as OF_RUNS
from . import run_folder as runs
from .options import AsJson, FixInertia, FloatingBase
from .report import print_facts, print_json, shown


def export(
    source: Annotated[
        str | None,
        Parameter(help="The file of a result or its folder; a robot's file or a sample's name; without it, the last result."),
    ] = None,
    /,
    *,
    to: Annotated[
        list[Path],
        Parameter(
            negative="",
            help=f"File to write, by suffix; may be repeated. Runs: {', '.join(OF_RUNS)}. Robots: {', '.join(OF_ROBOTS)}.",
        ),
    ],
    rate: Annotated[float | None, Parameter(help="Samples per second of an .mcap log; 100 by default.")] = None,
    floating_base: FloatingBase = False,
    fix_inertia: FixInertia = False,
    as_json: AsJson = False,
) -> None:
    """Write a run or a robot in the formats of other programs.

    kumitate export --to motion.csv --to motion.mcap
    kumitate export pa10 --to pa10.urdf --to pa10.xml
    """
    for path in to:
        if path.suffix.lower() not in {**OF_RUNS, **OF_ROBOTS}:
            known = f"runs are written as {', '.join(OF_RUNS)}, robots as {', '.join(OF_ROBOTS)}"
            raise InputError(f"--to {path}: {path.suffix!r} is not the suffix of a format; {known}")
    from .. import Run, load
    from .. import open as reopen

    found: Any
    if source is None or Path(source).is_dir() or Path(source).suffix.lower() in runs.OF_RESULTS:
        found = reopen(runs.latest(None if source is None else Path(source)))
    else:
        found = load(source, floating_base=floating_base, fix_inertia=fix_inertia)
    for path in to:
        suffix = path.suffix.lower()
        if suffix in OF_RUNS and not isinstance(found, Run):
            raise InputError(f"--to {path}: {source} is a robot, and {suffix} files are of runs; `kumitate simulate` makes one")
        if suffix in OF_RUNS:
            found.export(path, **({} if rate is None or suffix != ".mcap" else {"rate": rate}))
        else:
            (found.robot if isinstance(found, Run) else found).save(path)
    if as_json:
        print_json({"files": {path.name: path.resolve() for path in to}})
    else:
        print_facts("written", [(path.suffix.removeprefix("."), shown(path)) for path in to])
