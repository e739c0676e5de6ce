"""Trapezoidal velocity profiles: from rest to rest as fast as limits of velocity and acceleration allow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ...model.values import BOUND, checked_array
from ...scalar import Scalar, both, either, maximum, minimum, select
from .planned import PlannedMotion


class Trapezoid(PlannedMotion):
    """A straight motion from rest to rest: constant acceleration, constant velocity, constant deceleration.

    All components start and stop together, along the straight line; the slowest one is at its limits. Short distances have a
    triangular profile. Called like a `Spline`; the acceleration jumps, at the ends too.

    Attributes:
        begin, end: times [s]; `rise`: duration of the acceleration, and of the deceleration [s].
    """

    orders = 3

    def __init__(self, start: Any, goal: Any, *, velocity: Any, acceleration: Any, begin: float = 0.0):
        """The motion from `start` (n) to `goal` (n), numbers or arrays.

        Args:
            velocity, acceleration: limits, one for all components or (n), positive.
            begin: time [s].

        Raises:
            InputError: if shapes do not fit, or a limit is not positive.

        >>> move = Trapezoid(0.0, 1.0, velocity=0.5, acceleration=1.0)
        >>> move.end, move(move.end / 2.0), move.velocity(1.0)
        (2.5, 0.5, 0.5)
        """
        first, last = checked_array("a trapezoid", "the start", start), checked_array("a trapezoid", "the goal", goal)
        if first.shape != last.shape or first.ndim > 1:
            raise InputError(f"start has shape {first.shape} and goal {last.shape}; give two numbers, or two of n components")
        self._plain = first.ndim == 0
        self.start, self.goal = np.atleast_1d(first), np.atleast_1d(last)
        self._way = self.goal - self.start
        limits = {}
        for name, limit in (("velocity", velocity), ("acceleration", acceleration)):
            limits[name] = checked_array("a trapezoid", f"the limit of {name}", limit, self._way.shape, BOUND)
            if not (limits[name] > 0.0).all():
                raise InputError(f"the limit of {name} is {limit}; it must be positive")
        far = np.abs(self._way) > 0.0
        fastest, strongest = (
            float((limits[name][far] / np.abs(self._way[far])).min(initial=np.inf)) for name in ("velocity", "acceleration")
        )
        if not far.any():
            fastest = strongest = 1.0
        # rates of the path parameter s, from 0 to 1
        peak = min(fastest, strongest**0.5)
        self._strength = strongest
        self.rise = peak / strongest if far.any() else 0.0
        self.begin = float(begin)
        self.end = self.begin + (1.0 / peak + self.rise if far.any() else 0.0)

    @property
    def duration(self) -> float:
        """[s]."""
        return self.end - self.begin

    def _at(self, t: Scalar, order: int) -> list[Scalar]:
        """Sums over the three phases of acceleration, constant velocity and deceleration; each time runs from 0 to its end."""
        since, brake = t - self.begin, self.duration - self.rise
        up = maximum(0.0, minimum(since, self.rise))
        down = maximum(0.0, minimum(since - brake, self.rise))
        if order == 0:
            cruise = maximum(0.0, minimum(since - self.rise, brake - self.rise))
            lost = self.rise - down
            slowed = 0.5 * (self.rise * self.rise - lost * lost)
            s = self._strength * (0.5 * up * up + self.rise * cruise + slowed)
            return [a + way * s for a, way in zip(self.start.tolist(), self._way.tolist(), strict=True)]
        if order == 1:
            rate = self._strength * (up - down)
            return [way * rate for way in self._way.tolist()]
        speeding = both(since >= 0.0, since < self.rise)
        slowing = both(since > brake, since <= self.duration)
        forced = select(either(speeding, slowing), select(speeding, self._strength, -self._strength), 0.0)
        return [way * forced for way in self._way.tolist()]
