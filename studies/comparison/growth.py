"""Times and operations of methods against the length of a chain (thesis figures 4.13, 4.16)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kumitate.view.style import checked_target, curve_style, drawing, print_style, write_figure

__all__ = ["plot_growth"]

#: Inches of a panel with what stands about it.
WIDTH, HEIGHT = 2.7, 2.4


def plot_growth(
    panels: Mapping[str, Mapping[str, Mapping[int, float]]], path: str | os.PathLike[str], *, axis: str = "Links"
) -> Path:
    """Draw curves over the number of links into a PDF, EPS, PNG or SVG, by the suffix.

    Args:
        panels: by title, "what [unit]" for instance; in each, the curves by name: value by number of links.
        path: of the figure.
        axis: what stands below.

    Returns:
        The path.

    Raises:
        InputError: for another suffix, or a folder that does not exist.
    """
    Figure = drawing("matplotlib.figure").Figure

    target = checked_target(path)
    with print_style():
        figure = Figure(figsize=(WIDTH * len(panels), HEIGHT))
        names: Sequence[str] = list(dict.fromkeys(name for curves in panels.values() for name in curves))
        for k, (title, curves) in enumerate(panels.items()):
            axes = figure.add_subplot(1, len(panels), k + 1)
            for name, values in curves.items():
                axes.plot(
                    list(values),
                    list(values.values()),
                    label=name,
                    marker="o",
                    markersize=2.5,
                    **curve_style(names.index(name)),
                )
            axes.set_title(title, loc="left")
            axes.set_xlabel(axis)
            axes.set_xticks(sorted({n for values in curves.values() for n in values}))
            axes.set_ylim(bottom=0.0)
            axes.legend(loc="upper left", fontsize=6.5)
        figure.tight_layout()
    return write_figure(figure, target)
