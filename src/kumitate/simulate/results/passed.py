"""The limits of joints that a motion exceeds: of the tree, of loop joints and of lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from math import tau as turn
from typing import NamedTuple

import numpy as np

from ...analysis.loop_motion import loop_coordinates
from ...compile import Kernel
from ...model import Joint, Limits, Loop, Mechanism
from .audit import LimitPassed

#: A joint that is so little outside its limits has stopped there, to the rounding of its stop [rad or m].
_REACHED = 1e-9
#: Rows of which extremes are taken side by side.
_TOGETHER = 64


class _Moved(NamedTuple):
    """Coordinates, velocities and efforts (n, ...) of joints, those of each after those of the one before."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray


def limits_passed(
    mechanism: Mechanism, time: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
    loop_tau: Mapping[str, np.ndarray] | None = None,
) -> tuple[LimitPassed, ...]:  # fmt: skip
    """The limits of joints that a motion exceeds, those of the tree first.

    Args:
        time: (n,) [s]; `q`: (n, nq); `v`, `tau`: (n, nv), in SI units.
        loop_tau: the efforts (n, k) of drives in loop joints and lines, by name.

    Position limits are checked for joints whose coordinates correspond one to one to degrees of freedom (not for quaternions).
    """
    passed = [*_passed(mechanism.joints, time, _Moved(q, v, tau))]
    if any(loop.limits != (Limits(),) * loop.kind.nv for loop in mechanism.loops):
        passed += _passed(mechanism.loops, time, _in_loops(mechanism, q, v, loop_tau or {}))
    return tuple(passed)


def _in_loops(mechanism: Mechanism, q: np.ndarray, v: np.ndarray, loop_tau: Mapping[str, np.ndarray]) -> _Moved:
    """The motion of loop joints and lines; angles begin with the turn that is nearest to the middle of their ranges."""
    place, rates = (np.array(part) for part in Kernel(loop_coordinates(mechanism))(q, v))
    starts = accumulate((loop.kind.nq for loop in mechanism.loops), initial=0)
    for loop, start in zip(mechanism.loops, starts, strict=False):
        for k in loop.kind.angles:
            ends = [end for end in (loop.limits[k].lower, loop.limits[k].upper) if end is not None]
            own = np.unwrap(place[:, start + k])
            place[:, start + k] = own + turn * np.round((np.mean(ends or [0.0]) - own[0]) / turn)
    still = np.zeros((len(q), 0))
    efforts = [loop_tau.get(loop.name, np.zeros((len(q), loop.kind.nv))) for loop in mechanism.loops]
    return _Moved(place, rates, np.hstack([still, *efforts]))


def _passed(items: tuple[Joint, ...] | tuple[Loop, ...], time: np.ndarray, moved: _Moved) -> Iterator[LimitPassed]:
    """The limits that joints exceed in their motion."""
    positions, velocities, efforts = map(_Columns, moved)
    q = v = 0
    for item in items:
        for k, limit in enumerate(item.limits):
            excesses: dict[str, np.ndarray | None] = {
                "position": positions.outside(q + k, limit.lower, limit.upper) if item.kind.nq == item.kind.nv else None,
                "velocity": velocities.outside(v + k, _negative(limit.velocity), limit.velocity),
                "effort": efforts.outside(v + k, _negative(limit.effort), limit.effort),
            }
            names = getattr(item.kind, "velocities", ())
            name = item.name if len(names) == 1 else f"{item.name}.{names[k]}"
            for quantity, excess in excesses.items():
                least = _REACHED if quantity == "position" else 0.0
                if excess is not None and (excess > least).any():
                    yield LimitPassed(name, float(time[int(np.argmax(excess > least))]), float(np.nanmax(excess)), quantity)
        q, v = q + item.kind.nq, v + item.kind.nv


class _Columns:
    """The columns of a table (n, m), with the least and the greatest value of each: most stay within their limits."""

    def __init__(self, values: np.ndarray):
        # NumPy takes extremes along long rows at once, but those of short rows one by one
        rows, columns = values.shape
        whole = rows // _TOGETHER * _TOGETHER
        parts, rest = values[:whole].reshape(rows // _TOGETHER, _TOGETHER * columns), values[whole:]
        self.values = values
        self.least = np.vstack([parts.min(axis=0, initial=np.inf).reshape(_TOGETHER, columns), rest]).min(axis=0)
        self.greatest = np.vstack([parts.max(axis=0, initial=-np.inf).reshape(_TOGETHER, columns), rest]).max(axis=0)

    def outside(self, k: int, lower: float | None, upper: float | None) -> np.ndarray | None:
        """How far the values of column k are outside the limits (n); None if all are inside, or if there are no limits."""
        low, high = -np.inf if lower is None else lower, np.inf if upper is None else upper
        unlimited = lower is None and upper is None
        if unlimited or (low <= self.least[k] and self.greatest[k] <= high):  # not so for NaN
            return None
        return np.maximum(low - self.values[:, k], self.values[:, k] - high)


def _negative(value: float | None) -> float | None:
    return None if value is None else -value
