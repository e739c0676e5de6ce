"""Figures of quantities derived from a motion: balance, momenta about the center of mass, power of every source."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import SupportPolygon, support_polygon
from ..errors import InputError
from ..records.readings import Given, balance_of, momenta_of, powers_of
from ..records.record import Record
from .figures import panels_figure
from .panels import Panel
from .style import INK, PALETTE, QUIET, drawing, print_style, tint, write_figure

_XYZ = ("x", "y", "z")
#: Powers below this fraction of the largest are rounding, and not drawn.
_NOTHING = 1e-9
#: Margin of the plan view around the support polygon and the center of mass, relative to their size.
_AROUND = 0.35


def plot_balance(
    result: Record, path: str | os.PathLike[str], contacts: Any = None, *, height: float = 0.0, wrenches: Given | None = None
) -> Path:
    """Draw the balance of a result into a PDF, EPS, PNG or SVG: zero-moment point and center of mass, in plan and over time.

    Args:
        contacts: points (k, 2 or 3) in the world on which it stands throughout [m]; their hull is drawn, and the margin: how
            far inside of it the zero-moment point is. Without them neither is.
        height: of the ground [m]; wrenches: as in `records.readings.balance_of`.

    Raises:
        InputError: for another suffix, or as `balance_of` and `support_polygon`.
    """
    return write_figure(partial(balance_figure, result, contacts, height=height, wrenches=wrenches), path)


def plot_momentum(result: Record, path: str | os.PathLike[str]) -> Path:
    """Draw the momenta about the center of mass, and their rates, into a PDF, EPS, PNG or SVG."""
    return write_figure(partial(momentum_figure, result), path)


def plot_power(
    result: Record, path: str | os.PathLike[str], *, wrenches: Given | None = None, loop_tau: Given | None = None
) -> Path:
    """Draw the power of drives, damping, springs, wrenches and gravity into a PDF, EPS, PNG or SVG.

    Args:
        wrenches, loop_tau: as in `records.readings.powers_of`.
    """
    return write_figure(partial(power_figure, result, wrenches=wrenches, loop_tau=loop_tau), path)


def momentum_figure(result: Record) -> Any:
    """The figure of `plot_momentum` as a `matplotlib.figure.Figure`."""
    found = momenta_of(result)
    panels = (
        Panel("Angular momentum about center of mass", "kg·m²/s", _XYZ, found.angular),
        Panel("Linear momentum", "kg·m/s", _XYZ, found.linear),
        Panel("Rate of angular momentum", "N·m", _XYZ, found.angular_rate),
        Panel("Rate of linear momentum", "N", _XYZ, found.linear_rate),
    )
    return panels_figure(result.time, panels)


def power_figure(result: Record, *, wrenches: Given | None = None, loop_tau: Given | None = None) -> Any:
    """The figure of `plot_power` as a `matplotlib.figure.Figure`: all sources with their sum, below them each drive."""
    found = powers_of(result, wrenches=wrenches, loop_tau=loop_tau)
    by_source = {"drives": found.drives.sum(axis=1), "gravity": found.gravity, "damping": found.damping.sum(axis=1)}
    by_source |= {"springs": found.springs.sum(axis=1), **{f"wrench on {name}": x for name, x in found.wrenches.items()}}
    largest = max((np.abs(values).max(initial=0.0) for values in by_source.values()), default=0.0)
    shown = {name: values for name, values in by_source.items() if np.abs(values).max(initial=0.0) > _NOTHING * largest}
    shown["total"] = found.total
    panels = [Panel("Power by source", "W", tuple(shown), np.column_stack(list(shown.values())))]
    driven = np.abs(found.drives).max(axis=0, initial=0.0) > _NOTHING * largest
    if driven.any():
        names = tuple(name for name, moves in zip(found.names, driven, strict=True) if moves)
        panels.append(Panel("Power of drives", "W", names, found.drives[:, driven], by_joint=True))
    return panels_figure(result.time, panels)


def balance_figure(result: Record, contacts: Any = None, *, height: float = 0.0, wrenches: Given | None = None) -> Any:
    """The figure of `plot_balance` as a `matplotlib.figure.Figure`."""
    Figure = drawing("matplotlib.figure").Figure

    if len(result) == 0:
        raise InputError(f"{result.mechanism.name}: nothing to plot: the result has no times")
    zmp = balance_of(result, height=height, wrenches=wrenches).zmp
    zmp = np.where(np.isfinite(zmp), zmp, np.nan)
    polygon = None if contacts is None else support_polygon(contacts)
    center = result.center_of_mass
    window = _window(zmp, center, polygon)
    with print_style():
        rows = 2 if polygon is None else 3
        height_in = 1.3 * rows + 0.75
        made = Figure(figsize=(7.0, height_in))
        grid = made.add_gridspec(
            rows, 2, width_ratios=(1.0, 1.1), left=0.085, right=0.985, bottom=0.42 / height_in, top=1.0 - 0.5 / height_in,
            hspace=0.5, wspace=0.22,
        )  # fmt: skip
        plan = made.add_subplot(grid[:, 0])
        _draw_plan(plan, zmp, center, polygon, window)
        for k, name in enumerate("xy"):
            axes = made.add_subplot(grid[k, 1])
            axes.plot(result.time, center[:, k], color=PALETTE[1])
            axes.plot(result.time, zmp[:, k], color=PALETTE[0])
            _dress(axes, result, f"({'bc'[k]}) Along {name}", "[m]", *window[k])
        if polygon is not None:
            _draw_margin(made.add_subplot(grid[2, 1]), result, polygon.margin(zmp))
        made.axes[-1].set_xlabel("Time [s]")
        made.align_ylabels(made.axes[1:])
        made.legend(
            *plan.get_legend_handles_labels(), loc="upper center", bbox_to_anchor=(0.5, 1.0), ncols=5, borderpad=0.2,
            columnspacing=1.4, handletextpad=0.5,
        )  # fmt: skip
        return made


def _window(zmp: np.ndarray, center: np.ndarray, polygon: SupportPolygon | None) -> list[tuple[float, float]]:
    """The ranges of the plan along x and y: polygon and center of mass, and the zero-moment point where it is near them."""
    seen = center[:, :2] if polygon is None else np.vstack([center[:, :2], polygon.vertices])
    low, high = np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)
    size = max(float((high - low).max()), 0.02)
    near = np.clip(np.nan_to_num(zmp[:, :2], nan=float(low.mean())), low - 2.0 * size, high + 2.0 * size)
    low, high = np.minimum(low, near.min(axis=0)), np.maximum(high, near.max(axis=0))
    around = 0.5 * _AROUND * max(float((high - low).max()), 0.02)
    return [(float(a) - around, float(b) + around) for a, b in zip(low, high, strict=True)]


def _draw_plan(
    axes: Any, zmp: np.ndarray, center: np.ndarray, polygon: SupportPolygon | None, window: list[tuple[float, float]]
) -> None:
    """The ground from above: x to the right, y up."""
    if polygon is not None:
        corners = np.vstack([polygon.vertices, polygon.vertices[:1]])
        axes.fill(*corners.T, color=tint(PALETTE[2], 0.85), zorder=1)
        axes.plot(*corners.T, color=PALETTE[2], marker="o", markersize=2.5, linewidth=0.9, label="support polygon", zorder=2)
    axes.plot(*center[:, :2].T, color=PALETTE[1], label="center of mass", zorder=3)
    axes.plot(*zmp[:, :2].T, color=PALETTE[0], label="zero-moment point", zorder=4)
    for line, color in ((center, PALETTE[1]), (zmp, PALETTE[0])):
        axes.plot(*line[0, :2], color=color, marker="o", markersize=4, markerfacecolor="white", zorder=5)
        axes.plot(*line[-1, :2], color=color, marker="s", markersize=3.5, zorder=5)
    axes.plot([], [], color=QUIET, linestyle="", marker="o", markersize=4, markerfacecolor="white", label="start")
    axes.plot([], [], color=QUIET, linestyle="", marker="s", markersize=3.5, label="end")
    axes.set_xlim(*window[0])
    axes.set_ylim(*window[1])
    axes.set_aspect("equal", adjustable="box", anchor="N")
    axes.set_title("(a) Ground, seen from above", loc="left", pad=4.0)
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")


def _draw_margin(axes: Any, result: Record, margin: np.ndarray) -> None:
    axes.plot(result.time, margin, color=PALETTE[2], label="margin")
    low, high = float(np.nanmin(margin, initial=0.0)), float(np.nanmax(margin, initial=0.0))
    low = max(low, -2.0 * max(high, 0.02))  # points far outside are cut off
    around = 0.1 * max(high - low, 1e-3)
    axes.axhline(0.0, color=INK, linewidth=0.8)
    axes.fill_between(result.time, low - around, 0.0, where=~(margin >= 0.0), color=tint(PALETTE[1], 0.75), linewidth=0.0)
    _dress(axes, result, "(d) Margin to the polygon's edge, negative outside", "[m]", low - around, high + around)


def _dress(axes: Any, result: Record, title: str, unit: str, low: float, high: float) -> None:
    axes.set_title(title, loc="left", pad=4.0)
    axes.set_ylabel(unit)
    axes.set_ylim(low, high)
    if result.time[-1] > result.time[0]:
        axes.set_xlim(result.time[0], result.time[-1])
