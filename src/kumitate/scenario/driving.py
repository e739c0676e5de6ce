"""The parts of a scenario that say what drives a robot: controllers, motions of joints, wrenches, drives of loops, inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import InputError
from ..model import JointKind, Mechanism
from ..model.values import NOT_NEGATIVE, checked_numbers
from ..simulate.driving.inputs import COMMANDS, checked_inputs, command_values
from ..simulate.driving.motion import PrescribedMotion, with_followed_loops
from .laws import LAWS, ControlLaw, checked_function
from .parts import values_by_name
from .setup import Described
from .written import At, Mistakes, Section, names_in, number_of, text_of

_OSCILLATION = ("mean", "amplitude", "frequency", "phase")


def read_driving(top: Section, setup: Described, plain: dict[str, Any]) -> Described:
    """The setup with all that drives it."""
    setup = _with_motions(top, setup, plain)
    m = setup.mechanism
    loops = {loop.name: loop.kind.nv for loop in m.loops if isinstance(loop.kind, JointKind)}
    return replace(
        setup, laws=_laws(top, setup), wrenches=_efforts(top, "wrenches", dict.fromkeys(m.tree.places, 6)),
        loop_tau=_efforts(top, "loop_tau", loops), inputs={**(setup.inputs or {}), **_inputs(top, m)},
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
    """A law by name, with its gains beside it."""
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


def _inputs(top: Section, mechanism: Mechanism) -> dict[str, Any]:
    section = top.section("inputs")
    return {name: section.take(name, partial(_input, section, name, mechanism)) for name in section.values}


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
