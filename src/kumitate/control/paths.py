"""Motions planned over time: splines, trapezoidal velocities, poses, smooth steps, and pulses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from math import factorial, isqrt
from typing import Any, ClassVar

import numpy as np

from ..compile import Kernel
from ..errors import InputError
from ..model.values import ANY, BOUND, checked_array
from ..scalar import Scalar, Symbol, absolute, both, either, loop, maximum, minimum, select, sin, table, tanh, trace, when
from ..spatial import Vector3, quaternion_exp, quaternion_log, quaternion_product, quaternion_rotation


class PlannedMotion(ABC):
    """A planned motion.

    Called with a number or a symbol it returns an array of one value per component (a plain value for way-points that are
    numbers); with an array of m times, arrays of m rows.

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
        name = type(self).__name__.lower()
        pages = [partial(self._at, order=order) for order in range(self.orders)]
        return [Kernel(trace(page, {"t": ()}, f"{name}_{order}")) for order, page in enumerate(pages)]

    def __deepcopy__(self, memo: dict[int, Any]) -> PlannedMotion:
        return self  # it has no state


#: The part of a limit below which `smooth_clamp` changes nothing.
_KNEE = 0.8


def smooth_step(x: Any, sharpness: float) -> Any:
    """U_s(x) = 1/(1 + e^{−s x}): from 0 to 1 around x = 0, with the slope s/4 there (Y 10.10).

    >>> smooth_step(0.0, 100.0), round(smooth_step(0.05, 100.0), 4)
    (0.5, 0.9933)
    """
    return _each(lambda item: 0.5 + 0.5 * tanh(0.5 * sharpness * item), x)  # the same by tanh, which does not overflow


def smooth_trapezoid(x: Any, center: float, half_width: float, sharpness: float) -> Any:
    """trap(x; x₀, w) with rounded steps: about 1 where |x − x₀| < w, about 0 outside (Y 11.9).

    >>> round(smooth_trapezoid(0.0, 0.0, 0.29, 100.0), 6), round(smooth_trapezoid(0.5, 0.0, 0.29, 100.0), 6)
    (1.0, 0.0)
    """
    return smooth_step((x - center) + half_width, sharpness) * smooth_step(half_width - (x - center), sharpness)


def blend(x: Any, start: float, end: float) -> Any:
    """The fifth-order step from exactly 0 before `start` to exactly 1 after `end`, with two continuous derivatives.

    With `end` before `start` it falls from 1 to 0 instead: a cut-off.

    >>> blend(1.0, 1.0, 3.0), blend(2.0, 1.0, 3.0), blend(5.0, 1.0, 3.0), blend(0.0, 3.0, 1.0)
    (0.0, 0.5, 1.0, 1.0)
    """

    def one(item: Any) -> Any:
        s = maximum(0.0, minimum(1.0, (item - start) / (end - start)))
        return s * s * s * (10.0 + s * (6.0 * s - 15.0))

    return _each(one, x)


def smooth_clamp(x: Any, limit: Any) -> Any:
    """x up to four fifths of the limit; beyond, it approaches ±limit without reaching it.

    Value and slope are continuous; the bend is a tanh.

    >>> smooth_clamp(0.5, 1.0), round(smooth_clamp(50.0, 1.0), 6)
    (0.5, 1.0)
    """

    def one(item: Any, bound: Any) -> Any:
        straight, rest = _KNEE * bound, (1.0 - _KNEE) * bound
        size = absolute(item)
        over = maximum(size - straight, 0.0)
        bent = select(size < straight, size, straight + rest * tanh(over / rest))
        return select(item < 0.0, -bent, bent)

    return _each(one, x, limit)


def _each(function: Callable[..., Any], *values: Any) -> Any:
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
        far, most = np.abs(self._way) > 0.0, list[float]()
        for name, given in (("velocity", velocity), ("acceleration", acceleration)):
            limit = checked_array("a trapezoid", f"the limit of {name}", given, self._way.shape, BOUND)
            if not (limit > 0.0).all():
                raise InputError(f"the limit of {name} is {given}; it must be positive")
            most.append(float((limit[far] / np.abs(self._way[far])).min(initial=np.inf)))
        # rates of the path parameter s, from 0 to 1
        fastest, self._strength = most if far.any() else (1.0, 1.0)
        peak = min(fastest, self._strength**0.5)
        self.rise = peak / self._strength if far.any() else 0.0
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


