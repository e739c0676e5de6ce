"""kumitate simulate"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

from ..errors import InputError
from ..scenario.setup import Described, times_of
from . import run_folder as runs
from .options import AsJson, Formats, Gif, Out, takes_fields
from .placing import AS_IT_IS, Placing, values_by_name
from .report import complain, print_facts, print_json, print_text, progress, shown
from .run_folder import draw, formats_of

if TYPE_CHECKING:
    from ..examples.illustrated import Plate
    from ..run import Run
    from ..scenario import Scenario

# --- simulations that `kumitate simulate` reads from a file: a scenario, a run of a sweep, or a result to run again -------
_RESULTS = (".h5", ".hdf5", ".npz")


def described(source: str, run: int | None, controller: str | None) -> tuple[str, Scenario] | None:
    """The scenario that a path names, and a name for its folder; None for robots.

    Args:
        source: a scenario's file, a sweep's folder, or a result's file.
        run: of a sweep.
        controller: the functions that a result or a sweep may call, "FILE.py:FUNCTION".

    Raises:
        InputError: if the file is refused, or an option does not fit it.
    """
    from ..scenario import names_scenario, read_scenario, scenario_of
    from ..sweeps.folder import is_sweep, opened_scenario

    path = Path(source)
    is_result = path.suffix.lower() in _RESULTS
    if controller is not None and not (is_result or is_sweep(path)):
        raise InputError(f"--controller {controller}: is for results and runs of sweeps; write it in a scenario")
    if is_result:
        from .. import open as reopen

        if run is not None:
            raise InputError(f"--run {run}: is for sweeps, and {source} is a result; leave it out")
        result = reopen(path)
        return f"{result.mechanism.name}-again", scenario_of(result, controller=controller)
    if names_scenario(source):
        scenario, name = read_scenario(source), path.stem
    elif is_sweep(path):
        scenario, name = opened_scenario(path, controller), path.resolve().name
    elif run is not None:
        raise InputError(f"--run {run}: is for sweeps, and {source} is neither a scenario's file nor a sweep's folder")
    else:
        return None
    if scenario.design is None and run is None:
        return name, scenario
    if run is None:
        raise InputError(
            f"{source}: describes {len(scenario)} runs; add --run 0 for the first of them, or use `kumitate sweep`"
        )
    return f"{name}-run{run}", scenario.of_run(run)


def refuse_options(source: str, options: Mapping[str, Any]) -> None:
    """Refuses options that the file says itself.

    Raises:
        InputError: naming the first that was given.
    """
    for name, value in options.items():
        option = ("no-" if value is False else "") + name.replace("_", "-")
        raise InputError(f"--{option} is for robots; {source} says it itself. Change the file, or leave the option out")


# --- the verb -------------------------------------------------------------------------------------------------------------
#: The options of a setup that can be written as texts; files have more.
OPTIONS = (
    "duration", "step", "every", "integrator", "tolerance", "stabilisation", "baumgarte", "limits", "outputs", "parameters",
)  # fmt: skip


@takes_fields(Described, *OPTIONS, outputs='Written as "name, ...".', parameters='Written as "name=value, ...".')
def simulate(
    robot: Annotated[
        str,
        Parameter(
            help="A robot's file (.urdf, .sdf, .xml, .xacro, .yaml with the loops of a URDF, or kumitate's own .json), the "
            "name of a sample such as pa10 or of a robot such as panda, a scenario (YAML), a result's file to run again, or a "
            "sweep's folder with --run."
        ),
    ],
    /,
    *,
    run: Annotated[int | None, Parameter(help="Which run of a sweep, from 0.")] = None,
    controller: Annotated[
        str | None, Parameter(help="The FILE.py:FUNCTION that a result or a sweep may run as its controller.")
    ] = None,
    placing: Annotated[Placing, Parameter(name="*")] = AS_IT_IS,
    explain: Annotated[
        bool,
        Parameter(help="Only print which bodies may touch, how their contact is computed and why, and what compiling costs."),
    ] = False,
    gif: Gif = False,
    formats: Formats = "pdf,png",
    out: Out = None,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Simulate a mechanism; write its data, graphs and a page with 3D playback to a folder.

    With --contact the floor is z = 0, and a robot file with --floating-base starts with its lowest point on it.
    """
    wanted = formats_of(formats)
    for option in ("duration", "step"):
        if option in options and not 0.0 < options[option] < float("inf"):
            raise InputError(f"--{option} {options[option]}: must be a time above 0 s")
    found = described(robot, run, controller)
    if found is not None:
        name, scenario = found
        refuse_options(robot, placing.given | options)
    else:
        name = Path(robot).stem if Path(robot).exists() else robot
        scenario = _scenario_of(robot, placing, options)
    if explain:
        plan = scenario.setup.simulation().explain_contact()
        if as_json:
            print_json(plan.plain)
        else:
            print_text(plan)
        return
    saved = runs.result_file(runs.make(name, out))
    result = None
    try:
        with progress(f"simulating {name}") as done:
            result = scenario.run(progress=done)
        result.save(saved)
    except BaseException as error:  # it diverged, or was stopped
        _keep(result if result is not None else getattr(error, "result", None), saved)
        raise
    finish(name, result, saved, gif=gif, formats=wanted, as_json=as_json)


