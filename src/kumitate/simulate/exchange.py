"""The energy that a run has exchanged so far, against which energy that appears from nowhere is measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

__all__ = ["MOST", "Exchange", "GainingStep"]

#: A run has run away if a step gains this many times all that was exchanged before, and its own work.
MOST = 2.0
#: What counts as exchanged in any case: the energy of the whole mass at this speed [m/s].
SPEED = 1.0


class GainingStep(NamedTuple):
    """A step that gains energy: its number among those followed, the energy [J], and that as a part of all exchanged before."""

    step: int
    energy: float
    part: float


@dataclass
class Exchange:
    """The largest kinetic energy, and the extremes of potential energy, of the rows of a run so far [J].

    Attributes:
        row: the last of them.
    """

    row: int = 0
    kinetic: float = 0.0
    low: float = math.inf
    high: float = -math.inf

    def follow(self, kinetic: np.ndarray, potential: np.ndarray, work: np.ndarray, mass: float) -> GainingStep | None:
        """The first step from row to row that gains far more than was exchanged before; None if none does.

        Args:
            kinetic, potential: energies (n) [J] from the row `row` on; work: done since the start (n) [J].
            mass: of all bodies [kg].
        """
        most = np.maximum.accumulate(np.append(self.kinetic, kinetic))[1:]
        low = np.minimum.accumulate(np.append(self.low, potential))[1:]
        high = np.maximum.accumulate(np.append(self.high, potential))[1:]
        exchanged = (most + high - low)[:-1] + np.abs(np.diff(work)) + 0.5 * mass * SPEED**2
        gains = np.diff(kinetic + potential - work)
        gone = np.flatnonzero(gains > MOST * exchanged)
        if len(gone):
            step = int(gone[0])
            return GainingStep(step, float(gains[step]), float(gains[step] / exchanged[step]))
        self.row, self.kinetic, self.low, self.high = self.row + len(kinetic) - 1, most[-1], low[-1], high[-1]
        return None
