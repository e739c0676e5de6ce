"""The states that a run records, while it is under way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import Mechanism
from .forcing import Forcing

__all__ = ["Rows"]


@dataclass
class Rows:
    """The recorded states of a run; those up to `reached` are complete."""

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    work: np.ndarray
    reached: int = 0

    @classmethod
    def of(cls, mechanism: Mechanism, forcing: Forcing, times: np.ndarray, q: np.ndarray, v: np.ndarray) -> Rows:
        """With the first state in place, and room for the others."""
        count = len(times)
        rows = cls(
            times,
            np.empty((count, mechanism.nq)),
            np.empty((count, mechanism.nv)),
            np.zeros((count, forcing.size)),
            np.zeros(count),
        )
        rows.q[0], rows.v[0] = q, v
        return rows

    def cut(self) -> None:
        """Drops the rows that were not reached."""
        for name in ("time", "q", "v", "u", "work"):
            setattr(self, name, getattr(self, name)[: self.reached + 1])
