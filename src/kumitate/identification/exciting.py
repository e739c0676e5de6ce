"""Exciting trajectories: motions that show the base parameters as evenly as the limits of the joints allow.

Each joint moves by a Fourier series, so that its accelerations are known without differentiation and averages over periods
remove noise: Swevers, Ganseman, Tükel, De Schutter, Van Brussel, Optimal robot excitation and identification, IEEE Trans.
Robotics and Automation 13(5), 1997. The amplitudes minimise the condition number of the regressor, with columns of unit length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..model import Limits, Mechanism
from ..model.joints.contract import sort_of
from ..model.values import POSITIVE, checked_number
from ..robot import Robot
from .base_parameters import BaseParameters, Unknowns, base_parameters, unknowns_of
from .equations import regressor_rows

#: What joints without limits keep: distance to the start [rad, m], velocity [rad/s, m/s].
_FREE = {"angle": (1.5, 3.0), "length": (0.3, 1.0)}
#: The part of limits that is used.
_MARGIN = 0.95
#: States of a period at which the regressor is evaluated while searching.
_STATES = 40
#: Random series of which the best is improved.
_FIRST = 30


@dataclass(frozen=True, eq=False)
class Excitation:
    """A periodic motion, at rest with zero acceleration at the beginning and the end of each period.

    Attributes:
        period: [s].
        center: (nq), what the series is added to [rad, m].
        amplitudes: (nv, harmonics, 2), of sine and cosine of the velocities [rad/s, m/s].
        condition: the condition number of the regressor of the base parameters, with columns of unit length.
    """

    period: float
    center: np.ndarray
    amplitudes: np.ndarray
    condition: float

    def __call__(self, t: float | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The coordinates, velocities and accelerations (..., nv) at the times t (...) [s]."""
        q, v, a = _series(self.amplitudes, self.period, np.asarray(t, dtype=float))
        return self.center + q, v, a


def exciting_trajectory(
    robot: Robot | Mechanism, *, find: Sequence[str] = ("inertia:*",), period: float = 10.0, harmonics: int = 5,
    trials: int = 400, seed: int = 0,
) -> Excitation:  # fmt: skip
    """A motion within the limits of position and velocity whose log shows the parameters well.

    Contact between bodies is not looked at: simulate the motion, or look at it, before a robot makes it.

    Args:
        find: as of `identify`.
        period: [s]; `harmonics`: the highest multiple of its frequency.
        trials: motions that are compared; `seed`: of the random numbers.

    Joints without limits stay within 1.5 rad or 0.3 m of the robot's start, below 3 rad/s or 1 m/s.

    Raises:
        InputError: for joints whose coordinates are not angles and lengths, closed loops, or joints without room to move.
    """
    robot = robot if isinstance(robot, Robot) else Robot(robot)
    period = checked_number("exciting_trajectory", "the period [s]", period, POSITIVE, error=InputError)
    if not isinstance(harmonics, int) or harmonics < 3:
        raise InputError(f"exciting_trajectory: {harmonics!r} harmonics; begin and end at rest need 3 or more, a whole number")
    unknowns = unknowns_of(robot.mechanism, find)
    search = _Search(robot, unknowns, base_parameters(unknowns), period, harmonics)
    rng = np.random.default_rng(seed)
    best = min((search.tried(rng.normal(size=search.shape)) for _ in range(_FIRST)), key=lambda tried: tried[0])
    step = 0.3
    for _ in range(max(0, trials - _FIRST)):  # (1 + 1) evolution: longer steps after a success, shorter ones after failures
        tried = search.tried(best[1] + step * rng.normal(size=search.shape))
        better = tried[0] < best[0]
        best, step = (tried, step * 1.5) if better else (best, max(step * 0.92, 1e-3))
    condition, series = best
    center, amplitudes = search.within_limits(series)
    return Excitation(period, center, amplitudes, condition)