# --- fifth-order splines through way-points (thesis 5.2, spline5; T-5.2) --------------------------------------------------
#: Coefficients of a polynomial of fifth order.
_TERMS = 6
#: More pieces than these are looked up in tables.
_MANY = 24


class Spline(PlannedMotion):
    """A motion through way-points: polynomials of fifth order, joined with continuous velocity and acceleration.

    Before the first time it rests at the first way-point, after the last time at the last. The independent variable is called
    time here; it may as well be an angle, and the values gains (thesis eq. 6.6).

    Attributes:
        times: (k,), increasing.
        values, velocities, accelerations: (k, n) at these times, chosen ones included.
    """

    orders = _TERMS

    def __init__(self, times: Any, values: Any, *, velocities: Any = None, accelerations: Any = None):
        """The spline through `values` (k, n) or (k,) at `times` (k,).

        Args:
            times: two or more, increasing.
            values: way-points.
            velocities, accelerations: at the way-points, of the shape of `values`; NaN where they are to be chosen. By default
                the ends are at rest and all others are chosen: so that the integral of the squared jerk is least, which makes
                jerk and snap continuous there as well.

        Raises:
            InputError: if times do not increase, or shapes do not fit.

        >>> rise = Spline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
        >>> rise(1.0), abs(rise.velocity(1.0)) < 1e-12, rise(-3.0)
        (1.0, True, 0.0)
        """
        self.times = checked_array("a spline", "the times", times)
        points = checked_array("a spline", "the way-points", values)
        self._plain = points.ndim == 1
        k = len(self.times) if self.times.ndim == 1 else 0
        if k < 2 or not (np.diff(self.times) > 0.0).all() or not np.isfinite(self.times).all():
            raise InputError(f"the times of a spline are {times}; give two or more, each later than the one before")
        if points.shape[:1] != (k,) or points.ndim > 2 or not np.isfinite(points).all():
            raise InputError(f"a spline of {k} times got way-points of shape {points.shape}; give {k} finite rows, a row each")
        self.values = points.reshape(k, -1)
        given = [self._given("velocities", velocities), self._given("accelerations", accelerations)]
        self.velocities, self.accelerations = _least_jerk(self.times, self.values, *given)
        knots = np.stack([self.values, self.velocities, self.accelerations])
        #: (k − 1, 6, n): coefficients of the powers of the time since each piece began.
        self.coefficients = np.array([_piece(h, knots[:, i], knots[:, i + 1]) for i, h in enumerate(np.diff(self.times))])

    @property
    def start(self) -> float:
        """The first time."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """The last time."""
        return float(self.times[-1])

    def _at(self, t: Scalar, order: int) -> list[Scalar]:
        symbolic = isinstance(t, Symbol)
        inside = minimum(maximum(t, self.start), self.end)
        pieces = self.coefficients
        if symbolic and len(pieces) > _MANY:
            since, chosen = self._looked_up(inside)
        elif symbolic:
            since, chosen = inside - self.start, pieces[0].tolist()
            for begin, piece in zip(self.times[1:-1].tolist(), pieces[1:], strict=True):
                later = inside >= begin
                since = select(later, inside - begin, since)
                chosen = [
                    [select(later, b, a) for a, b in zip(row, other, strict=True)]
                    for row, other in zip(chosen, piece.tolist(), strict=True)
                ]
        else:
            k = min(max(bisect_right(self.times.tolist(), inside) - 1, 0), len(pieces) - 1)
            since, chosen = inside - float(self.times[k]), pieces[k].tolist()
        factors = [float(factorial(k) // factorial(k - order)) for k in range(order, _TERMS)]
        rows = [[factor * a for a in row] for factor, row in zip(factors, chosen[order:], strict=True)]
        total: list[Scalar] = rows[-1]
        for row in reversed(rows[:-1]):
            total = [a * since + b for a, b in zip(total, row, strict=True)]
        if order == 0:
            return total
        moving = both(t >= self.start, t <= self.end)
        return [select(moving, x, 0.0) for x in total]

    def _looked_up(self, inside: Scalar) -> tuple[Scalar, list[list[Scalar]]]:
        """The time since a piece began and its coefficients, from tables: first the group of pieces, then the piece in it."""
        count, n = len(self.coefficients), self.coefficients.shape[2]
        found: tuple[Scalar, list[Scalar]] = (0.0, [0.0] * (_TERMS * n))
        for first in range(0, count, group := isqrt(count)):
            last = min(first + group, count)
            here = inside >= float(self.times[first])
            if last < count:
                here = both(here, inside < float(self.times[last]))
            found = when(here, partial(self._of_group, inside, first, last), found)
        return found[0], [found[1][k : k + n] for k in range(0, _TERMS * n, n)]

    def _of_group(self, inside: Scalar, first: int, last: int) -> tuple[Scalar, list[Scalar]]:
        begins, size = self.times[first:last].tolist(), self.coefficients[0].size
        starts, rows = table(begins), table(self.coefficients[first:last].reshape(-1).tolist())

        def later(i: Any, now: tuple[Scalar, list[Scalar]]) -> tuple[tuple[Scalar, list[Scalar]], None]:
            here = inside >= starts[i]
            row = [select(here, rows[i * size + k], old) for k, old in enumerate(now[1])]
            return (select(here, inside - starts[i], now[0]), row), None

        return loop(last - first, later, (0.0, [0.0] * size), varies=True)[0]

    def _given(self, what: str, values: Any) -> np.ndarray:
        if values is None:  # rest at the ends
            found = np.full(self.values.shape, np.nan)
            found[[0, -1]] = 0.0
            return found
        found = checked_array("a spline", f"the {what}", values, rule=ANY)
        wanted = self.values.shape[:1] if self._plain else self.values.shape
        if found.shape != wanted or np.isinf(found).any():
            raise InputError(f"{what} of a spline have shape {found.shape}; they need {wanted}, with NaN where to be chosen")
        return found.reshape(self.values.shape)


def _piece(h: float, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Coefficients (6, n) of the polynomial over a time h between two knots (3, n) of value, velocity and acceleration."""
    p, v, a = start
    P, V, A = end
    away, dv, da = P - p - v * h - 0.5 * a * h * h, (V - v - a * h) * h, (A - a) * h * h
    tail = [10.0 * away - 4.0 * dv + 0.5 * da, -15.0 * away + 7.0 * dv - da, 6.0 * away - 3.0 * dv + 0.5 * da]
    return np.array([p, v, 0.5 * a, tail[0] / h**3, tail[1] / h**4, tail[2] / h**5])


