"""kumitate simulate"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..errors import InputError
from ..simulate.checks import fitted_step, step_notes
from ..simulate.integrators import INTEGRATORS
from ..simulate.stepping.stabilisation import STABILISATIONS
from . import run_folder as runs
from .contact_options import ContactModel, Friction, HullVertices, Restitution, asked, held, start_on
from .described import described, refuse_options
from .draw_result import draw, formats_of
from .named_values import start_by_name
from .options import AsJson, FixInertia, FloatingBase, Formats, Gif, Hold, Out, StartQ
from .report import complain, print_facts, print_json, print_text, progress, shown

if TYPE_CHECKING:
    from ..examples.illustrated import Plate
    from ..run import Run
    from ..simulation import Simulation

__all__ = ["finish", "simulate"]

#: Simulates, and tells its progress.
Motion = Callable[..., "Run"]

#: Simulated time for mechanisms that do not come with their own [s].
DURATION = 10.0
#: Their time step [s].
STEP = 1e-3


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
    duration: Annotated[float | None, Parameter(help="Simulated time [s]; unless given, the sample's own, or 10.")] = None,
    step: Annotated[
        float | None,
        Parameter(help="Time step of the integrator and of the results [s]; by default that of the sample, or 1e-3."),
    ] = None,
    integrator: Annotated[
        str, Parameter(help=f"{', '.join(INTEGRATORS)}; auto takes rkf45, or another one if the mechanism is too stiff for it.")
    ] = "auto",
    stabilisation: Annotated[
        str | None, Parameter(help=f"How loops are closed: {STABILISATIONS[0]}, or {STABILISATIONS[1]}, fully at every stage.")
    ] = None,
    floating_base: FloatingBase = False,
    fix_inertia: FixInertia = False,
    q: StartQ = None,
    v: Annotated[
        str | None,
        Parameter(help='Initial velocities, "name=value, ...", in SI units; angular ones also as 30deg, per second.'),
    ] = None,
    lock: Annotated[str | None, Parameter(help='Joints to lock in their initial positions, "name, ...".')] = None,
    contact: ContactModel = None,
    friction: Friction = None,
    restitution: Restitution = None,
    height: Annotated[
        float | None,
        Parameter(
            help="Initial height of the lowest point above the floor [m], with --contact; with --floating-base 0 by default."
        ),
    ] = None,
    hull_vertices: HullVertices = None,
    limits: Annotated[bool, Parameter(help="Whether joints stop at their position limits.")] = True,
    hold: Hold = False,
    explain: Annotated[
        bool,
        Parameter(help="Only print which bodies may touch, how their contact is computed and why, and what compiling costs."),
    ] = False,
    gif: Gif = False,
    formats: Formats = "pdf,png",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a mechanism; write its data, graphs and a page with 3D playback to a folder.

    With --contact the floor is z = 0, and a robot file with --floating-base starts with its lowest point on it.
    """
    wanted = formats_of(formats)
    for option, value in (("--duration", duration), ("--step", step)):
        if value is not None and not 0.0 < value < float("inf"):
            raise InputError(f"{option} {value}: must be a time above 0 s")
    own: dict[str, Any] = {
        "duration": duration, "step": step, "integrator": integrator, "stabilisation": stabilisation,
        "floating-base": floating_base, "fix-inertia": fix_inertia, "q": q, "v": v, "lock": lock, "contact": contact,
        "friction": friction, "restitution": restitution, "height": height, "hull-vertices": hull_vertices,
        "no-limits": not limits, "hold": hold,
    }  # fmt: skip
    found = described(robot, run, controller)
    if found is not None:
        name, scenario = found
        refuse_options(robot, own)
        simulation: Callable[[], Simulation] = scenario.setup.simulation
        motion: Motion = scenario.run
    else:
        name = Path(robot).stem if Path(robot).exists() else robot
        simulation, motion = _motion_of(robot, **{option.replace("-", "_"): value for option, value in own.items()})
    if explain:
        plan = simulation().explain_contact()
        if as_json:
            print_json(plan.plain)
        else:
            print_text(plan)
        return
    saved = runs.result_file(runs.make(name, out))
    result = None
    try:
        with progress(f"simulating {name}") as done:
            result = motion(progress=done)
        result.save(saved)
    except BaseException as error:  # it diverged, or was stopped
        _keep(result if result is not None else getattr(error, "result", None), saved)
        raise
    finish(name, result, saved, gif=gif, formats=wanted, as_json=as_json)


def _motion_of(
    robot: str, *, duration: float | None, step: float | None, integrator: str, stabilisation: str | None, floating_base: bool,
    fix_inertia: bool,
    q: str | None, v: str | None, lock: str | None, contact: str | None, friction: float | None, restitution: float | None,
    height: float | None, hull_vertices: int | None, no_limits: bool, hold: bool,
) -> tuple[Callable[[], Simulation], Motion]:  # fmt: skip
    """What makes the simulation of a robot as the options say, and what runs it; results hold a scenario to run again from."""
    from .. import load
    from ..model.samples import SAMPLES

    machine = load(robot, floating_base=floating_base, fix_inertia=fix_inertia)
    if lock:
        machine = machine.locked([joint.strip() for joint in lock.split(",")])
    mechanism = machine.mechanism
    q0, v0 = start_by_name(machine, q, v)
    touching = asked(contact, friction=friction, restitution=restitution, height=height, hull_vertices=hull_vertices)
    q0 = start_on(touching, mechanism, q0, floating=floating_base, typed=q or "", height=height)
    if hold:
        machine = held(machine, q0, touching)
    own_duration, own_step = (SAMPLES[robot].duration, SAMPLES[robot].step) if robot in SAMPLES else (DURATION, STEP)
    duration, step = (own_duration if duration is None else duration), (own_step if step is None else step)
    fitted = fitted_step(duration, step)
    step, notes = fitted, step_notes(step, fitted)
    given = {"friction": friction, "restitution": restitution, "hull_vertices": hull_vertices}
    surface = {name: value for name, value in given.items() if value is not None}
    options: dict[str, Any] = {
        "step": step, "integrator": integrator, **({"stabilisation": stabilisation} if stabilisation else {}),
        **({"limits": False} if no_limits else {}),
    }  # fmt: skip
    plain = {
        "robot": robot, "start": {"q": [float(x) for x in q0], "v": [float(x) for x in v0]},
        "solver": {"duration": duration, **options},
        **({"contact": {"model": contact, **surface}} if contact else {}),
    }  # fmt: skip

    def made() -> Simulation:
        from ..simulation import Simulation

        return Simulation(machine, start=(q0, v0), contact=touching, equal_steps=False, **options)

    def motion(*, progress: Callable[[float], None]) -> Run:
        simulation = made()
        simulation.notes += notes
        simulation.settings["scenario"] = plain
        return simulation.run(duration=duration, progress=progress)

    return made, motion


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
