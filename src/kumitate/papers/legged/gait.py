"""Walking straight ahead on flat ground: trajectories of the feet and of the zero-moment point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...control.paths import Spline
from ...errors import InputError


@dataclass(frozen=True, eq=False)
class FootPlan:
    """Two flat feet, and the zero-moment point between them.

    Attributes:
        left, right: positions of the feet's frames over time (3) [m]; their axes stay those of the world.
        times: knots of the zero-moment point [s]; `zmp`: its positions there (k, 2) [m], linear in between.
        loads: the parts of the weight on the left and right foot at these times (k, 2), linear in between.
    """

    left: Spline
    right: Spline
    times: np.ndarray
    zmp: np.ndarray
    loads: np.ndarray

    def zmp_at(self, t: np.ndarray) -> np.ndarray:
        """The zero-moment point at times (n): (n, 2) [m]."""
        return np.column_stack([np.interp(t, self.times, column) for column in self.zmp.T])

    def loads_at(self, t: np.ndarray) -> np.ndarray:
        """The feet's parts of the weight at times (n): (n, 2)."""
        return np.column_stack([np.interp(t, self.times, column) for column in self.loads.T])


@dataclass(frozen=True)
class Gait:
    """Steps of equal length, alternating, the left foot first; the last one brings the feet side by side.

    Attributes:
        steps: the number of steps, 2 or more.
        stride: the advance of the center of mass per step [m]; a foot swings twice as far.
        lift: the height of the swing foot [m].
        single, double: durations of the single-support and double-support phases [s].
        rest: the standing time at either end [s]; during half of it the weight shifts.
    """

    steps: int = 12
    stride: float = 0.04
    lift: float = 0.02
    single: float = 0.4
    double: float = 0.1
    rest: float = 1.0

    def __post_init__(self) -> None:
        lengths = (self.lift, self.single, self.double, self.rest)
        if self.steps < 2 or not all(length > 0.0 for length in lengths):
            raise InputError(f"{self} cannot be walked: it needs 2 steps or more, and a lift and times above zero")

    @property
    def duration(self) -> float:
        """The duration of the whole walk [s]."""
        return 2.0 * self.rest + self.steps * self.single + (self.steps - 1) * self.double

    def plan(self, left: np.ndarray, right: np.ndarray, sole: tuple[float, float]) -> FootPlan:
        """The walk that starts with the feet's frames at these positions, (3) each [m].

        Args:
            sole: the zero-moment point in single support, forward and inward of the foot's frame [m].
        """
        feet = np.array([left, right], dtype=float)
        inward = np.sign(feet[1, 1] - feet[0, 1]) * sole[1]
        soles = np.array([[sole[0], inward], [sole[0], -inward]])
        middle, evenly = (feet[:, :2] + soles).mean(axis=0), (0.5, 0.5)
        turns = [(0.0, middle, evenly), (0.5 * self.rest, middle, evenly)]
        knots = [[(0.0, foot.copy(), 0.0)] for foot in feet]  # of each foot: time, place, whether it rests there
        now = self.rest
        for k in range(self.steps):
            swing, stance = k % 2, 1 - k % 2
            under, alone = feet[stance, :2] + soles[stance], (float(stance == 0), float(stance == 1))
            turns += [(now, under, alone), (now + self.single, under, alone)]
            start = feet[swing].copy()
            feet[swing, 0] += self.stride * (2.0 if 0 < k < self.steps - 1 else 1.0)
            top = 0.5 * (start + feet[swing]) + [0.0, 0.0, self.lift]
            knots[swing] += [(now, start, 0.0), (now + 0.5 * self.single, top, np.nan)]
            knots[swing] += [(now + self.single, feet[swing].copy(), 0.0)]
            now += self.single + self.double
        middle = (feet[:, :2] + soles).mean(axis=0)
        turns += [(self.duration - 0.5 * self.rest, middle, evenly), (self.duration, middle, evenly)]
        splines = [_spline([*of_foot, (self.duration, foot, 0.0)]) for of_foot, foot in zip(knots, feet, strict=True)]
        times, zmp, loads = (np.array(column) for column in zip(*turns, strict=True))
        return FootPlan(splines[0], splines[1], times, zmp, loads)


def _spline(knots: list[tuple[float, np.ndarray, float]]) -> Spline:
    """The spline through positions, at rest in all but those marked by NaN, where only its vertical velocity is zero."""
    times, places, rests = (np.array(column) for column in zip(*knots, strict=True))
    rates = np.repeat(rests[:, None], 3, axis=1)
    climbs = rates.copy()
    climbs[:, 2] = 0.0  # at the top it neither rises nor falls
    return Spline(times, places, velocities=climbs, accelerations=rates)
