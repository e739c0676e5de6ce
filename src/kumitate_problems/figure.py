"""The figure of a reference problem: what was found over what is published, and every error beside its bar."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from .contract import Checked

__all__ = ["draw", "file_of"]

#: What an error of exactly nothing is drawn as.
_LEAST = 1e-18
#: Colours that people who confuse red and green tell apart (Okabe and Ito).
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")


def file_of(name: str) -> str:
    """The name of the figure's file, without a folder."""
    return f"{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}.svg"


def draw(checked: Checked, path: Path) -> None:
    """Writes the figure of a problem as SVG.

    Left: the numbers found over those published, on the diagonal where they agree, each quantity by its own largest number.
    Right: the error of each quantity, a point, and its bar, a line.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    count = len(checked.measured)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": checked.problem.name, "font.size": 8.0}):
        figure = Figure(figsize=(6.4, 1.5 + 0.2 * count), layout="constrained")
        left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1.0, 2.0)})
        _agreement(left, checked)
        for k, item in enumerate(checked.measured):
            color = _COLORS[k % len(_COLORS)]
            right.plot(max(item.error, _LEAST), k, "o", color=color, markersize=4)
            right.plot([max(item.tolerance, _LEAST)] * 2, [k - 0.35, k + 0.35], color=color)
        right.set(xscale="log", yticks=range(count), yticklabels=[_short(item.what) for item in checked.measured])
        right.set(xlabel="error, and the bar it must be left of", ylim=(count - 0.5, -0.5))
        right.minorticks_off()
        right.grid(axis="x", alpha=0.3)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _agreement(axes: Any, checked: Checked) -> None:
    """Found over published, as parts of the largest; what must be zero has no place there."""
    axes.axline((0.0, 0.0), slope=1.0, color="0.8")
    for k, item in enumerate(checked.measured):
        reference = np.ravel(np.broadcast_to(item.reference, np.shape(item.found)).astype(float))
        scale = float(np.abs(reference).max(initial=0.0))
        if scale > 0.0:
            found = np.ravel(np.asarray(item.found, float))
            step = max(1, len(found) // 25)
            axes.plot(reference[::step] / scale, found[::step] / scale, "o", color=_COLORS[k % len(_COLORS)], markersize=3)
    axes.set(xlabel="published, of the largest", ylabel="found", xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal")


def _short(text: str) -> str:
    return text if len(text) <= 34 else f"{text[:33]}…"
