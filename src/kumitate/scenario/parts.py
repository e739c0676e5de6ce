"""The parts of a scenario: the robot, its start, drives that hold it there; what drives it, what it touches, what holds it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import loop_equations
from ..contact import FORCE_MODELS, IMPULSE_MODELS, Contact, Surface
from ..contact.placement import ground_touches, lowest_of
from ..contact.scene import ACCURACIES
from ..contact.surface import SURFACE_RULES
from ..control import holding_drives, holding_efforts
from ..errors import InputError, KumitateError
from ..held import CylinderSurface, HeldPoint, PlaneSurface, SphereSurface
from ..inverse_kinematics.stance import has_legs
from ..loading import load
from ..model import JointKind, Mechanism
from ..model.samples import SAMPLES
from ..model.values import LENGTH, NOT_NEGATIVE, checked_numbers, shown
from ..renamed import load_papers
from ..robot import Robot
from ..simulate.driving.forcing import COMMANDS, checked_inputs, command_values
from ..simulate.driving.motion import PrescribedMotion, with_followed_loops
from ..simulate.starts import default_start
from .setup import LAWS, ControlLaw, Described, checked_function
from .written import At, Mistakes, Section, names_in, number_of, text_of

#: Starts that have these names in all robots.
STANCE, ZERO = "stance", "zero"
#: The natural frequencies of robots that are held [Hz]: as of their actuators where nothing else is said, and soft.
HOLD, SOFT = 10.0, 6.0
#: A robot stands on a floor that is at most this far below it [m].
_TOUCHING = 1e-3
_OSCILLATION = ("mean", "amplitude", "frequency", "phase")
#: Surfaces that points are held on, by name.
HELD_ON = {"plane": PlaneSurface, "sphere": SphereSurface, "cylinder": CylinderSurface}


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
    with top.mistakes.catching((*section.at, "from")):
        if name is not None:
            text_of("start", name, (STANCE, ZERO, *robot.starts))
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
    """The natural frequency [Hz] at which joints are held: of true, "soft", or a text such as "20Hz"; 0 for false."""
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


# --- what drives it ---------------------------------------------------------------------------------------------------
def read_driving(top: Section, setup: Described, plain: dict[str, Any]) -> Described:
    """The setup with all that drives it."""
    setup = _with_motions(top, setup, plain)
    m = setup.mechanism
    loops = {loop.name: loop.kind.nv for loop in m.loops if isinstance(loop.kind, JointKind)}
    section = top.section("inputs")
    inputs = {name: section.take(name, partial(_input, section, name, m)) for name in section.values}
    return replace(
        setup, laws=_laws(top, setup), wrenches=_efforts(top, "wrenches", dict.fromkeys(m.tree.places, 6)),
        loop_tau=_efforts(top, "loop_tau", loops), inputs={**(setup.inputs or {}), **inputs},
    )  # fmt: skip


# --- controllers ------------------------------------------------------------------------------------------------------
def _laws(top: Section, setup: Described) -> tuple[ControlLaw, ...]:
    given = top.values.get("controller")
    laws = []
    for k, item in enumerate(names_in([] if given is None else given)):
        at = ("controller", k) if isinstance(given, list) else ("controller",)
        with top.mistakes.catching(at):
            laws.append(item if isinstance(item, ControlLaw) else _law(item, at, top.mistakes, setup))
            for joint in laws[-1].undriven:
                setup.mechanism.joint(joint)
    return tuple(laws)


def _law(given: Any, at: At, mistakes: Mistakes, setup: Described) -> ControlLaw:
    given = given if isinstance(given, dict) else {"law": given}
    if given.get("law") is None:
        raise InputError(f"there is no law; write one of {', '.join(LAWS)}, or FILE.py:FUNCTION")
    name, m = text_of("law", given["law"], (*LAWS, "FILE.py:FUNCTION")), setup.mechanism
    needed, gains = LAWS[name][1], {}
    section = Section(given, at, mistakes, ("law", "undriven", *needed, *(["reference"] if needed else [])))
    for gain in needed:
        if gain not in section:
            raise InputError(f"{name} has no {gain}; write a number for all degrees of freedom, or one each by joint")
        if isinstance(section.values[gain], dict | list):
            gains[gain] = values_by_name(section, gain, m.v_names, np.zeros(m.nv))
        else:
            gains[gain] = section.number(gain, NOT_NEGATIVE, 0.0)
    reference = values_by_name(section, "reference", m.q_names, setup.q) if needed else None
    return ControlLaw(name, gains, reference, names_in(section.values.get("undriven", [])))


# --- motions ----------------------------------------------------------------------------------------------------------
def _with_motions(top: Section, setup: Described, plain: dict[str, Any]) -> Described:
    """The setup with the motions of joints and loop joints that are asked for, by name.

    Loop joints that follow motions get coordinates of their own in the mechanism, and in the start and the efforts of `plain`:
    what is read there again, with that mechanism, starts as this does.

    `{velocity: 2.0}` is a steady velocity from the start on [rad/s or m/s]; `{mean: 0.2, amplitude: 0.1, frequency: 0.5}`
    the position mean + amplitude sin(2π frequency t + phase) [rad or m, Hz, rad]; a function of a file gives it as f(t).
    """
    m = setup.mechanism
    names = (*(joint.name for joint in m.joints if joint.kind.nv), *(loop.name for loop in m.loops))
    section = top.section("prescribed", names or ("",))
    found = {name: section.take(name, partial(_motion, section, name)) for name in section.values if name in names}
    changed, (q, v) = with_followed_loops(m, found, (setup.q, setup.v))
    if changed is m:
        return replace(setup, motions=found)
    tau = dict(zip(m.v_names, setup.tau.tolist(), strict=True))
    plain["start"] |= {"q": q.tolist(), "v": v.tolist()}
    if "tau" in plain:
        plain["tau"] = tau
    efforts = np.array([tau.get(name, 0.0) for name in changed.v_names])
    return replace(setup, mechanism=changed, q=q, v=v, tau=efforts, motions=found)


def _motion(section: Section, name: str, given: Any) -> ControlLaw | PrescribedMotion:
    if isinstance(given, ControlLaw):
        return given
    part = section.section(name, ("velocity", *_OSCILLATION))
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


# --- wrenches, drives of loops, inputs --------------------------------------------------------------------------------
def _efforts(top: Section, key: str, sizes: Mapping[str, int]) -> dict[str, Any]:
    """What acts on places or loops: constants of these sizes, or functions of files, by name."""
    section = top.section(key, tuple(sizes) or ("",))
    return {name: section.take(name, partial(_effort, name, sizes[name])) for name in section.values if name in sizes}


def _effort(name: str, size: int, given: Any) -> Any:
    if isinstance(given, ControlLaw | dict | str):
        return checked_function(given)
    numbers = [number_of(name, value) for value in names_in(given)]
    return checked_numbers("scenario", name, numbers, size, error=InputError)


def _input(section: Section, name: str, mechanism: Mechanism, given: Any) -> Any:
    """The values of an input; of what drives are commanded also a value for all, some by joint, or a function of a file."""
    if isinstance(given, ControlLaw):
        return given
    driven = [joint.name for joint in mechanism.driven]
    if isinstance(given, dict) and name in COMMANDS and driven:
        part = section.section(name, driven)
        return {joint: part.number(joint, default=0.0) for joint in part.values if joint in driven}
    numbers = [number_of(name, value) for value in names_in(given)]
    if name in COMMANDS and driven:
        return command_values(mechanism, name, numbers if isinstance(given, list) else numbers[0], np.zeros(len(driven)))
    return checked_inputs(mechanism.name, {name: numbers})[name]


# --- contact ----------------------------------------------------------------------------------------------------------
def read_contact(top: Section, setup: Described) -> Described:
    """The setup with the contact that is asked for."""
    given = top.values.get("contact")
    if given is None:
        if setup.height is not None:
            top.mistakes.add(("start", "height"), "is a height above the floor, and there is no contact; write contact: rigid")
        return setup
    known = (
        "model", *SURFACE_RULES, "surfaces", "pairs", "between", "apart", "groups", "options", "hull_vertices", "accuracy",
    )  # fmt: skip
    section = Section({"model": given} if isinstance(given, str) else given, ("contact",), top.mistakes, known)
    load_papers(section.values.get("model"))
    model = section.text("model", (*IMPULSE_MODELS, *FORCE_MODELS), "rigid")
    bodies = (*(body.name for body in setup.mechanism.bodies), "ground")
    surfaces = section.section("surfaces", bodies)
    own = (*SURFACE_RULES, "belt")
    named = {name: _surface(surfaces.section(name, own), belt=True) for name in surfaces.values if name in bodies}
    between = section.take("between", lambda value: value if value == "all" else _pairs(value, bodies))
    apart = section.take("apart", lambda value: _pairs(value, bodies)) or ()
    usual = not any(rule in section for rule in SURFACE_RULES)
    with top.mistakes.catching(("contact",)):
        contact = Contact(
            model, surface=None if usual else _surface(section), surfaces=named, pairs=_surfaces_of_pairs(section, bodies),
            between=between, apart=apart, groups=section.section("groups", bodies).values,
            options=section.section("options").values, hull_vertices=section.whole("hull_vertices", 4, 16),
            accuracy=section.text("accuracy", ACCURACIES, ACCURACIES[0]),
        )  # fmt: skip
        return replace(setup, contact=contact)
    return setup


def _surface(part: Section, *, belt: bool = False) -> Surface:
    """The surface that a section describes among other things; `belt`: whether it may be one."""
    found = {key: part.number(key, rule) for key, rule in SURFACE_RULES.items() if key in part}
    found |= {"belt": part.take("belt", lambda given: _vector("belt [m/s]", given))} if belt else {}
    with part.mistakes.catching(part.at):
        return Surface(**{key: value for key, value in found.items() if value is not None})
    return Surface()


def _surfaces_of_pairs(section: Section, bodies: Collection[str]) -> dict[tuple[str, str], Any]:
    """The surfaces of pairs, from sections that name two bodies each."""
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
    one, other = (text_of("body", name, bodies) for name in given)
    if one == other:
        raise InputError(f"is of {one!r} against itself; write two different bodies")
    return one, other


# --- points held on surfaces ------------------------------------------------------------------------------------------
def read_held(top: Section, setup: Described) -> Described:
    """The setup with the points that are held on surfaces, by name; they are on the body or frame of that name unless told."""
    section, held, places = top.section("held"), [], setup.mechanism.tree.places
    for name, given in section.values.items():
        given = {"body": name, **given} if isinstance(given, dict) else given
        part = Section(given, (*section.at, name), top.mistakes, ("body", "point", "surface", "friction"))
        with top.mistakes.catching(part.at):
            body = part.text("body", places, name)
            point = part.take("point", partial(_vector, "the point [m]"), (0.0, 0.0, 0.0))
            held.append(HeldPoint(body, point, _held_on(part), part.number("friction", NOT_NEGATIVE, 0.0), str(name)))
    return replace(setup, held=tuple(held))


def _held_on(part: Section) -> Any:
    """The surface of a held point: the floor, one by name, or a function of a file."""
    given, at = part.values.get("surface", "plane"), (*part.at, "surface")
    given = {"kind": given} if isinstance(given, str) else given
    if isinstance(given, ControlLaw):
        return given
    kind = HELD_ON[Section(given, at, part.mistakes, ()).text("kind", HELD_ON, "plane")]
    numbers = {one.name: one.default is MISSING for one in fields(kind)}  # the others are vectors
    section = Section(given, at, part.mistakes, ("kind", *numbers))
    for name, needed in numbers.items():
        if needed and name not in section:
            raise InputError(f"the surface has no {name}; write a number, {name}: 0.5")
    return kind(**{
        name: number_of(name, section.values[name]) if needed else _vector(name, section.values[name])
        for name, needed in numbers.items() if name in section
    })  # fmt: skip


def _vector(what: str, given: Any) -> tuple[float, ...]:
    numbers = [number_of(what, value) for value in given] if isinstance(given, list) else given
    return checked_numbers("scenario", what, numbers, 3, error=InputError)
