"""Depth, operations, time and memory against the size of a mechanism, over powers of ten."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kumitate.view.style import QUIET, checked_target, curve_style, drawing, print_style, write_figure

__all__ = ["plot_scaling"]

#: Inches of a panel with what stands about it.
WIDTH, HEIGHT = 3.1, 2.5
_FIT: dict[str, Any] = {"color": QUIET, "linestyle": (0, (3, 2)), "linewidth": 0.9, "zorder": 3}


def plot_scaling(
    panels: Mapping[str, Mapping[str, Mapping[int, float]]],
    path: str | os.PathLike[str],
    *,
    axis: str = "Links",
    straight: Sequence[str] = (),
    fits: Sequence[str] = (),
) -> Path:
    """Draw curves over the number of links, in powers of ten, into a PDF, EPS, PNG or SVG, by the suffix; two panels a row.

    Args:
        panels: by title; in each, the curves by name: value by number of links.
        path: of the figure.
        axis: what stands below.
        straight: panels whose values stand in equal steps from 0 up, so that a logarithm is a straight line there. What has
            few links only is cut off above the other curves.
        fits: curves that are drawn as thin dashes without marks.

    Returns:
        The path.

    Raises:
        InputError: for another suffix, or a folder that does not exist.
    """
    Figure = drawing("matplotlib.figure").Figure

    target = checked_target(path)
    with print_style():
        down = -(-len(panels) // 2)
        # a curve that returns in another panel has its colour there too
        names = list(dict.fromkeys(name for curves in panels.values() for name in curves if name not in fits))
        figure = Figure(figsize=(2 * WIDTH, HEIGHT * down))
        for k, (title, curves) in enumerate(panels.items()):
            axes = figure.add_subplot(down, 2, k + 1)
            for name, values in curves.items():
                style = _FIT if name in fits else {"marker": "o", "markersize": 2.5, **curve_style(names.index(name))}
                axes.plot(list(values), list(values.values()), label=name, **style)
            axes.set_xscale("log")
            if title in straight:
                longest = max(n for values in curves.values() for n in values)
                axes.set_ylim(0.0, 1.25 * max(values[longest] for values in curves.values() if longest in values))
            else:
                axes.set_yscale("log")
            axes.set_title(title, loc="left")
            axes.set_xlabel(axis)
            axes.legend(loc="best", fontsize=7)
        figure.tight_layout()
    return write_figure(figure, target)
