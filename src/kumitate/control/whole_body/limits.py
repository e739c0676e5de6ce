"""The limits of driven joints as bounds of efforts and accelerations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...model import Mechanism


class DrivenLimits(NamedTuple):
    """Limits of the joints of one degree of freedom, infinite where there are none.

    Attributes:
        driven: which of the degrees of freedom (nv) they are.
        place: where their coordinates are in q (driven).
        least, most: efforts [N·m, N]; low, high: coordinates [rad, m] (driven).
    """

    driven: np.ndarray
    place: np.ndarray
    least: np.ndarray
    most: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, mechanism: Mechanism, efforts: bool) -> DrivenLimits:
        """The limits of a mechanism; those of efforts if wanted."""
        driven = [joint.kind.nv == 1 for joint in mechanism.joints for _ in range(joint.kind.nv)]
        place, rows, begin = [], [], 0
        for joint in mechanism.joints:
            if joint.kind.nv == 1:
                limits = joint.limits[0]
                most = _or(limits.effort if efforts else None, np.inf)
                place.append(begin)
                rows.append((-most, most, _or(limits.lower, -np.inf), _or(limits.upper, np.inf)))
            begin += joint.kind.nq
        return cls(np.array(driven), np.array(place, dtype=int), *np.array(rows).reshape(-1, 4).T)

    def stops(self, rate: float, q: Any, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of v̇ with which the distance d to a stop obeys d̈ + 2 r ḋ + r² d ≥ 0, so that it stays positive.

        Args:
            rate: r [1/s]; 0: no bounds.
        """
        if rate == 0.0:
            return np.full(self.low.shape, -np.inf), np.full(self.high.shape, np.inf)
        at, speed = np.asarray(q, dtype=float)[self.place], v[self.driven]
        return rate**2 * (self.low - at) - 2.0 * rate * speed, rate**2 * (self.high - at) - 2.0 * rate * speed


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else float(value)
