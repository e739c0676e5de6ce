"""Sampling, delay and noise between robot and controller, as in real machines (T-f4).

These wrappers keep state, so they are called once per step and never compiled: `simulate` detects that. They
use the time to decide what to store, and may be called again for an earlier time, as the stages of an integrator
do with `simulate(..., sample_time=0)`. With `sample_time` at their fastest rate they are exact. The controller reads
inputs of the simulation as they are: these are not sensed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.values import NOT_NEGATIVE, POSITIVE, checked_array, checked_number, checked_whole
from .controllers import Controller, evaluated, signature_of


class Sampled:
    """A controller that is evaluated at multiples of its own period only, and held in between.

    Under `simulate(..., sample_time=s)` with s a divisor of the period, sensors and drives run at 1/s and this controller at
    its own rate.
    """

    def __init__(self, controller: Controller, period: float):
        """`period`: [s]."""
        self.controller, self.period = controller, _checked_period(period)
        self.__signature__ = signature_of(controller)
        self._held: dict[int, np.ndarray] = {}

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray, **inputs: Any) -> np.ndarray:
        now = float(t)
        k = int(np.floor(now / self.period + 1e-9))
        # at a sample instant the last call counts: stages of the previous step reach it with states that are not final
        if k not in self._held or abs(now - k * self.period) <= 1e-9 * self.period:
            self._held = {i: held for i, held in self._held.items() if k - 2 < i < k}
            self._held[k] = np.array(evaluated(self.controller, now, q, v, inputs), dtype=float)
        return self._held[k].copy()


class Delayed:
    """A controller that sees the state as it was a while ago (`sensing`) and acts a while later (`acting`).

    Between stored values it interpolates linearly; before the first one, the first is taken. Coordinates with
    quaternions must be normalised by the user of the state.
    """

    def __init__(self, controller: Controller, *, sensing: float = 0.0, acting: float = 0.0):
        """`sensing`, `acting`: [s], not negative."""
        self.controller = controller
        self.__signature__ = signature_of(controller)
        self.sensing, self.acting = (
            checked_number("a delayed controller", f"the delay {name} [s]", value, NOT_NEGATIVE, error=InputError)
            for name, value in (("sensing", sensing), ("acting", acting))
        )
        self._states, self._efforts = _History(), _History()

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray, **inputs: Any) -> np.ndarray:
        now = float(t)
        self._states.add(now, (np.array(q, dtype=float), np.array(v, dtype=float)), self.sensing)
        q_seen, v_seen = self._states.at(now - self.sensing)
        self._efforts.add(now, (np.array(evaluated(self.controller, now, q_seen, v_seen, inputs), dtype=float),), self.acting)
        return self._efforts.at(now - self.acting)[0]


class Noisy:
    """A controller whose measured coordinates and velocities carry normal noise, new every period.

    The noise is a function of the seed and the time alone, so runs are repeatable and an integrator may evaluate it twice.
    """

    def __init__(self, controller: Controller, *, q: Any = 0.0, v: Any = 0.0, period: float, seed: int):
        """`q`, `v`: standard deviations, one for all or (nq), (nv); `period`: [s]; `seed`: of the random numbers."""
        owner = "a noisy controller"
        self.controller, self.period = controller, _checked_period(period)
        self.__signature__ = signature_of(controller)
        self.seed = checked_whole(owner, "the seed", seed, 0, remedy="Give one, such as 1", error=InputError)
        self.q, self.v = (
            checked_array(owner, f"the deviation of {name}", given, rule=NOT_NEGATIVE) for name, given in (("q", q), ("v", v))
        )

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray, **inputs: Any) -> np.ndarray:
        now = float(t)
        rng = np.random.default_rng((self.seed, int(np.floor(now / self.period + 1e-9))))
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        seen = q + self.q * rng.normal(size=q.shape), v + self.v * rng.normal(size=v.shape)
        return np.asarray(evaluated(self.controller, now, *seen, inputs), dtype=float)


class _History:
    """Recent values over time."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.values: list[Sequence[np.ndarray]] = []

    def add(self, t: float, value: Sequence[np.ndarray], span: float) -> None:
        """Stores the value at t; drops values at or after t, and all but one of those older than `span`."""
        while self.times and self.times[-1] >= t:
            self.times.pop()
            self.values.pop()
        self.times.append(t)
        self.values.append(value)
        # stages may go back by one step: keep twice the span
        while len(self.times) > 8 and self.times[1] < t - 2.0 * span:
            self.times.pop(0)
            self.values.pop(0)

    def at(self, t: float) -> Sequence[np.ndarray]:
        k = int(np.searchsorted(self.times, t, side="right"))
        if k == 0:
            return self.values[0]
        if k == len(self.times):
            return self.values[-1]
        share = (t - self.times[k - 1]) / (self.times[k] - self.times[k - 1])
        return [(1.0 - share) * a + share * b for a, b in zip(self.values[k - 1], self.values[k], strict=True)]


def _checked_period(value: float) -> float:
    return checked_number("a sampled controller", "the period [s]", value, POSITIVE, error=InputError)
