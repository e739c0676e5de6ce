"""The part of a scenario that says which joints follow motions: oscillations, or steady velocities."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.values import NOT_NEGATIVE
from ..simulate.driving.motion import PrescribedMotion, with_followed_loops
from .mistakes import Section
from .setup import Described

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
