"""kumitate simulate"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..scenario.setup import SOLVER, Described
from . import run_folder as runs
from .asked import PLACING, TypedOptions, asked
from .options import AsJson, Formats, Gif, Out, flag, takes_fields
from .report import complain, print_facts, print_json, print_text, progress, shown

if TYPE_CHECKING:
    from ..run import Run

#: The options of a setup, apart from its place.
_OF_SETUP = ("controller", "wrenches", "loop_tau", "motions", "inputs", "held", *SOLVER, "outputs", "parameters")


@takes_fields(*PLACING, *_OF_SETUP, of=(TypedOptions, Described))
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
    explain: Annotated[
        bool, flag("Only print which bodies may touch, how their contact is computed and why, and what compiling costs.")
    ] = False,
    live: Annotated[
        bool,
        flag("Let the page simulate: readers take over at any time, drag bodies and move sliders. Steps are of equal length."),
    ] = False,
    gif: Gif = False,
    formats: Formats = "",
    out: Out = None,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Simulate a mechanism; write its data and a page with 3D playback and plots to a folder.

    Graphs and snapshots for print are written with --formats pdf,png, and by `kumitate plot` at any later time.
    With --contact the floor is z = 0. Robot files with --floating-base start with their lowest point on it; legged ones stand.
    """
    wanted = runs.formats_of(formats)
    name, scenario = asked(robot, options, run)
    if explain:
        plan = scenario.setup.simulation().explain_contact()
        if as_json:
            print_json(plan.plain)
        else:
            print_text(plan)
        return
    if live:
        from ..live.playable import playable

        scenario = replace(scenario, setup=replace(scenario.setup, equal_steps=True))
        playable(scenario.setup.simulation(equal_steps=True))  # what cannot play is refused before anything is simulated
    saved = runs.result_file(runs.make(name, out))
    result = None
    try:
        with progress(f"simulating {name}") as done:
            result = scenario.run(progress=done)
        result.save(saved)
    except BaseException as error:  # it diverged, or was stopped
        if (kept := getattr(error, "result", None) if result is None else result) is not None:
            kept.save(saved)
            until = f"t = {kept.time[-1]:.6g} s"
            complain(f"the run up to {until} is in {shown(saved)}; `kumitate plot` draws it", what="note")
        raise
    finish(name, result, saved, gif=gif, formats=wanted, live=live, as_json=as_json)


def finish(name: str, result: Run, saved: Path, *, as_json: bool, **drawing: Any) -> None:
    """Draw a new result into its folder, `drawing` as of `draw`, and report on the run."""
    folder = saved.parent
    runs.clear_drawings(folder, keep=saved)
    files = {saved.name: saved, **runs.draw(result, folder, **drawing)}
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
