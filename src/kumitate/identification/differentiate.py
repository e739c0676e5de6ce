"""Velocities and accelerations of a log, by polynomials through the samples around each one, by least squares.

Savitzky, Golay, Smoothing and differentiation of data by simplified least squares procedures, Analytical Chemistry 36(8), 1964;
here for any spacing of the samples, and on the manifold: of coordinates, the differences to those at the sample are smoothed.
Smoothing is without delay, since the samples on both sides count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..robot import Robot
from .log import MotionLog

#: The degree of the polynomials; they need more samples than this.
DEGREE = 4
#: Samples that are smoothed at a time.
_BLOCK = 512


class States(NamedTuple):
    """Coordinates (n, nq), velocities and accelerations (n, nv) of a log."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


def states_of(robot: Robot, log: MotionLog, window: int) -> States:
    """The states of a log and its accelerations; those that the log gives are taken as they are.

    Args:
        window: the number of samples around each one that a polynomial goes through.
    """
    if log.a is not None and log.v is not None:
        return States(log.q, log.v, log.a)

    def around(k: np.ndarray, near: np.ndarray) -> np.ndarray:
        return np.asarray(robot.difference(log.q[k][:, None, :], log.q[near]))

    shift, slope = _fitted(log.time, around, window)
    v = slope
    if log.v is not None:
        measured = log.v
        v, slope = _fitted(log.time, lambda k, near: measured[near], window)
    else:
        _, slope = _fitted(log.time, lambda k, near: v[near], window)
    return States(robot.integrate(log.q, shift), v, slope)


def _fitted(
    time: np.ndarray, around: Callable[[np.ndarray, np.ndarray], np.ndarray], window: int
) -> tuple[np.ndarray, np.ndarray]:
    """The values and slopes (n, …) at every sample k of polynomials through `around(k, near)` (k, window, …)."""
    n = len(time)
    window = min(window, n)
    first = np.clip(np.arange(n) - window // 2, 0, n - window)  # near the ends, more samples are on one side
    values, slopes = [], []
    for start in range(0, n, _BLOCK):
        k = np.arange(start, min(start + _BLOCK, n))
        near = first[k][:, None] + np.arange(window)
        away = time[near] - time[k][:, None]
        size = np.abs(away).max(axis=1)
        powers = (away / size[:, None])[..., None] ** np.arange(DEGREE + 1)
        turned = np.swapaxes(powers, 1, 2)
        fitted = np.linalg.solve(turned @ powers, turned @ around(k, near))
        values.append(fitted[:, 0])
        slopes.append(fitted[:, 1] / size[:, None])
    return np.concatenate(values), np.concatenate(slopes)