def _scenario_of(robot: str, placing: Placing, options: dict[str, Any]) -> Scenario:
    """The scenario of a robot as the options say."""
    from ..scenario import Scenario
    from ..scenario.parameters import parameter

    machine, q, v, contact = placing.placed(robot)
    outputs = [name.strip() for name in options.pop("outputs", "").split(",") if name.strip()]
    values = values_by_name(options.pop("parameters", ""), "--parameters")
    solver = {**times_of(robot), **options}
    setup = Described(machine.mechanism, q, v, tau=np.zeros(machine.nv), contact=contact, outputs=tuple(outputs), **solver)
    for name, value in values.items():
        setup = parameter(setup, name).put(setup, value)
    plain = {
        "robot": robot, "start": {"q": [float(x) for x in q], "v": [float(x) for x in v]},
        "solver": {"step": setup.step, "duration": setup.duration, **solver},
        **({"contact": {"model": placing.contact, **placing.surface}} if contact else {}),
        **({"outputs": outputs} if outputs else {}), **({"parameters": values} if values else {}),
    }  # fmt: skip
    return Scenario(robot, plain, setup)


def _keep(result: Run | None, path: Path) -> None:
    """Save the first part of a run that ended early, and say where."""
    if result is None:
        return
    result.save(path)
    until = f"t = {result.time[-1]:.6g} s"
    complain(f"the run up to {until} is in {shown(path)}; `kumitate plot` draws it", what="note")


def finish(
    name: str,
    result: Run,
    saved: Path,
    *,
    gif: bool,
    formats: tuple[str, ...],
    as_json: bool,
    panels: tuple[str, ...] | None = None,
    plates: Mapping[str, Plate] | None = None,
) -> None:
    """Draw a new result into its folder, and report on the run."""
    folder = saved.parent
    runs.clear_drawings(folder, keep=saved)
    files = {saved.name: saved, **draw(result, folder, gif=gif, formats=formats, panels=panels, plates=plates)}
    report(name, result, folder, files, as_json=as_json)


def report(name: str, result: Run, folder: Path, files: dict[str, Path], *, as_json: bool) -> None:
    """Report on a run and its files."""
    if as_json:
        where = {key: path.resolve() for key, path in files.items()}
        total = result.energy.total
        energy = {"initial": total[0], "final": total[-1], "drift": result.audit.energy_drift}
        answer = {"name": name, "folder": folder.resolve(), "files": where, "settings": result.settings}
        print_json({**answer, "energy": energy, "audit": result.audit.as_dict()})
        return
    time = f"{result.time[0]:g} to {result.time[-1]:g} s, {len(result.time)} times"
    facts = [("simulated", time), *(("", line) for line in result.audit.lines())]
    page = files.get("page.html")
    others = ", ".join(key for key in files if key != "page.html")
    facts += [("folder", f"{shown(folder)}  ({others})")]
    facts += [("open this", shown(page))] if page else []
    print_facts(name, facts)
