"""Figures of an identification: measured and predicted efforts, and the base parameters with their deviations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...simulate.parameters.passive import sort_of
from ...view.figures import panels_figure
from ...view.panels import Panel
from ...view.style import INK, PALETTE, drawing, print_style, write_figure

if TYPE_CHECKING:
    from ..identified import Identified

__all__ = ["base_figure", "efforts_figure", "write_figure"]

_UNITS = {"length": "N", "angle": "N·m"}


def efforts_figure(found: Identified, part: int = 0) -> Any:
    """The efforts of a log, measured and predicted, as a `matplotlib.figure.Figure`: a panel per degree of freedom."""
    mechanism = found.model.mechanism
    log, measured, predicted = found.parts[part][0], found.measured(part), found.predicted(part)
    sorts = [sort_of(name) for joint in mechanism.joints for name in joint.kind.velocities]  # type: ignore[union-attr]
    panels = [
        Panel(name, _UNITS[sort], ("measured", "predicted"), np.stack([measured[:, i], predicted[:, i]], 1))
        for i, (name, sort) in enumerate(zip(mechanism.v_names, sorts, strict=True))
        if np.isfinite(measured[:, i]).any()
    ]
    left = ", ".join(f"{x:.2g}" for x in found.noise)
    return panels_figure(log.time, panels, caption=f"Standard deviations of measured from predicted efforts: {left}")


def base_figure(found: Identified) -> Any:
    """The base parameters as a `matplotlib.figure.Figure`: by how much they differ from the model, with two deviations.

    In units of what is usual for a robot of this size; those that were not excited are left out.
    """
    Figure = drawing("matplotlib.figure").Figure
    usual = np.abs(found.parameters.G) @ found.usual
    shown = [(own, size) for own, size in zip(found.base, usual.tolist(), strict=True) if own.excited]
    with print_style():
        height = 0.9 + 0.16 * len(shown)
        made = Figure(figsize=(5.2, height))
        axes = made.add_axes((0.3, 0.5 / height, 0.66, (height - 0.8) / height))
        places = np.arange(len(shown))[::-1]
        away = [(own.value - own.model) / size for own, size in shown]
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.errorbar(
            away, places, xerr=[2.0 * own.deviation / size for own, size in shown],
            fmt="o", markersize=3, capsize=2, color=PALETTE[0],
        )  # fmt: skip
        axes.set_yticks(places, [own.name for own, _ in shown])
        axes.set_ylim(-0.8, len(shown) - 0.2)
        axes.set_xlabel("Difference from the model, relative to the usual size")
        axes.set_title("Base parameters", loc="left")
    return made
