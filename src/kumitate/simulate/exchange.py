"""The energy that a run has exchanged so far, against which energy that appears from nowhere is measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

#: A run has run away if a step gains this many times all that was exchanged before, and its own work.
MOST = 2.0
#: What counts as exchanged in any case: the energy of the whole mass at this speed [m/s].
SPEED = 1.0
#: A velocity leaps that is above this after a step [rad/s, m/s], and so many times what it was: as the kinetic energy of a step
#: that runs away at least triples, one of its velocities does.
FAST, GROWN = 30.0, 1.5


class GainingStep(NamedTuple):
    """A step that gains energy.

    Attributes:
        step: its number among those followed; energy: that it gains [J], `contact` of it by contact itself.
        part: the energy as a part of all that was exchanged before.
    """

    step: int
    energy: float
    contact: float
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

    def follow(
        self, kinetic: np.ndarray, potential: np.ndarray, work: np.ndarray, mass: float, added: Callable[[int], float]
    ) -> GainingStep | None:
        """The first step from row to row that gains far more than was exchanged before; None if none does.

        Args:
            kinetic, potential: energies (n) [J] from the row `row` on; work: done since the start (n) [J].
            mass: of all bodies [kg].
            added: of the number of a step, how much of its work contact has added by itself [J]; asked where energy leaps.
        """
        most = np.maximum.accumulate(np.append(self.kinetic, kinetic))[1:]
        low = np.minimum.accumulate(np.append(self.low, potential))[1:]
        high = np.maximum.accumulate(np.append(self.high, potential))[1:]
        falls = np.maximum(-np.diff(potential), 0.0)
        exchanged = (most + high - low)[:-1] + falls + 0.5 * mass * SPEED**2
        grows, done = np.diff(kinetic + potential), np.diff(work)
        for step in np.flatnonzero(np.maximum(grows, grows - done) > MOST * exchanged).tolist():
            contact = max(added(step), 0.0)
            by_others = float(done[step]) - contact
            gain, before = float(grows[step]) - by_others, float(exchanged[step]) + abs(by_others)
            if gain > MOST * before:
                return GainingStep(step, gain, contact, gain / before)
        self.row, self.kinetic, self.low, self.high = self.row + len(kinetic) - 1, most[-1], low[-1], high[-1]
        return None


def leaps(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Whether any velocity (..., nv) leaps from one state to another; only there single steps and batches look at energies."""
    return np.any(np.abs(after) > np.maximum(GROWN * np.abs(before), FAST), axis=-1)
