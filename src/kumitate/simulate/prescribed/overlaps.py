"""Bodies that overlap at the start: what their springs of contact leave out, less and less, so that they part slowly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...scalar import maximum

__all__ = ["PARTING", "SHRINKS", "Overlaps"]

#: How fast overlaps that are left out shrink [m/s].
SHRINKS = 0.2
#: Bodies then part at less than this speed, as with rigid contact [m/s]: a spring of natural frequency ω whose end moves at a
#: speed V throws a mass that lies on it at up to V + √(V² + (g/ω)²), which is 0.42 m/s where the mass sinks in by 1 mm.
PARTING = 0.5


@dataclass(frozen=True)
class Overlaps:
    """The depths of all points of contact that are left out of their springs, as a source of a simulation.

    Attributes:
        depths: at the start [m], zero where points do not overlap.
    """

    depths: tuple[float, ...]

    def __call__(self, t: Any, q: Any, v: Any) -> np.ndarray:
        """The depths left out at a time [s]."""
        return np.array([maximum(depth - SHRINKS * t, 0.0) for depth in self.depths])