def _least_jerk(
    times: np.ndarray, values: np.ndarray, velocities: np.ndarray, accelerations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Velocities and accelerations (k, n), the free ones minimising ∫ jerk²: a quadratic form of all knots."""
    k, n = values.shape
    form = np.zeros((3 * k, 3 * k))
    for i, h in enumerate(np.diff(times)):
        own = slice(3 * i, 3 * i + 6)
        form[own, own] += _jerk_form(h)
    v, a = velocities.copy(), accelerations.copy()
    for column in range(n):
        knots = np.stack([values[:, column], v[:, column], a[:, column]], axis=1).ravel()
        open_ = np.isnan(knots)
        if open_.any():
            pull = form[np.ix_(open_, ~open_)] @ knots[~open_]
            knots[open_] = -np.linalg.lstsq(form[np.ix_(open_, open_)], pull, rcond=None)[0]
        v[:, column], a[:, column] = knots[1::3], knots[2::3]
    return v, a


def _jerk_form(h: float) -> np.ndarray:
    """Q (6, 6) with ∫ jerk² = xᵀ Q x over one piece, x being value, velocity and acceleration at its start and end."""
    columns = [_piece(h, x[:3, None], x[3:, None])[3:, 0] for x in np.eye(6)]
    C = np.array([6.0, 24.0, 60.0])[:, None] * np.array(columns).T  # jerk = C₀ + C₁ t + C₂ t²
    powers = np.array([[h ** (i + j + 1) / (i + j + 1) for j in range(3)] for i in range(3)])
    return C.T @ powers @ C


#: Number of terms of the series of the two functions below: exact to rounding for angles up to a full turn.
_SERIES = 22


class PoseSpline(PlannedMotion):
    """A motion of a frame through poses, with continuous velocity and acceleration.

    Between two way-points the orientation is that of the first, rotated by a vector whose components are polynomials of fifth
    order; angular velocity and angular acceleration are continuous at the way-points. Before the first and after the
    last time it rests.

    Called with a time or a symbol it gives (qx, qy, qz, qw, x, y, z), the coordinates of a floating joint [m]; with m times, m
    rows. Its velocity is [ω; v] (6), of the frame and of its origin, in the axes that the poses are given in [rad/s, m/s]; its
    acceleration [ω̇; v̇], likewise [rad/s², m/s²].

    Attributes:
        times: (k,); `quaternions`: (k, 4), x y z w; `positions`: a `Spline` (k, 3) [m].
        turnings: angular velocities at the way-points (k, 3), in the axes of the moving frame [rad/s].
    """

    orders = 3
    _plain = False

    def __init__(self, times: Any, quaternions: Any, positions: Any):
        """The spline through orientations (k, 4) and positions (k, 3) at `times` (k,).

        At the way-points angular velocities are zero at the ends and otherwise the mean of the rotations before and after;
        angular accelerations are zero there.

        Args:
            times: two or more, increasing.
            quaternions: x y z w, of unit length; of the two signs, the one nearer to the previous way-point is taken.

        Raises:
            InputError: if shapes do not fit, or quaternions are not of unit length.
        """
        self.positions = Spline(times, positions)
        self.times = self.positions.times
        k = len(self.times)
        self.quaternions = np.array(quaternions, dtype=float)
        if self.quaternions.shape != (k, 4) or self.positions.values.shape != (k, 3):
            raise InputError(
                f"a pose spline of {k} times got quaternions of shape {self.quaternions.shape} and positions of shape "
                f"{np.shape(positions)}; give ({k}, 4) and ({k}, 3)"
            )
        lengths = np.linalg.norm(self.quaternions, axis=1)
        if not np.abs(lengths - 1.0).max() < 1e-6:
            raise InputError(f"the quaternions of a pose spline have the lengths {lengths}; give x y z w of unit length")
        self.quaternions /= lengths[:, None]
        turns = [_between(a, b) for a, b in zip(self.quaternions, self.quaternions[1:], strict=False)]
        steps = np.diff(self.times)
        self.turnings, still = _mean_turnings(turns, steps), np.zeros(3)
        self._turns = []
        for i, (turn, h) in enumerate(zip(turns, steps, strict=True)):
            rate, bend = _turn_rates(turn, self.turnings[i + 1])
            speeds = {"velocities": [self.turnings[i], rate], "accelerations": [still, bend]}
            self._turns.append(Spline([0.0, h], [still, turn], **speeds))

    def _at(self, t: Scalar, order: int) -> list[Scalar]:
        base = self.quaternions[0].tolist()
        parts = [list(self._turns[0].derivative(t - self.positions.start, k)) for k in range(3)]
        for i in range(1, len(self._turns)):
            begin = float(self.times[i])
            later = t >= begin
            own = [list(self._turns[i].derivative(t - begin, k)) for k in range(3)]
            base = [select(later, b, a) for a, b in zip(base, self.quaternions[i].tolist(), strict=True)]
            parts = [[select(later, b, a) for a, b in zip(*pair, strict=True)] for pair in zip(parts, own, strict=True)]
        turn, rate, bend = (Vector3.of(part) for part in parts)
        quaternion = quaternion_product(base, quaternion_exp(turn))
        if order == 0:
            return [*quaternion, *self.positions(t)]
        omega, omega_rate = _turning(turn, rate, bend)
        R = quaternion_rotation(quaternion)
        if order == 1:
            return [*R.rotate(omega), *self.positions.velocity(t)]
        return [*R.rotate(omega_rate), *self.positions.acceleration(t)]  # ω × ω = 0: the rotation of the frame adds nothing


def _between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation vector [rad] from one orientation to another, in the axes of the first."""
    return np.array(list(quaternion_log(quaternion_product([*(-a[:3]), a[3]], b.tolist()))), dtype=float)


def _mean_turnings(turns: Sequence[np.ndarray], steps: np.ndarray) -> np.ndarray:
    """At inner way-points the mean velocity of the two adjacent pieces, weighted to the shorter one; zero at the ends."""
    speeds = np.array([turn / h for turn, h in zip(turns, steps, strict=True)])
    share = (steps[:-1] / (steps[:-1] + steps[1:]))[:, None]
    return np.vstack([np.zeros(3), (1.0 - share) * speeds[:-1] + share * speeds[1:], np.zeros(3)])


def _turn_rates(turn: np.ndarray, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and second rates of the rotation vector of a frame that turns at ω without changing it: inverts `_turning`."""
    r = Vector3.of(turn.tolist())
    zero = Vector3()
    J = np.array([list(_turning(r, Vector3.unit(i), zero)[0]) for i in range(3)]).T
    rate = np.linalg.solve(J, omega)
    rest = np.array(list(_turning(r, Vector3.of(rate.tolist()), zero)[1]))
    return rate, np.linalg.solve(J, -rest)


def _turning(r: Vector3, rate: Vector3, bend: Vector3) -> tuple[Vector3, Vector3]:
    """ω and ω̇ in the axes of the frame that exp(r) orients: ω = ṙ − A r × ṙ + B r × (r × ṙ), A = (1 − cos θ)/θ², θ = |r|."""
    x, growth = r.dot(r), 2.0 * r.dot(rate)
    A, dA = _series(x, 2)
    B, dB = _series(x, 3)
    cross = r.cross(rate)
    omega = rate - cross * A + r.cross(cross) * B
    cross_rate = r.cross(bend)
    omega_rate = (
        bend - cross * (dA * growth) - cross_rate * A
        + r.cross(cross) * (dB * growth) + (rate.cross(cross) + r.cross(cross_rate)) * B
    )  # fmt: skip
    return omega, omega_rate


def _series(x: Scalar, first: int) -> tuple[Scalar, Scalar]:
    """Σ (−x)ᵏ/(2k + first)! and its derivative: (1 − cos θ)/θ² for first = 2, (θ − sin θ)/θ³ for 3, x = θ²."""
    terms = [(-1.0) ** k / factorial(2 * k + first) for k in range(_SERIES)]
    value: Scalar = terms[-1]
    slope: Scalar = 0.0
    for term in reversed(terms[:-1]):
        slope = slope * x + value
        value = value * x + term
    return value, slope


# --- pulses: factors of forces over time ------------------------------------------------------------------------------------
def pulse(start: float, end: float, *, rise: float = 0.0) -> Callable[[Any], Any]:
    """A function of time: one between `start` and `end` [s], zero otherwise.

    Args:
        rise: how long it takes to rise and to fall [s], by fifth-order polynomials that are half way up at `start` and `end`;
            its integral stays end − start. Integrators are only of first order across a jump.

    Raises:
        InputError: if it would have to fall before it has risen.

    >>> on, soft = pulse(1.0, 1.1), pulse(1.0, 1.1, rise=0.01)
    >>> on(0.9), on(1.0), on(1.1), soft(0.995), round(soft(1.0), 9), soft(1.05)
    (0.0, 1.0, 0.0, 0.0, 0.5, 1.0)
    """
    if not 0.0 <= rise < end - start:
        raise InputError(f"a pulse from {start} to {end} s cannot rise for {rise} s; give less than its duration")
    if rise == 0.0:
        return lambda t: select(both(t >= start, t < end), 1.0, 0.0)
    times = [start - rise / 2.0, start + rise / 2.0, end - rise / 2.0, end + rise / 2.0]
    return Spline(times, [0.0, 1.0, 1.0, 0.0], velocities=[0.0] * 4, accelerations=[0.0] * 4)


def half_sine(start: float, end: float) -> Callable[[Any], Any]:
    """A function of time that rises to one and falls again as half a sine, from `start` to `end` [s]; zero otherwise.

    >>> blow = half_sine(1.0, 1.1)
    >>> blow(0.9), round(blow(1.05), 12), blow(1.2)
    (0.0, 1.0, 0.0)

    Raises:
        InputError: if it does not end after its start.
    """
    if not end > start:
        raise InputError(f"a half sine from {start} s to {end} s: it must end after its start. The second number is a time too")
    rate = float(np.pi) / (end - start)
    return lambda t: select(both(t >= start, t < end), sin(rate * (t - start)), 0.0)