class _Search:
    """Series that are scaled into the limits, and the condition numbers of their regressors."""

    def __init__(self, robot: Robot, unknowns: Unknowns, base: BaseParameters, period: float, harmonics: int):
        mechanism = robot.mechanism
        self.mechanism, self.columns, self.period = mechanism, unknowns.columns @ base.H, period
        self.shape = (mechanism.nv, harmonics, 2)
        _check_joints(mechanism)
        sorts = [sort_of(name) for joint in mechanism.joints for name in joint.kind.velocities]  # type: ignore[union-attr]
        limits = [limit for joint in mechanism.joints for limit in joint.limits]
        ranges = [_range(limit, start, sort) for limit, start, sort in zip(limits, robot.start[0].tolist(), sorts, strict=True)]
        self.low, self.high, self.fastest = np.array(ranges).reshape(-1, 3).T
        for name, low, high in zip(mechanism.v_names, self.low, self.high, strict=True):
            if not low < high:
                raise InputError(f"exciting_trajectory: joint {name!r} cannot move between {low} and {high}; `lock` it")
        self.times = np.linspace(0.0, period, _STATES, endpoint=False)
        self.fine = np.linspace(0.0, period, 60 * harmonics)

    def within_limits(self, series: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The center, and the series at rest at its ends, as large as limits allow."""
        order = np.arange(1, self.shape[1] + 1)
        series = series.copy()
        series[..., 0] -= series[..., 0] @ order[:, None] * order / (order @ order)  # no acceleration at the ends
        series[..., 1] -= series[..., 1].mean(axis=1, keepdims=True)  # no velocity at the ends
        q, v, _ = _series(series, self.period, self.fine)
        width, speed = q.max(axis=0) - q.min(axis=0), np.abs(v).max(axis=0)
        scale = _MARGIN * np.minimum((self.high - self.low) / width, self.fastest / speed)
        middle = 0.5 * (self.low + self.high) - scale * 0.5 * (q.max(axis=0) + q.min(axis=0))
        return middle, series * scale[:, None, None]

    def tried(self, series: np.ndarray) -> tuple[float, np.ndarray]:
        """The condition number, and the series."""
        center, amplitudes = self.within_limits(series)
        q, v, a = _series(amplitudes, self.period, self.times)
        Y = regressor_rows(self.mechanism, center + q, v, a)
        rows = Y.reshape(-1, Y.shape[-1]) @ self.columns
        lengths = np.linalg.norm(rows, axis=0)
        if not lengths.size or lengths.min() == 0.0:
            return np.inf, series
        return float(np.linalg.cond(rows / lengths)), series


def _series(amplitudes: np.ndarray, period: float, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q (from the one at t = 0), v and a (..., nv) of the series v = Σ s_k sin(kωt) + c_k cos(kωt)."""
    rate = 2.0 * np.pi / period * np.arange(1, amplitudes.shape[1] + 1)
    s, c = amplitudes[..., 0], amplitudes[..., 1]
    sin, cos = np.sin(t[..., None] * rate), np.cos(t[..., None] * rate)
    q = (1.0 - cos) @ (s / rate).T + sin @ (c / rate).T
    return q, sin @ s.T + cos @ c.T, cos @ (s * rate).T - sin @ (c * rate).T


def _check_joints(mechanism: Mechanism) -> None:
    if mechanism.tree.closed:
        closing = [*(loop.name for loop in mechanism.loops), *(coupling.name for coupling in mechanism.couplings)]
        raise InputError(
            f"exciting_trajectory: {mechanism.name} has loops or couplings ({', '.join(closing)}), whose joints cannot move "
            "freely. Lock these (`robot.locked`), or plan the motion yourself"
        )
    for joint in mechanism.joints:
        if joint.kind.nq != joint.kind.nv or joint.kind.nv == 6:  # type: ignore[union-attr]
            raise InputError(
                f"exciting_trajectory: joint {joint.name!r} is {joint.kind.name}: no series of drives moves it through given "
                "orientations. Fix it (`lock`), or plan the motion yourself"
            )


def _range(limit: Limits, start: float, sort: str) -> tuple[float, float, float]:
    """The lowest and highest coordinate, and the highest speed."""
    reach, speed = _FREE[sort]
    low = limit.lower if limit.lower is not None else (start if limit.upper is None else min(start, limit.upper)) - reach
    high = limit.upper if limit.upper is not None else max(start, low) + reach
    return low, high, limit.velocity if limit.velocity is not None else speed
