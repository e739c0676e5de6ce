"""Fifth-order splines through poses: positions by polynomials, orientations by polynomials of rotation vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import factorial
from typing import Any

import numpy as np

from ...compile import Kernel
from ...errors import InputError
from ...scalar import Scalar, Symbol, select, trace
from ...spatial import Vector3, quaternion_exp, quaternion_log, quaternion_product, quaternion_rotation
from .spline import Spline

#: Number of terms of the series of the two functions below: exact to rounding for angles up to a full turn.
_TERMS = 22


class PoseSpline:
    """A motion of a frame through poses, with continuous velocity and acceleration.

    Between two way-points the orientation is that of the first, rotated by a vector whose components are polynomials of fifth
    order; angular velocity and angular acceleration are continuous at the way-points. Before the first and after the
    last time it rests.

    Called with a time or a symbol it gives (qx, qy, qz, qw, x, y, z), the coordinates of a floating joint; with m times, m
    rows.

    Attributes:
        times: (k,); `quaternions`: (k, 4), x y z w; `positions`: a `Spline` (k, 3) [m].
        turnings, turning_rates: angular velocities [rad/s] and accelerations [rad/s²] at the way-points (k, 3), in the axes of
            the moving frame.
    """

    def __init__(
        self,
        times: Any,
        quaternions: Any,
        positions: Any,
        *,
        turnings: Any = None,
        velocities: Any = None,
        accelerations: Any = None,
    ):
        """The spline through orientations (k, 4) and positions (k, 3) at `times` (k,).

        Args:
            times: two or more, increasing.
            quaternions: x y z w, of unit length; of the two signs, the one nearer to the previous way-point is taken.
            turnings: angular velocities (k, 3) at the way-points, in the axes of the moving frame; by default zero at the ends
                and otherwise the mean of the rotations before and after. Angular accelerations are zero there.
            velocities, accelerations: of the positions, as in `Spline`.

        Raises:
            InputError: if shapes do not fit, or quaternions are not of unit length.
        """
        self.positions = Spline(times, positions, velocities=velocities, accelerations=accelerations)
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
        self.turnings = _mean_turnings(turns, steps) if turnings is None else np.array(turnings, dtype=float)
        if self.turnings.shape != (k, 3):
            raise InputError(f"turnings of a pose spline have shape {self.turnings.shape}; give ({k}, 3)")
        self.turning_rates = np.zeros((k, 3))
        self._turns = []
        for i, (turn, h) in enumerate(zip(turns, steps, strict=True)):
            rates = _turn_rates(turn, self.turnings[i + 1], self.turning_rates[i + 1])
            self._turns.append(
                Spline(
                    [0.0, h], [np.zeros(3), turn], velocities=[self.turnings[i], rates[0]],
                    accelerations=[self.turning_rates[i], rates[1]],
                )
            )  # fmt: skip

    def __call__(self, t: Any) -> Any:
        """The pose (7) at `t`: quaternion x y z w, then position [m]."""
        return self._evaluated(t, 0)

    def velocity(self, t: Any) -> Any:
        """[ω; v] (6) at `t`: of the frame and of its origin, in the axes that the poses are given in [rad/s, m/s]."""
        return self._evaluated(t, 1)

    def acceleration(self, t: Any) -> Any:
        """[ω̇; v̇] (6) at `t`, likewise [rad/s², m/s²]."""
        return self._evaluated(t, 2)

    def _evaluated(self, t: Any, order: int) -> Any:
        if np.ndim(t):
            return self._kernels[order](np.asarray(t, dtype=float))
        symbolic = isinstance(t, Symbol)
        return np.array(self._at(t if symbolic else float(t), order), dtype=object if symbolic else float)

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

    @cached_property
    def _kernels(self) -> list[Kernel]:
        def kernel(order: int) -> Kernel:
            return Kernel(trace(lambda t: self._at(t, order), {"t": ()}, f"pose_spline_{order}"))

        return [kernel(order) for order in range(3)]

    def __deepcopy__(self, memo: dict[int, Any]) -> PoseSpline:
        return self  # it has no state


def _between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation vector [rad] from one orientation to another, in the axes of the first."""
    return np.array(list(quaternion_log(quaternion_product([*(-a[:3]), a[3]], b.tolist()))), dtype=float)


def _mean_turnings(turns: Sequence[np.ndarray], steps: np.ndarray) -> np.ndarray:
    """At inner way-points the mean velocity of the two adjacent pieces, weighted to the shorter one; zero at the ends."""
    speeds = np.array([turn / h for turn, h in zip(turns, steps, strict=True)])
    share = (steps[:-1] / (steps[:-1] + steps[1:]))[:, None]
    return np.vstack([np.zeros(3), (1.0 - share) * speeds[:-1] + share * speeds[1:], np.zeros(3)])


def _turn_rates(turn: np.ndarray, omega: np.ndarray, omega_rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and second rates of the rotation vector of a frame with angular velocity ω and ω̇: the inverse of `_turning`."""
    r = Vector3.of(turn.tolist())
    zero = Vector3()
    J = np.array([list(_turning(r, Vector3.unit(i), zero)[0]) for i in range(3)]).T
    rate = np.linalg.solve(J, omega)
    rest = np.array(list(_turning(r, Vector3.of(rate.tolist()), zero)[1]))
    return rate, np.linalg.solve(J, omega_rate - rest)


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
    terms = [(-1.0) ** k / factorial(2 * k + first) for k in range(_TERMS)]
    value: Scalar = terms[-1]
    slope: Scalar = 0.0
    for term in reversed(terms[:-1]):
        slope = slope * x + value
        value = value * x + term
    return value, slope
