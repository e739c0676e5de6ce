"""The keyframes of MJCF, and its initial posture, as named starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ...convert import mujoco as mujoco_order
from ...elements import INITIAL, NamedState
from ...mechanism import Mechanism
from ..notes import Notes
from ..shapes import free_name
from .compiled import CompiledModel

#: Numbers below this are rounding errors of the conversion from MuJoCo's coordinates of free joints.
_ROUNDING = 1e-15


def with_keyframes(compiled: CompiledModel, mechanism: Mechanism, notes: Notes) -> Mechanism:
    """The mechanism with the file's keyframes, and its posture where that is not the neutral one, as `starts`."""
    model = compiled.model
    if not model.nkey and not model.qpos0.any():
        return mechanism
    order = mujoco_order(mechanism, [joint.name for joint in mechanism.joints if joint.kind.nv])
    starts: list[NamedState] = []
    q, v = order.back(model.qpos0, np.zeros(model.nv))
    if _away(mechanism, q):
        starts.append(_start(mechanism, INITIAL, q, v))
    for key, name in enumerate(compiled.names("key")):
        q, v = order.back(model.key_qpos[key], model.key_qvel[key])
        starts.append(_start(mechanism, free_name(name, {start.name for start in starts}), q, v))
        if model.key_ctrl[key].any() or model.key_act[key].any() or model.key_time[key]:
            notes.add("ctrl, act and time of keyframes: not used", name, compiled.line("key", key))
    return replace(mechanism, starts=tuple(starts))


def _start(mechanism: Mechanism, name: str, q: np.ndarray, v: np.ndarray) -> NamedState:
    return NamedState(name, tuple(_by_joint(mechanism, q, "nq")), tuple(_by_joint(mechanism, v, "nv")) if v.any() else ())


def _by_joint(mechanism: Mechanism, x: np.ndarray, count: str) -> Iterator[tuple[str, tuple[float, ...]]]:
    sizes = [getattr(joint.kind, count) for joint in mechanism.joints]
    ends = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    for joint, (first, last) in zip(mechanism.joints, pairwise(ends), strict=True):
        if last > first:
            yield joint.name, tuple(0.0 if abs(part) < _ROUNDING else part for part in x[first:last].tolist())


def _away(mechanism: Mechanism, q: np.ndarray) -> bool:
    """Whether coordinates differ from the neutral ones."""
    return not np.allclose(q, [x for joint in mechanism.joints for x in joint.kind.neutral()], rtol=0.0, atol=1e-12)
