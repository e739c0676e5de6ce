"""The parts of a scenario that name things of a robot: the robot itself, its start, its controllers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, did_you_mean
from ..loading import load
from ..model import Mechanism
from ..model.samples import SAMPLES
from ..model.values import LENGTH, NOT_NEGATIVE
from ..robot import Robot
from .laws import LAWS, ControlLaw, file_hash, names_function
from .mistakes import Section, number_of
from .setup import Described


# --- the robot --------------------------------------------------------------------------------------------------------
def read_robot(top: Section, folder: Path, mechanism: Mechanism | None, plain: dict[str, Any]) -> Robot | None:
    """The robot, or None after a mistake.

    Args:
        folder: that its path is relative to; mechanism: in place of the robot that is named.
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
        return load(path if is_file else name, floating_base=floating, fix_inertia=mended)
    return None


# --- the start --------------------------------------------------------------------------------------------------------
def read_start(top: Section, robot: Robot, solver: Mapping[str, Any]) -> Described:
    """The setup of a robot from its start, with these settings of the solver."""
    m = robot.mechanism
    section = top.section("start", ("q", "v", "assemble", "height"))
    q, v = robot.start
    q = _named(section, "q", m.q_names, q)
    v = _named(section, "v", m.v_names, np.zeros(m.nv) if "q" in section else v)
    tau = _named(top, "tau", m.v_names, np.zeros(m.nv))
    if "tau" in top and "controller" in top:
        top.mistakes.add(("tau",), "is a constant effort, and there is a controller; write one of them")
    rough = {"assemble": section.flag("assemble"), "height": section.number("height", LENGTH)}
    return Described(m, q, v, tau=tau, **rough, **solver)


def _named(section: Section, key: str, names: Sequence[str], default: np.ndarray) -> np.ndarray:
    """Values by the names of components, in their places of the default; or all of them as a list."""
    values = np.array(default, dtype=float)
    given, at = section.values.get(key), (*section.at, key)
    if isinstance(given, list):
        with section.mistakes.catching(at):
            if len(given) != len(names):
                raise InputError(f"has {len(given)} values; it must have {len(names)}: {', '.join(names)}")
            return np.array([number_of(name, value) for name, value in zip(names, given, strict=True)], dtype=float)
        return values
    for name, value in Section(given, at, section.mistakes, names or ("",)).values.items():
        if name in names:
            with section.mistakes.catching((*at, name)):
                values[list(names).index(name)] = number_of(name, value)
    return values


# --- controllers ------------------------------------------------------------------------------------------------------
def read_laws(
    top: Section, setup: Described, folder: Path, plain: dict[str, Any], allowed: Collection[str] | None = None
) -> Described:  # fmt: skip
    """The setup with the controllers that are named; `allowed`: the functions of files that may be run, all unless given."""
    given = top.values.get("controller")
    if given is None:
        return setup
    items = given if isinstance(given, list) else [given]
    laws, written = [], []
    for k, item in enumerate(items):
        at = ("controller", k) if isinstance(given, list) else ("controller",)
        item = {"law": item} if isinstance(item, str) else item
        with top.mistakes.catching(at):
            law = _law(Section(item, at, top.mistakes, ()), setup, folder)
            law = replace(law, allowed=law.file is None or allowed is None or law.name in allowed)
            laws.append(law)
            written.append({**item, "law": law.name, **({"sha256": law.hash} if law.file else {})})
    plain["controller"] = written
    return replace(setup, laws=tuple(laws))


def _law(section: Section, setup: Described, folder: Path) -> ControlLaw:
    name = section.text("law")
    if name is None:
        raise InputError(f"there is no law; write one of {', '.join(LAWS)}, or FILE.py:FUNCTION")
    undriven = section.take("undriven", lambda value: _joints(value, setup.mechanism), ())
    nv, gains = setup.mechanism.nv, {}
    if names_function(name):
        file, _, function = name.rpartition(":")
        if not file or not function.isidentifier():
            raise InputError(f"{name!r} names no function; write FILE.py:FUNCTION")
        path = (folder / Path(file).expanduser()).resolve()
        for gain in section.values:
            if gain not in ("law", "undriven", "sha256"):
                gains[gain] = section.number(gain)
        return ControlLaw(f"{path}:{function}", gains, None, undriven, path, section.text("sha256") or file_hash(path))
    if name not in LAWS:
        near = did_you_mean(name, LAWS, lead=", ")
        raise InputError(f"there is no law {name!r}{near}; there are {', '.join(LAWS)}, and FILE.py:FUNCTION")
    kind = LAWS[name]
    Section(section.values, section.at, section.mistakes, ("law", "undriven", *kind.gains, *(["reference"] * kind.refers)))
    for gain in kind.gains:
        if gain not in section:
            raise InputError(f"{name} has no {gain}; write a number for all degrees of freedom, or one each by joint")
        value = section.values[gain]
        one = not isinstance(value, dict | list)
        gains[gain] = (
            section.number(gain, NOT_NEGATIVE, 0.0) if one else _named(section, gain, setup.mechanism.v_names, np.zeros(nv))
        )
    reference = _named(section, "reference", setup.mechanism.q_names, setup.q) if kind.refers else None
    return ControlLaw(name, gains, reference, undriven)


def _joints(given: Any, mechanism: Mechanism) -> tuple[str, ...]:
    names = given if isinstance(given, list) else [given]
    for name in names:
        mechanism.joint(name)
    return tuple(names)
