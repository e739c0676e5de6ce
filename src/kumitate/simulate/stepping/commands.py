"""What the drives of joints are commanded: inputs of every simulation of a mechanism with drives."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...analysis import joint_motion
from ...errors import InputError, did_you_mean
from ...model import Command, Mechanism
from ...model.values import checked_array
from .reading import checked_inputs

#: The inputs: "target", "target_velocity" and "feed_forward", each of one value per driven joint.
COMMANDS = Command._fields


def commands_of(
    mechanism: Mechanism, given: Mapping[str, Any], q: np.ndarray, readers: Sequence[Any] | None = None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The commands of a mechanism's drives, none if it has no drives; and all other inputs.

    Args:
        given: inputs by name; a command is an array, a number for all joints, a dictionary by joint, or a function of (t, q, v)
            and other inputs.
        q: coordinates (nq) at the start, which drives with positions as targets hold where nothing else is said.
        readers: all that may read inputs, functions among them, if that is known.

    Raises:
        InputError: for a joint without a drive, values of another shape, or inputs with impossible names; for commands of
            a mechanism without drives that no function reads.
    """
    if not mechanism.driven:
        for name in (name for name in COMMANDS if name in given and readers is not None):
            if not any(_reads(reader, name) for reader in readers or ()):
                raise InputError(
                    f"{mechanism.name}: the input {name!r} is for drives, and no joint has one, nor does a function read it. "
                    "Give joints drives (robot.with_drives), or a controller with a parameter of this name"
                )
        return {}, checked_inputs(mechanism.name, given)
    start = np.array(joint_motion(mechanism, q.tolist(), [0.0] * mechanism.nv)[0], dtype=float)
    held = np.array([start[joint.q] if joint.drive.holds else 0.0 for joint in mechanism.driven])
    own = {name: held if name == "target" else np.zeros(len(held)) for name in COMMANDS}
    commands = {}
    for name, otherwise in own.items():
        value = given.get(name)
        commands[name] = value if callable(value) else command_values(mechanism, name, value, otherwise)
    others = {name: value for name, value in given.items() if name not in COMMANDS}
    return commands, checked_inputs(mechanism.name, others)


def command_values(mechanism: Mechanism, name: str, given: Any, otherwise: np.ndarray) -> np.ndarray:
    """The values (k) of a command; `otherwise` holds those of joints of which nothing is said.

    Raises:
        InputError: for a joint without a drive, with the closest one that has one; or for values of another shape.
    """
    values, driven = otherwise.copy(), {joint.name: k for k, joint in enumerate(mechanism.driven)}
    if given is None:
        return values
    what = f"the input {name!r}"
    if not isinstance(given, Mapping):
        array = checked_array(mechanism.name, f"{what}, one value for each of {', '.join(driven)},", given, values.shape)
        return np.array(array, dtype=float)
    for joint, value in given.items():
        if joint not in driven:
            raise InputError(
                f"{mechanism.name}: {what} names {joint!r}, which is not a joint with a drive"
                f"{did_you_mean(joint, driven, lead=', ')}. Drives are in {', '.join(driven)}"
            )
        values[driven[joint]] = checked_array(mechanism.name, f"{what} of {joint!r}", value, ())
    return values


def _reads(reader: Any, name: str) -> bool:
    """Whether a function has a parameter of this name."""
    try:
        return callable(reader) and name in inspect.signature(reader).parameters
    except (TypeError, ValueError):  # some compiled functions tell nothing of their parameters
        return True
