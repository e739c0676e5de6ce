"""`Panel`: curves of one quantity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: The limit of an axis without impacts, as a multiple of the 95th percentile of nonzero values.
_ROOM = 1.6


class Panel(NamedTuple):
    """Curves of one quantity."""

    quantity: str  # its name, such as "Joint angle"
    unit: str  # of the values, empty for dimensionless ones
    names: tuple[str, ...]  # of the curves
    values: np.ndarray  # (n, curves)
    by_joint: bool = False  # whether the curves belong to the joints, so that panels may share a legend
    log: bool = False  # whether the axis of the values is logarithmic
    reach: tuple[float, float] | None = None  # the limits of the value axis, if they differ from those of the curves
    named: bool = True  # whether the curves are named in a legend
    note: str = ""  # a sentence about what the panel leaves out, and how to see it; empty if it leaves out nothing


def without_impacts(panel: Panel) -> Panel:
    """The panel with an axis limited to the sustained values, if single steps go far beyond them."""
    sizes = np.abs(panel.values[np.isfinite(panel.values)])
    highest = float(sizes.max(initial=0.0))
    acting = sizes[sizes > 1e-9 * highest]
    usual = _ROOM * float(np.sort(acting)[int(0.95 * (acting.size - 1))]) if acting.size else 0.0
    if highest <= 2.0 * usual:
        return panel
    low = float(np.nanmin(panel.values))
    return panel._replace(reach=(-usual if low < -0.05 * usual else -0.06 * usual, usual))
