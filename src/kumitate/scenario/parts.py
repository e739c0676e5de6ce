"""The parts of a scenario: the robot, its start, its controllers, joints that follow motions, what touches."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, did_you_mean
from ..loading import load
from ..model import Mechanism
from ..model.samples import SAMPLES
from ..model.values import LENGTH, NOT_NEGATIVE, checked_numbers, shown
from ..renamed import load_papers
from ..robot import Robot
from ..simulate.driving.motion import PrescribedMotion, with_followed_loops
from .laws import LAWS, ControlLaw, file_hash, names_function
from .setup import Described
from .written import Section, number_of


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


# --- the part of a scenario that says which joints follow motions: oscillations, or steady velocities ---------------------
_OSCILLATION = ("mean", "amplitude", "frequency", "phase")


def read_motions(top: Section, setup: Described, plain: dict[str, Any]) -> Described:
    """The setup with the motions of joints and loop joints that are asked for, by name.

    Loop joints that follow motions get coordinates of their own in the mechanism, and in the start and the efforts of `plain`:
    what is read there again, with that mechanism, starts as this does.

    `{velocity: 2.0}` is a steady velocity from the start on [rad/s or m/s]; `{mean: 0.2, amplitude: 0.1, frequency: 0.5}`
    the position mean + amplitude sin(2π frequency t + phase) [rad or m, Hz, rad].
    """
    m = setup.mechanism
    names = (*(joint.name for joint in m.joints if joint.kind.nv), *(loop.name for loop in m.loops))
    section = top.section("prescribed", names or ("",))
    found = {}
    for name in section.values:
        if name in names:
            part = section.section(name, ("velocity", *_OSCILLATION))
            with top.mistakes.catching(part.at):
                found[name] = _motion(part)
    changed, (q, v) = with_followed_loops(m, found, (setup.q, setup.v))
    if changed is m:
        return replace(setup, motions=found)
    tau = dict(zip(m.v_names, setup.tau.tolist(), strict=True))
    named = {"q": dict(zip(changed.q_names, q.tolist(), strict=True)), "v": dict(zip(changed.v_names, v.tolist(), strict=True))}
    plain["start"] = {**(plain.get("start") or {}), **named}
    if "tau" in plain:
        plain["tau"] = tau
    efforts = np.array([tau.get(name, 0.0) for name in changed.v_names])
    return replace(setup, mechanism=changed, q=q, v=v, tau=efforts, motions=found)


def _motion(part: Section) -> PrescribedMotion:
    swings = [key for key in _OSCILLATION if key in part]
    if ("velocity" in part) == bool(swings):
        raise InputError(
            "is a steady velocity or an oscillation; write {velocity: 2.0}, or {mean: 0.2, amplitude: 0.1, frequency: 0.5}"
        )
    if "velocity" in part:
        steady = part.number("velocity")
        return PrescribedMotion(velocity=lambda t: steady + 0.0 * t)
    mean, amplitude, phase = (part.number(key, default=0.0) for key in ("mean", "amplitude", "phase"))
    if "amplitude" in part and "frequency" not in part:
        raise InputError("has an amplitude and no frequency; write frequency: 0.5 [Hz]")
    rate = 2.0 * math.pi * part.number("frequency", NOT_NEGATIVE, 0.0)
    return PrescribedMotion(lambda t: mean + amplitude * np.sin(rate * t + phase))


# --- the part of a scenario that says what touches ------------------------------------------------------------------------
def read_contact(top: Section, setup: Described) -> Described:
    """The setup with the contact that is asked for."""
    given = top.values.get("contact")
    if given is None:
        if setup.height is not None:
            top.mistakes.add(("start", "height"), "is a height above the floor, and there is no contact; write contact: rigid")
        return setup
    from ..contact.models import FORCE_MODELS, IMPULSE_MODELS
    from ..contact.scene import Contact
    from ..contact.surface import SURFACE_RULES

    known = ("model", *SURFACE_RULES, "surfaces", "pairs", "between", "apart", "groups", "options", "hull_vertices")
    section = Section({"model": given} if isinstance(given, str) else given, ("contact",), top.mistakes, known)
    load_papers(section.values.get("model"))
    model = section.text("model", (*IMPULSE_MODELS, *FORCE_MODELS), "rigid")
    bodies = (*(body.name for body in setup.mechanism.bodies), "ground")
    surfaces = section.section("surfaces", bodies)
    named = {
        name: _surface(surfaces.section(name, (*SURFACE_RULES, "belt")), belt=True)
        for name in surfaces.values
        if name in bodies
    }
    between = section.take("between", lambda value: value if value == "all" else _pairs(value, bodies))
    apart = section.take("apart", lambda value: _pairs(value, bodies)) or ()
    own = not any(rule in section for rule in SURFACE_RULES)
    with top.mistakes.catching(("contact",)):
        contact = Contact(
            model, surface=None if own else _surface(section), surfaces=named, pairs=_surfaces_of_pairs(section, bodies),
            between=between, apart=apart, groups=section.section("groups", bodies).values,
            options=section.section("options").values, hull_vertices=section.whole("hull_vertices", 4, 16),
        )  # fmt: skip
        return replace(setup, contact=contact)
    return setup


def _surface(part: Section, *, belt: bool = False) -> Any:
    """The surface that a section describes among other things; `belt`: whether it may be one."""
    from ..contact.surface import SURFACE_RULES, Surface

    found = {key: part.number(key, rule) for key, rule in SURFACE_RULES.items() if key in part}
    if belt:
        found["belt"] = part.take("belt", lambda value: checked_numbers("contact", "belt [m/s]", value, 3, error=InputError))
    with part.mistakes.catching(part.at):
        return Surface(**{key: value for key, value in found.items() if value is not None})
    return Surface()


def _surfaces_of_pairs(section: Section, bodies: Collection[str]) -> dict[tuple[str, str], Any]:
    """The surfaces of pairs, from sections that name two bodies each."""
    from ..contact.surface import SURFACE_RULES

    given, at = section.values.get("pairs"), (*section.at, "pairs")
    if given is not None and not isinstance(given, list):
        section.mistakes.add(
            at, f"is {shown(given)}; write a list, each with two bodies: [{{bodies: [one, other], friction: 0.1}}]"
        )
        return {}
    found: dict[tuple[str, str], Any] = {}
    for k, item in enumerate(given or ()):
        part = Section(item, (*at, k), section.mistakes, ("bodies", *SURFACE_RULES))
        with section.mistakes.catching(part.at):
            if "bodies" not in part:
                raise InputError("names no bodies; write bodies: [one, other]")
            pair = part.take("bodies", lambda value: _pair(value, bodies))
            surface = _surface(part)
            if pair is not None and ({pair, pair[::-1]} & set(found)):
                raise InputError(f"is the second surface of {pair[0]!r} and {pair[1]!r}; keep one")
            if pair is not None:
                found[pair] = surface
    return found


def _pairs(given: Any, bodies: Collection[str]) -> list[tuple[str, str]]:
    if not isinstance(given, list):
        raise InputError(f"is {shown(given)}; write pairs of bodies, [[one, other]]")
    return [_pair(pair, bodies) for pair in given]


def _pair(given: Any, bodies: Collection[str]) -> tuple[str, str]:
    if not isinstance(given, list) or len(given) != 2:
        raise InputError(f"is {shown(given)}; write pairs of bodies, [one, other]")
    for name in given:
        if name not in bodies:
            near = did_you_mean(name, bodies, lead=", ")
            raise InputError(f"there is no body {shown(name)}{near}; there are {', '.join(bodies)}")
    if given[0] == given[1]:
        raise InputError(f"is of {given[0]!r} against itself; write two different bodies")
    return given[0], given[1]
