"""kumitate export"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ..errors import InputError
from ..model.write import WRITERS as OF_ROBOTS
from ..share.run_files import WRITERS as OF_RUNS
from . import run_folder as runs
from .asked import asked
from .options import AsJson, FixInertia, FloatingBase
from .report import print_facts, print_json, shown

#: The suffix of units of FMI.
FMU = ".fmu"


def export(
    source: Annotated[
        str | None,
        Parameter(
            help="The file of a result or its folder; a robot's file or a sample's name; for .fmu also a scenario; without it, "
            "the last result."
        ),
    ] = None,
    /,
    *,
    to: Annotated[
        list[Path] | None,
        Parameter(
            negative="",
            help=f"File to write, by suffix; may be repeated. Runs: {', '.join(OF_RUNS)}. Robots: {', '.join(OF_ROBOTS)}. "
            f"Simulations, of a scenario, a robot or a result: {FMU}.",
        ),
    ] = None,
    to_c: Annotated[Path | None, Parameter(help="Folder for --functions of a robot as C for controllers.")] = None,
    functions: Annotated[
        str, Parameter(help='Functions for --to-c, "name, ...": inverse_dynamics, mass_matrix, pose:hand, step.')
    ] = "",
    real: Annotated[str, Parameter(help="Type of numbers of --to-c: double or float.")] = "double",
    rate: Annotated[
        float | None, Parameter(help="Samples per second of an .mcap log, 100 by default, and of .glb and .usda, 60.")
    ] = None,
    fmi: Annotated[str, Parameter(help="Version of FMI of an .fmu: 2.0 or 3.0.")] = "2.0",
    platforms: Annotated[
        str | None, Parameter(help='Platforms of an .fmu, "name, ..." or all; by default this machine. See docs/how-to/fmi.md.')
    ] = None,
    floating_base: FloatingBase = False,
    fix_inertia: FixInertia = False,
    as_json: AsJson = False,
) -> None:
    """Write a run or a robot in the formats of other programs.

    kumitate export --to motion.csv --to motion.mcap
    kumitate export pa10 --to pa10.urdf --to pa10.xml
    kumitate export scenario.yaml --to arm.fmu
    kumitate export pa10 --functions inverse_dynamics,mass_matrix,step --to-c controller
    """
    to = to or []
    if bool(functions) != (to_c is not None) or not (to or to_c):
        raise InputError("nothing says what to write: give --to FILE, or --functions NAMES with --to-c FOLDER")
    for path in to:
        if path.suffix.lower() not in {**OF_RUNS, **OF_ROBOTS, FMU: None}:
            known = f"runs are written as {', '.join(OF_RUNS)}, robots as {', '.join(OF_ROBOTS)}, simulations as {FMU}"
            raise InputError(f"--to {path}: {path.suffix!r} is not the suffix of a format; {known}")
    from .. import Run, load
    from .. import open as reopen

    units, to = [path for path in to if path.suffix.lower() == FMU], [path for path in to if path.suffix.lower() != FMU]
    if units:
        wanted = None if platforms is None else [name.strip() for name in platforms.split(",")]
        given = {"floating_base": floating_base, "fix_inertia": fix_inertia}
        simulation = _simulation(source, {name: True for name, value in given.items() if value})
        for path in units:
            simulation.fmu(path, version=fmi, platforms=wanted)
    found: Any = None
    if not (to or to_c):
        pass
    elif source is None or Path(source).is_dir() or Path(source).suffix.lower() in runs.OF_RESULTS:
        found = reopen(runs.latest(None if source is None else Path(source)))
    else:
        found = load(source, floating_base=floating_base, fix_inertia=fix_inertia)
    for path in to:
        suffix = path.suffix.lower()
        if suffix in OF_RUNS and not isinstance(found, Run):
            raise InputError(f"--to {path}: {source} is a robot, and {suffix} files are of runs; `kumitate simulate` makes one")
        if suffix in OF_RUNS:
            found.export(path, **({} if rate is None or suffix not in (".mcap", ".glb", ".usda") else {"rate": rate}))
        else:
            (found.robot if isinstance(found, Run) else found).save(path)
    if to_c is not None:
        (found.robot if isinstance(found, Run) else found).to_c(to_c, functions, real=real)
    to = [*units, *to, *([] if to_c is None else [to_c])]
    if as_json:
        print_json({"files": {path.name: path.resolve() for path in to}})
    else:
        print_facts("written", [(path.suffix.removeprefix(".") or "C in", shown(path)) for path in to])


def _simulation(source: str | None, options: dict[str, Any]) -> Any:
    """The simulation of a robot, a scenario or a result, in steps of equal length."""
    from ..simulation import Simulation

    _, scenario = asked(str(runs.latest(None)) if source is None else source, options)
    return Simulation(scenario.setup.made(equal_steps=True))
