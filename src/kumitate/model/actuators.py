"""Actuators of robot files in their own order, and the targets of our drives that their controls stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..scalar.arrays import clip


class Actuator(NamedTuple):
    """An actuator of a robot file, or of MuJoCo's model.

    Attributes:
        name: its own, or "actuator_2" of the one of number 2, counted from 0.
        joint: that it drives.
        gear: the ratio of its length and the joint's coordinate.
        lower, upper: within which its control is clipped; infinite without a range.
        scale, offset: the drive's target is scale · control + offset.
        fault: why there is no such drive here, or "".
    """

    name: str
    joint: str
    gear: float
    lower: float
    upper: float
    scale: float = 0.0
    offset: float = 0.0
    fault: str = ""


def drive_targets(
    owner: str, source: str, actuators: Sequence[Actuator], driven: Sequence[str], controls: Any, remedy: str
) -> Any:
    """The targets (..., driven) of drives for controls (..., actuators), clipped to their ranges; also while tracing.

    `source`: what has named the actuators.

    Raises:
        InputError: with the remedy, if an actuator has no drive, or a drive no actuator; for controls of another shape.
    """
    faults = [f"{one.name!r}: {one.fault}" for one in actuators if one.fault]
    joints = [one.joint for one in actuators]
    faults += [f"{name!r} has a drive here that no actuator is" for name in driven if name not in joints]
    if faults or not actuators:
        why = "; ".join(faults) or f"{source} has named no actuators"
        raise InputError(f"{owner}: controls cannot be converted: {why}. {remedy}")
    size = np.shape(controls)[-1:]
    if size != (len(joints),):
        names = ", ".join(one.name for one in actuators)
        raise InputError(f"{owner}: ctrl has shape {np.shape(controls)}; it must be (..., {len(joints)}): {names}")
    at = [joints.index(name) for name in driven]
    lower, upper, scale, offset = np.array([actuators[k][3:7] for k in at]).T
    return clip(np.asarray(controls)[..., at], lower, upper) * scale + offset
