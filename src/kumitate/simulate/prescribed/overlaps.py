"""Bodies that overlap at the start: what their springs of contact leave out, less and less, so that they part slowly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...scalar import maximum


@dataclass(frozen=True, eq=False)
class Overlaps:
    """The depths of all points of contact that are left out of their springs, as a source of a simulation.

    Attributes:
        depths: those at coordinates (nq) that a motion starts at [m], zero where points do not overlap.
        size: how many; shrinks: how fast they do so [m/s].
    """

    depths: Callable[[np.ndarray], np.ndarray]
    size: int
    shrinks: float

    def __call__(self, t: Any, q: Any, v: Any, depths: Any) -> np.ndarray:
        """The depths left out at a time [s], of those at the start."""
        return np.array([maximum(depths[k] - self.shrinks * t, 0.0) for k in range(self.size)])
