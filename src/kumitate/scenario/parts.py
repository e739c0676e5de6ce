"""The parts of a scenario that say what moves, and from where: the robot, its start, drives that hold it there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import loop_equations
from ..contact.placement import ground_touches, lowest_of
from ..control import holding_drives, holding_efforts
from ..errors import InputError, KumitateError, did_you_mean
from ..inverse_kinematics.stance import has_legs
from ..loading import load
from ..model import Mechanism
from ..model.samples import SAMPLES
from ..model.values import LENGTH, shown
from ..robot import Robot
from ..simulate.starts import default_start
from .setup import Described
from .written import Section, names_in, number_of

#: Starts that have these names in all robots.
STANCE, ZERO = "stance", "zero"
#: The natural frequencies of robots that are held [Hz]: as of their actuators where nothing else is said, and soft.
HOLD, SOFT = 10.0, 6.0
#: A robot stands on a floor that is at most this far below it [m].
_TOUCHING = 1e-3


# --- the robot --------------------------------------------------------------------------------------------------------
def read_robot(top: Section, folder: Path, mechanism: Mechanism | None, plain: dict[str, Any]) -> Robot | None:
    """The robot, or None after a mistake; its path is relative to the folder, and in full in `plain`.

    `mechanism`: in place of the robot that is named, with its locked joints and drives.
    """
    name = top.text("robot")
    sample = SAMPLES.get(name)
    floating, mended = top.flag("floating_base"), top.flag("fix_inertia")
    if mechanism is not None:
        start = (sample.q, sample.v) if sample is not None and len(sample.q) == mechanism.nq else None
        return Robot(mechanism, start=start)
    if name is None:
        if "robot" not in top:
            top.mistakes.add(("robot",), "there is no robot; write a sample's name or a file, robot: pa10")
        return None
    path = folder / Path(name).expanduser()
    is_file = sample is None and (path.suffix or len(Path(name).parts) > 1)
    if is_file:
        plain["robot"] = str(path.resolve())
    with top.mistakes.catching(("robot",)):
        robot = load(path if is_file else name, floating_base=floating, fix_inertia=mended)
        return top.take("lock", lambda joints: robot.locked(names_in(joints)), robot)  # type: ignore[no-any-return]
    return None


# --- the start --------------------------------------------------------------------------------------------------------
def read_start(top: Section, robot: Robot, solver: Mapping[str, Any], plain: dict[str, Any]) -> Described:
    """The setup of a robot from its start, which `plain` has in full, with these settings of the solver."""
    m = robot.mechanism
    section = top.section("start", ("from", "q", "v", "assemble", "height"))
    (q, v), told = _start_by_name(top, section, robot)
    q = values_by_name(section, "q", m.q_names, q)
    v = values_by_name(section, "v", m.v_names, np.zeros(m.nv) if "q" in section else v)
    rough = {"assemble": section.flag("assemble"), "height": section.number("height", LENGTH)}
    given = [section.values.get(key) or {} for key in ("q", "v")]
    by_name = any(given) and all(isinstance(part, dict) for part in given)
    if by_name and (m.loops or m.couplings) and not rough["assemble"]:  # other joints close the loops around those named
        known = zip(given, ((m.q_names, q), (m.v_names, v)), strict=True)
        named = [{name: x[names.index(name)] for name in part if name in names} for part, (names, x) in known]
        with top.mistakes.catching(section.at):
            q, v = robot.state(*named)
    plain["start"] = {key: value for key, value in section.values.items() if key != "from"}
    plain["start"] |= {"q": q.tolist(), "v": v.tolist()}
    tau = values_by_name(top, "tau", m.v_names, np.zeros(m.nv))
    if "tau" in top and "controller" in top:
        top.mistakes.add(("tau",), "is a constant effort, and there is a controller; write one of them")
    return Described(m, q, v, tau=tau, told=told, **rough, **solver)


def _start_by_name(top: Section, section: Section, robot: Robot) -> tuple[tuple[np.ndarray, np.ndarray], str]:
    """The start (q, v) that is named, and what is to be told about it; unless one is, a legged robot on a floor stands."""
    name, m = section.text("from"), robot.mechanism
    bent = "contact" in top and "q" not in section and top.values.get("robot") not in SAMPLES and has_legs(m)
    if name in (None, STANCE) and name not in robot.starts and (bent or name == STANCE):
        try:
            stance = robot.stance()
            return (stance.q, np.zeros(m.nv)), f"{m.name} starts in its stance, {stance.told}"
        except KumitateError as error:
            if name == STANCE:
                top.mistakes.add((*section.at, "from"), str(error))
            return robot.start, f"{m.name} starts at its zero state: {error}"
    if name == ZERO:
        return (default_start(loop_equations(m)), np.zeros(m.nv)), ""
    if name is not None and name not in robot.starts:
        known = (STANCE, ZERO, *robot.starts)
        near = did_you_mean(name, known, lead=", ")
        top.mistakes.add((*section.at, "from"), f"there is no start {name!r}{near}; there are {', '.join(known)}")
    return robot.starts.get(name, robot.start), ""


def values_by_name(section: Section, key: str, names: Sequence[str], default: np.ndarray) -> np.ndarray:
    """Values by the names of components, in their places of the default; or all of them as a list."""
    values = np.array(default, dtype=float)
    given, at = section.values.get(key), (*section.at, key)
    if isinstance(given, list):
        with section.mistakes.catching(at):
            if len(given) != len(names):
                raise InputError(f"has {len(given)} values; it must have {len(names)}: {', '.join(names)}")
            values[:] = [number_of(name, value) for name, value in zip(names, given, strict=True)]
        return values
    if given and not names:
        named = shown(next(iter(given))) if isinstance(given, dict) else shown(given)
        section.mistakes.add(at, f"{named} names a component, and there are none: all joints are fixed. Leave it out")
        return values
    for name, value in Section(given, at, section.mistakes, names).values.items():
        if name in names:
            with section.mistakes.catching((*at, name)):
                values[names.index(name)] = number_of(name, value)
    return values


def read_hold(top: Section, setup: Described, plain: dict[str, Any]) -> Described:
    """The setup with drives that hold it where it starts, if asked for, and with the efforts that carry its weight there."""
    hertz = top.take("hold", stiffness_of)
    if not hertz:
        return setup
    m = setup.mechanism
    with top.mistakes.catching(("hold",)):
        q, _ = setup.start
        touches = ground_touches(m, q, setup.contact) if setup.contact else {}
        standing = lowest_of(m, touches)
        drives = holding_drives(m, q, rate=2.0 * np.pi * hertz, standing=standing)
        stands = any(touches[name][:, 3].min() < _TOUCHING for name in standing)
        carried = {"feed_forward": holding_efforts(m, q, standing=standing if stands else ())} if drives else {}
        if carried and isinstance(plain.get("inputs", {}), dict):
            plain["inputs"] = carried | plain.get("inputs", {})
        return replace(setup, mechanism=m.with_drives(drives), inputs=carried)
    return setup


def stiffness_of(given: Any) -> float:
    """The natural frequency [Hz] at which joints are held: of true, "soft", or a text such as "20Hz"; 0 for false.

    >>> stiffness_of("20Hz"), stiffness_of(True)
    (20.0, 10.0)
    """
    if isinstance(given, bool):
        return HOLD if given else 0.0
    text = str(given).strip()
    with suppress(ValueError):
        hertz = SOFT if text == "soft" else float(text.lower().removesuffix("hz"))
        if 0.0 < hertz < np.inf:
            return hertz
    raise InputError(
        f"hold is {shown(given)}; it must be a natural frequency above zero, 20Hz, or soft. Leave the value out for {HOLD:g}Hz"
    )
