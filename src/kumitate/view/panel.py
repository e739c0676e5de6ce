"""`Panel`: curves of one quantity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: The limit of an axis without impacts, as a multiple of the 95th percentile of nonzero values.
_ROOM = 1.6


class Panel(NamedTuple):
    """Curves of one quantity.

    Attributes:
        quantity: its name, such as "Joint angle"; `unit`: of the values, empty for dimensionless ones.
        names: of the curves; `values`: (n, curves).
        by_joint: whether the curves belong to the joints, so that panels may share a legend.
        log: whether the axis of the values is logarithmic.
        reach: the limits of the value axis, if they differ from those of the curves.
        named: whether the curves are named in a legend.
        note: a sentence about what the panel leaves out, and how to see it; empty if it leaves out nothing.
    """

    quantity: str
    unit: str
    names: tuple[str, ...]
    values: np.ndarray
    by_joint: bool = False
    log: bool = False
    reach: tuple[float, float] | None = None
    named: bool = True
    note: str = ""


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
