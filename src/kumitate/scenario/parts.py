"""The parts of a scenario that say what moves, and from where: the robot, its start, drives that hold it there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..contact import lowest_bodies
from ..control import holding_drives
from ..errors import InputError
from ..loading import load
from ..model import Mechanism
from ..model.samples import SAMPLES
from ..model.values import LENGTH, shown
from ..robot import Robot
from .setup import Described
from .written import Section, names_in, number_of


# --- the robot --------------------------------------------------------------------------------------------------------
def read_robot(top: Section, folder: Path, mechanism: Mechanism | None, plain: dict[str, Any]) -> Robot | None:
    """The robot, or None after a mistake.

    Args:
        folder: that its path is relative to; mechanism: in place of the robot that is named, with its locked joints and drives.
        plain: where the path is written in full.
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
    section = top.section("start", ("q", "v", "assemble", "height"))
    q, v = robot.start
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
    plain["start"] = {**section.values, "q": q.tolist(), "v": v.tolist()}
    tau = values_by_name(top, "tau", m.v_names, np.zeros(m.nv))
    if "tau" in top and "controller" in top:
        top.mistakes.add(("tau",), "is a constant effort, and there is a controller; write one of them")
    return Described(m, q, v, tau=tau, **rough, **solver)


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


def read_hold(top: Section, setup: Described) -> Described:
    """The setup with drives that hold it where it starts, if asked for: stiff enough for the bodies on which it stands."""
    if not top.flag("hold"):
        return setup
    m = setup.mechanism
    with top.mistakes.catching(("hold",)):
        q, _ = setup.start
        standing = lowest_bodies(m, q, setup.contact) if setup.contact else []
        return replace(setup, mechanism=m.with_drives(holding_drives(m, q, standing=standing)))
    return setup
