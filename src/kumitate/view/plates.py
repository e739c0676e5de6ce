"""Figures of an example's own curves, in the style of the others."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ..examples.illustrated import Plate
from .figures import panels_figure
from .panels import Panel
from .style import checked_target, write_figure

__all__ = ["plot_plate"]


def plot_plate(time: np.ndarray, plate: Plate, path: str | os.PathLike[str]) -> Path:
    """Draw an example's figure over its times (n,) [s] into a PDF, EPS, PNG or SVG, by the suffix.

    Returns:
        The path.

    Raises:
        InputError: for another suffix, or a folder that does not exist.
    """
    target = checked_target(path)
    panels = [Panel(one.quantity, one.unit, one.names, one.values, log=one.log) for one in plate.panels]
    over = time if plate.over is None else plate.over
    return write_figure(panels_figure(over, panels, caption=plate.caption, across=plate.across), target)
