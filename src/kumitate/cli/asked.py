"""What `kumitate simulate` and `kumitate view` are asked for: a scenario, by options or by a file that describes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ..contact.models import FORCE_MODELS, IMPULSE_MODELS
from ..errors import InputError
from ..scenario import Scenario, names_scenario, read_scenario, scenario_of
from ..scenario.parts import HOLD, SOFT
from ..scenario.setup import SOLVER
from ..scenario.written import Written
from .options import FixInertia, FloatingBase
from .report import complain
from .run_folder import OF_RESULTS


@dataclass(frozen=True, kw_only=True)
class TypedOptions:
    """Options that only the command has; and, without fields here, what those of a setup are that are texts in the command.

    Attributes:
        start: Where it starts: a named state of the file, "zero", or "stance", which legged robots take with --contact.
        q: Initial coordinates, "name=value, ...", in SI units; angles also as 30deg. Other joints close loops.
        v: Initial velocities, "name=value, ...", in SI units; angular ones also as 30deg, per second.
        lock: Joints to lock in their initial positions, "name, ...".
        friction: Coefficient of friction, with --contact; 0.5 by default.
        restitution: Coefficient of restitution, 0 to 1, with --contact; 0 by default.
        height: Initial height of the lowest point above the floor [m], with --contact; with --floating-base 0 by default.
        hull_vertices: Most vertices of the hulls that meshes touch with, with --contact; 16 by default, fewer compile faster.
        controller: Laws that drive it, "name, ...", or one with its numbers, "law=pd, kp=200, kd=40"; FILE.py:FUNCTION is a law
            too. For a result or a sweep, the functions of files that it may run.
        wrenches: On bodies and frames, "name=nx,ny,nz,fx,fy,fz, ...", in the world's axes [N·m, N]; or name=FILE.py:FUNCTION.
        loop_tau: Forces of drives along loop joints, "loop=value, ..." [N·m, N]; or loop=FILE.py:FUNCTION.
        motions: Of joints that follow them, "joint=FILE.py:FUNCTION" [rad or m]; or "joint:velocity=2", or "joint:mean=0.2,
            joint:amplitude=0.1, joint:frequency=0.5".
        inputs: That functions and drives read, "name=value,value, ..."; of drives also "target:joint=0.5".
        held: Points on surfaces, "body:point=x,y,z, body:friction=0.2, body:surface=FILE.py:FUNCTION"; or body:surface=plane,
            or body:surface:kind=sphere with body:surface:radius=2.
        until: FILE.py:FUNCTION that says of a recorded state whether the run ends there; or "law=FILE.py:FUNCTION, time=2".
        outputs: Further quantities computed of every recorded state, "name, ...": energy, center_of_mass, pose:hand.
        parameters: Numbers of the model, "name=value, ...": mass:link3=6, gravity=3.7.
    """

    floating_base: FloatingBase = False
    fix_inertia: FixInertia = False
    start: str | None = None
    q: str | None = None
    v: str | None = None
    lock: str | None = None
    contact: Annotated[
        str | None,
        Parameter(help=f"Contact with the floor z = 0, and its model: {', '.join((*IMPULSE_MODELS, *FORCE_MODELS))}."),
    ] = None
    friction: float | None = None
    restitution: float | None = None
    height: float | None = None
    hull_vertices: int | None = None
    hold: Annotated[
        bool | str | None,
        Parameter(
            negative="",
            help="Joints without drives hold their initial positions, as springs with a natural frequency at their load: "
            f"--hold for {HOLD:g}Hz, --hold 20Hz, or --hold soft for {SOFT:g}Hz.",
        ),
    ] = None


#: The options that place a robot, which `kumitate view` has too.
PLACING = (
    "floating_base", "fix_inertia", "start", "q", "v", "lock", "contact", "friction", "restitution", "height",
    "hull_vertices", "hold",
)  # fmt: skip
#: Where options stand in a scenario that are not keys of their names there.
_AT = {
    "start": ("start", "from"),
    **{name: ("start", name) for name in ("q", "v", "height")},
    "contact": ("contact", "model"),
    **{name: ("contact", name) for name in ("friction", "restitution", "hull_vertices")},
    "motions": ("prescribed",),
    **{name: ("solver", name) for name in SOLVER},
}
#: Options with values by names, by names that may have parts, and with names alone.
_BY_NAME, _BY_PARTS = ("q", "v", "parameters"), ("wrenches", "loop_tau", "motions", "inputs", "held")
_LISTS = ("lock", "outputs", "controller")


def _is_sweep(path: Path) -> bool:
    """Whether a path is the folder of a sweep, whose modules are imported for folders alone."""
    if not path.is_dir():
        return False
    from ..sweeps.folder import is_sweep

    return is_sweep(path)


def asked(source: str, options: Mapping[str, Any], run: int | None = None) -> tuple[str, Scenario]:
    """The scenario of a robot as the options say, or that of a file or of a sweep's folder; and a name for its own folder.

    `options`: that were given, by name; with a file, "controller" alone: the functions that a result or a sweep may call.
    """
    path = Path(source)
    is_result = path.suffix.lower() in OF_RESULTS
    kept = is_result or _is_sweep(path)
    if not kept and not names_scenario(source):
        if run is not None:
            raise InputError(f"--run {run}: is for sweeps, and {source} is neither a scenario's file nor a sweep's folder")
        scenario = read_scenario(_written(source, options))
        if scenario.setup.told:
            complain(scenario.setup.told, what="note")
        return path.stem if path.exists() else source, scenario
    for name, value in options.items():
        if not kept or name != "controller":
            option = ("no-" if value is False else "") + name.replace("_", "-")
            raise InputError(f"--{option} is for robots; {source} says it itself. Change the file, or leave the option out")
    if is_result:
        from .. import open as reopen

        if run is not None:
            raise InputError(f"--run {run}: is for sweeps, and {source} is a result; leave it out")
        result = reopen(path)
        return f"{result.mechanism.name}-again", scenario_of(result, controller=options.get("controller"))
    if kept:
        from ..sweeps.folder import opened_scenario

        scenario = opened_scenario(path, options.get("controller"))
    else:
        scenario = read_scenario(source)
    name = path.resolve().name if kept else path.stem
    if scenario.design is None and run is None:
        return name, scenario
    if run is None:
        raise InputError(
            f"{source}: describes {len(scenario)} runs; add --run 0 for the first of them, or use `kumitate sweep`"
        )
    return f"{name}-run{run}", scenario.of_run(run)


def _written(robot: str, options: Mapping[str, Any]) -> Written:
    """The scenario that options describe, with the option that each value is from."""
    if "contact" not in options:
        for name in ("friction", "restitution", "hull_vertices", "height"):
            if name in options:
                option = f"--{name.replace('_', '-')} {options[name]:g}"
                raise InputError(f"{option} needs --contact, for example --contact rigid")
    plain: dict[str, Any] = {"robot": robot}
    lines: dict[tuple[Any, ...], str] = {("robot",): "", (): ""}
    for name, value in options.items():
        option, at = f"--{name.replace('_', '-')}", _AT.get(name, (name,))
        if name in (*_BY_NAME, *_BY_PARTS) or (name in ("controller", "until") and "=" in value):
            value = values_by_name(value, option, parts=name in _BY_PARTS)
        elif name in _LISTS:
            first, *others = (part.strip() for part in value.split(","))
            value = [first, *others] if others else first
        part = plain
        for key in at[:-1]:
            part = part.setdefault(key, {})
        part[at[-1]] = value
        lines[at] = option
    start = plain.get("start", {})
    if "contact" in options and options.get("floating_base") and not any(name.endswith(".z") for name in start.get("q", ())):
        plain["start"] = {"height": 0.0, **start}  # on the floor, unless --q gives the height of the base
    return Written(robot, plain, lines)


def values_by_name(text: str, option: str, *, parts: bool = False) -> dict[str, Any]:
    """The values of a text, "name=value, other=1,2", by name; one name may have several numbers.

    `parts`: whether "name:part=value" is a part of what the name stands for, beside its "law".
    """
    found: dict[str, Any] = {}
    section, key = found, ""
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, equals, text = (part.strip() for part in item.partition("="))
        value = _number(text if equals else name)
        if not equals and (not key or isinstance(value, str)):
            raise InputError(f'{option}: {item!r} is not of the form name=value; write "name=0.5" or "name=30deg"')
        if not equals:
            section[key] = [*(section[key] if isinstance(section[key], list) else [section[key]]), value]
            continue
        *above, key = name.split(":") if parts else [name]
        section = found
        for part in above:
            if not isinstance(section.setdefault(part, {}), dict):
                section[part] = {"law": section[part]}
            section = section[part]
        section[key] = value
    return found


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
