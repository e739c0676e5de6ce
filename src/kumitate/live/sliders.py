"""The sliders of joints: their ranges, and the posture that follows when one of them moves, with all loops closed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..analysis import LoopEquations
from ..errors import InputError
from ..model import Limits, Mechanism
from ..simulate.results.columns import joint_columns
from ..simulate.starts import state_by_name

#: A joint may pass a limit by this much, as rounding does [rad, m].
_BEYOND = 1e-9
_LENGTHS = ("position", "length", "x", "y", "z")


class JointSlider(NamedTuple):
    """A slider of one coordinate.

    Attributes:
        name: of the coordinate, as in `Mechanism.q_names`.
        q: its place in q.
        least, most: its limits, infinite where there are none [rad, m].
        lower, upper: the ends of the slider: the limits, or half a turn or the mechanism's size to that side [rad, m].
        turns: whether it is an angle without limits, which is shown without full turns.
        unit: of its numbers, "rad" or "m".
    """

    name: str
    q: int
    least: float
    most: float
    lower: float
    upper: float
    turns: bool
    unit: str

    def shown(self, q: np.ndarray) -> float:
        """Where the slider stands at coordinates (nq)."""
        value = float(q[self.q])
        return float(np.clip(np.remainder(value + np.pi, 2.0 * np.pi) - np.pi if self.turns else value, self.lower, self.upper))

    def meant(self, q: np.ndarray, value: float) -> float:
        """The coordinate of a slider's value, in the turn that is nearest to coordinates (nq)."""
        return value + 2.0 * np.pi * round((float(q[self.q]) - value) / (2.0 * np.pi)) if self.turns else value


def joint_sliders(mechanism: Mechanism) -> list[JointSlider]:
    """The sliders of a mechanism: of all coordinates but those of joints with quaternions, which are dragged instead."""
    found = []
    for joint, kind, q, _ in joint_columns(mechanism):
        if kind.nq != kind.nv:
            continue
        for k, part in enumerate(kind.coordinates):
            limits = joint.limits[k] if joint.limits else Limits()
            least = -np.inf if limits.lower is None else limits.lower
            most = np.inf if limits.upper is None else limits.upper
            length = part in _LENGTHS
            reach = max(mechanism.tree.size, 0.1) if length else np.pi
            lower = least if np.isfinite(least) else min(0.0, most) - reach
            upper = most if np.isfinite(most) else max(0.0, least) + reach
            turns = not length and not np.isfinite([least, most]).any()
            where = q.start + k
            unit = "m" if length else "rad"
            found.append(JointSlider(mechanism.q_names[where], where, least, most, lower, upper, turns, unit))
    return found


def slid(loops: LoopEquations, sliders: list[JointSlider], q: np.ndarray, name: str, value: float) -> np.ndarray:
    """The closed posture (nq) nearest to q with one coordinate at a value.

    Raises:
        InputError: if the loops cannot be closed with it, or another joint would pass a limit that it kept before.
    """
    value = next(one for one in sliders if one.name == name).meant(q, value)
    moved, _ = state_by_name(loops, (q, np.zeros(loops.mechanism.nv)), {name: value}, {}, {})
    for one in sliders:
        if _passed(one, moved) > max(_passed(one, q), _BEYOND):
            raise InputError(
                f"{loops.mechanism.name}: with {name} at {value:.4g}, {one.name} would be at {moved[one.q]:.4g}, outside its "
                f"limits {one.least:.4g} to {one.most:.4g}; move {name} less"
            )
    return moved


def _passed(slider: JointSlider, q: np.ndarray) -> float:
    """By how much a coordinate is outside its limits [rad, m]."""
    return float(max(slider.least - q[slider.q], q[slider.q] - slider.most, 0.0))
