"""Timing of planned motions: functions of time with derivatives, limits, and trapezoidal profiles (Y 10.8-10.10, 11.9)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...compile import Kernel
from ...errors import InputError
from ...model.values import BOUND, checked_array
from ...scalar import Scalar, Symbol, absolute, both, either, maximum, minimum, select, tanh, trace


class PlannedMotion(ABC):
    """A planned motion.

    Called with a number or a symbol it returns an array of one value per component (a plain value if `_plain`); with an array
    of m times, arrays of m rows.

    Attributes:
        orders: the number of orders of derivatives, the values included.
    """

    orders: ClassVar[int]
    _plain: bool

    @abstractmethod
    def _at(self, t: Scalar, order: int) -> list[Scalar]:
        """The derivative of this order at a time, a number or a symbol."""

    def __call__(self, t: Any) -> Any:
        """The values at `t`."""
        return self.derivative(t, 0)

    def velocity(self, t: Any) -> Any:
        """The first derivative at `t`."""
        return self.derivative(t, 1)

    def acceleration(self, t: Any) -> Any:
        """The second derivative at `t`."""
        return self.derivative(t, 2)

    def derivative(self, t: Any, order: int) -> Any:
        """The derivative of an order below `orders` at `t`; outside its duration a motion rests, and derivatives are zero."""
        if np.ndim(t):
            rows = self._kernels[order](np.asarray(t, dtype=float))
            return rows[..., 0] if self._plain else rows
        found = self._at(t if isinstance(t, Symbol) else float(t), order)
        return found[0] if self._plain else np.array(found, dtype=object if isinstance(t, Symbol) else float)

    @cached_property
    def _kernels(self) -> list[Kernel]:
        def kernel(order: int) -> Kernel:
            return Kernel(trace(lambda t: self._at(t, order), {"t": ()}, f"{type(self).__name__.lower()}_{order}"))

        return [kernel(order) for order in range(self.orders)]

    def __deepcopy__(self, memo: dict[int, Any]) -> PlannedMotion:
        return self  # it has no state


Values = Any


def smooth_step(x: Values, sharpness: float) -> Values:
    """U_s(x) = 1/(1 + e^{−s x}): from 0 to 1 around x = 0, with the slope s/4 there (Y 10.10).

    >>> smooth_step(0.0, 100.0), round(smooth_step(0.05, 100.0), 4)
    (0.5, 0.9933)
    """
    return _each(lambda item: 0.5 + 0.5 * tanh(0.5 * sharpness * item), x)  # the same by tanh, which does not overflow


def smooth_trapezoid(x: Values, center: float, half_width: float, sharpness: float) -> Values:
    """trap(x; x₀, w) with rounded steps: about 1 where |x − x₀| < w, about 0 outside (Y 11.9).

    >>> round(smooth_trapezoid(0.0, 0.0, 0.29, 100.0), 6), round(smooth_trapezoid(0.5, 0.0, 0.29, 100.0), 6)
    (1.0, 0.0)
    """
    return smooth_step((x - center) + half_width, sharpness) * smooth_step(half_width - (x - center), sharpness)


def blend(x: Values, start: float, end: float) -> Values:
    """The fifth-order step from exactly 0 before `start` to exactly 1 after `end`, with two continuous derivatives.

    With `end` before `start` it falls from 1 to 0 instead: a cut-off.

    >>> blend(1.0, 1.0, 3.0), blend(2.0, 1.0, 3.0), blend(5.0, 1.0, 3.0), blend(0.0, 3.0, 1.0)
    (0.0, 0.5, 1.0, 1.0)
    """

    def one(item: Any) -> Any:
        s = maximum(0.0, minimum(1.0, (item - start) / (end - start)))
        return s * s * s * (10.0 + s * (6.0 * s - 15.0))

    return _each(one, x)


def clamp(x: Values, low: Values, high: Values) -> Values:
    """x limited to between `low` and `high`, with corners.

    >>> clamp(np.array([-3.0, 0.5]), -1.0, 1.0)
    array([-1. ,  0.5])
    """
    return _each(lambda item, below, above: maximum(below, minimum(above, item)), x, low, high)


def smooth_clamp(x: Values, limit: Values, *, knee: float = 0.8) -> Values:
    """x up to `knee` times the limit; beyond, it approaches ±limit without reaching it.

    Value and slope are continuous; the bend is a tanh. Below the knee nothing changes.

    >>> smooth_clamp(0.5, 1.0), round(smooth_clamp(50.0, 1.0), 6)
    (0.5, 1.0)
    """

    def one(item: Any, bound: Any) -> Any:
        straight, rest = knee * bound, (1.0 - knee) * bound
        size = absolute(item)
        over = maximum(size - straight, 0.0)
        bent = select(size < straight, size, straight + rest * tanh(over / rest))
        return select(item < 0.0, -bent, bent)

    return _each(one, x, limit)


def _each(function: Callable[..., Any], *values: Values) -> Values:
    """A function of scalars applied to scalars, or to all entries of arrays, broadcast against each other."""
    if not any(isinstance(value, np.ndarray | list | tuple) for value in values):
        return function(*values)
    arrays = np.broadcast_arrays(*(np.asarray(value) for value in values))
    flat = [function(*items) for items in zip(*(array.ravel().tolist() for array in arrays), strict=True)]
    dtype = object if any(array.dtype == object for array in arrays) else float
    return np.array(flat, dtype=dtype).reshape(arrays[0].shape)


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
