"""Walking straight ahead on flat ground: trajectories of the feet and of the zero-moment point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

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


# --- the linear inverted pendulum: the motion of the center of mass for a given zero-moment point -------------------------
# A center of mass that stays at one height z above the floor, of a body that does not change its angular momentum, obeys
# ẍ = ω²(x − p) with ω² = g/z, p being the zero-moment point (Kajita et al. 2003). Split into ξ = x + ẋ/ω, which diverges, and
# x, which follows ξ, it has exactly one solution that stays with p: ξ̇ = ω(ξ − p) is solved backwards in time (Takenaka et al.
# 2009).


class MassCenterPlan(NamedTuple):
    """A horizontal motion of the center of mass: position [m], velocity [m/s], acceleration [m/s²], shaped like zmp."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def mass_center_plan(times: Any, zmp: Any, height: float, gravity: float = 9.81) -> MassCenterPlan:
    """The bounded motion of the center of mass for a zero-moment point, exact for one that is piecewise linear.

    Args:
        times: (n,) [s], increasing; before the first and after the last the zero-moment point rests.
        zmp: p (n,) or (n, k) [m].
        height: z of the center of mass above the floor [m]; gravity: g > 0 [m/s²].

    Raises:
        InputError: if the times do not increase, shapes do not fit, or height and gravity are not positive.

    In the middle of a slow shift of p the center of mass is in the middle too; while p rests for long, it rests above p:

    >>> plan = mass_center_plan([0.0, 3.0, 4.0, 7.0], [0.0, 0.0, 0.1, 0.1], height=0.25)
    >>> [round(float(x), 6) for x in plan.position]
    [0.0, 0.007967, 0.092033, 0.1]
    """
    t, p = np.asarray(times, dtype=float), np.asarray(zmp, dtype=float)
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0.0).all() or p.shape[:1] != t.shape:
        raise InputError(
            f"a zero-moment point of shape {p.shape} at times of shape {t.shape}; give increasing times, a row each"
        )
    if not (height > 0.0 and gravity > 0.0):
        raise InputError(f"the height is {height} m and gravity {gravity} m/s²; both must be positive")
    omega = float(np.sqrt(gravity / height))
    h = np.diff(t)
    lead = (np.diff(p, axis=0).T / (h * omega)).T  # ξ − p for a p of constant velocity
    decay = np.exp(-omega * h)
    ahead = np.empty_like(p)  # ξ
    ahead[-1] = p[-1]
    for k in reversed(range(len(h))):
        ahead[k] = p[k] + lead[k] + (ahead[k + 1] - p[k + 1] - lead[k]) * decay[k]
    x = np.empty_like(p)
    x[0] = 0.5 * (p[0] + ahead[0])  # the value if p has always been at rest
    for k in range(len(h)):
        away = ahead[k] - p[k] - lead[k]
        growing = 0.5 * (ahead[k + 1] - p[k + 1] - lead[k])
        x[k + 1] = p[k + 1] + growing + (x[k] - p[k] - 0.5 * away) * decay[k]
    return MassCenterPlan(x, omega * (ahead - x), omega**2 * (x - p))
