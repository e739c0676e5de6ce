"""Print-quality figures of a result: curves over time on one page; balance in plan and over time, momenta, powers."""

from __future__ import annotations

import math
import os
import textwrap
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import SupportPolygon, support_polygon
from ..errors import InputError
from ..examples.catalogue import Plate
from ..records.readings import Given, balance_of, momenta_of, powers_of
from ..records.record import Record
from .panels import Panel, panels_of
from .style import INK, PALETTE, QUIET, curve_style, drawing, print_style, tint, write_figure

#: Inches: a panel with its labels, two of which are as wide as the text of an A4 page; a line of a legend.
PANEL_WIDTH, PANEL_HEIGHT, LEGEND_LINE = 3.5, 1.75, 0.155
#: With more curves than this the legend is in small type below the panels.
MANY = 12


def plot(result: Record, path: str | os.PathLike[str], panels: Sequence[str] | None = None, *, degrees: bool = True) -> Path:
    """Draw a result over time into a PDF, EPS, PNG or SVG, by the suffix.

    Args:
        panels: as in `kumitate.view.panels.panels_of`; by default those of the thesis.
        degrees: whether angles and their rates are in degrees (the default) or radians.

    Raises:
        InputError: for another suffix, a panel that does not exist, a folder that does not exist, or a result with no times.
    """
    return write_figure(partial(figure, result, panels, degrees=degrees), path)


def figure(result: Record, panels: Sequence[str] | None = None, *, degrees: bool = True) -> Any:
    """The figure of `plot` as a `matplotlib.figure.Figure`, to change and to save.

    What its panels leave out, and how to see it, is said below them.
    """
    drawn = panels_of(result, panels, degrees=degrees)
    if len(result) == 0 or not drawn:
        raise InputError(f"{result.mechanism.name}: nothing to plot: {len(result)} times and {len(drawn)} panels")
    return panels_figure(result.time, drawn, caption=" ".join(filter(None, dict.fromkeys(panel.note for panel in drawn))))


def panels_figure(time: np.ndarray, drawn: Sequence[Panel], *, caption: str = "", across: str = "Time [s]") -> Any:
    """Panels over the times (n,) [s], or what `across` says, as a `matplotlib.figure.Figure`, with a sentence below them."""
    Figure = drawing("matplotlib.figure").Figure

    with print_style():
        columns = 1 if len(drawn) == 1 else 2 if len(drawn) <= 8 else 3
        rows = math.ceil(len(drawn) / columns)
        shared = _shared_names(drawn)
        width = columns * PANEL_WIDTH
        above, below = _legend_heights(shared, width)
        said = textwrap.wrap(caption, int(19.0 * width))
        below += 0.15 * len(said) + (0.1 if said else 0.0)
        height = rows * PANEL_HEIGHT + 0.2 + above + below
        made = Figure(figsize=(width, height))
        grid = made.add_gridspec(
            rows, columns, left=0.62 / width, right=1.0 - 0.17 / width, bottom=(0.42 + below) / height,
            top=1.0 - (0.22 + above) / height, hspace=0.42, wspace=0.22,
        )  # fmt: skip
        alone = len(drawn) - 1 if len(drawn) % columns == 1 else -1  # a panel that has a row of its own
        axes = [made.add_subplot(grid[k // columns, slice(None) if k == alone else k % columns]) for k in range(len(drawn))]
        for k, (place, panel) in enumerate(zip(axes, drawn, strict=True)):
            letter = f"({chr(ord('a') + k)})" if 1 < len(drawn) <= 26 else ""
            _draw(place, time, panel, letter, shared if panel.by_joint and set(panel.names) <= set(shared) else ())
            if k // columns == rows - 1:
                place.set_xlabel(across)
        if shared:
            _shared_legend(made, next(place for place, panel in zip(axes, drawn, strict=True) if panel.names == shared), shared)
        if said:
            made.text(0.62 / width, 0.06 / height, "\n".join(said), ha="left", va="bottom", fontsize=7.5)
        made.align_ylabels(axes)
        return made


def _draw(axes: Any, time: np.ndarray, panel: Panel, letter: str, shared: Sequence[str]) -> None:
    values = np.where(np.isfinite(panel.values), panel.values, np.nan)
    if panel.log:
        values = np.where(values != 0.0, np.abs(values), np.nan)
    covered = _covered(values) if panel.named else [None] * values.shape[1]
    for k, name in enumerate(panel.names):
        style = curve_style(shared.index(name) if shared else k)
        if covered[k]:  # dashes keep the curves below visible; the legend shows them solid
            axes.plot([], [], label=name, **style)
            name, style = "_" + name, {**style, "linestyle": covered[k]}
        if name == "total":
            style = {"color": INK, "linestyle": "-", "linewidth": 1.4}
        if len(time) == 1:
            style = {**style, "marker": "o", "markersize": 3}
        if not panel.named:
            style = {**style, "linestyle": "-", "linewidth": 0.6}
        axes.plot(time, values[:, k], label=name, **style)
    axes.set_ylabel(f"[{panel.unit}]" if panel.unit else "")
    axes.set_title(f"{letter} {panel.quantity}".strip(), loc="left", pad=4.0)
    if time[-1] > time[0]:
        axes.set_xlim(time[0], time[-1])
    if panel.log:
        axes.set_yscale("log")
        axes.yaxis.minorticks_off()
        axes.set_ylim(*_decades(values))
    else:
        axes.set_ylim(*(panel.reach or _limits(values)))
    above = not shared and panel.named and _own_legend(axes, panel)
    if panel.reach is not None:
        peak = f"single steps to {_two_digits(float(np.nanmax(np.abs(values))))} {panel.unit}"
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.2}
        height, sits = (0.96, "top") if above else (1.02, "bottom")
        axes.text(0.99, height, peak, transform=axes.transAxes, ha="right", va=sits, fontsize=6.5, color=QUIET, bbox=box)


def _two_digits(value: float) -> str:
    """A number, rounded to two digits.

    >>> _two_digits(6123.0), _two_digits(471234.0)
    ('6100', '4.7e5')
    """
    rounded = float(f"{value:.2g}")
    return f"{rounded:.0f}" if 10.0 <= rounded < 1e5 else f"{rounded:.2g}".replace("e+0", "e").replace("e+", "e")


def _covered(values: np.ndarray) -> list[tuple[float, tuple[float, float]] | None]:
    """For each curve that covers earlier ones, dashes that alternate with theirs; None if it covers no curve."""
    size = float(np.nanmax(np.abs(values), initial=0.0))
    groups: list[list[int]] = []
    for k, column in enumerate(values.T):
        for group in groups:
            if np.allclose(column, values[:, group[0]], rtol=0.0, atol=2e-3 * size, equal_nan=True):
                group.append(k)
                break
        else:
            groups.append([k])
    dashes: list[tuple[float, tuple[float, float]] | None] = [None] * values.shape[1]
    for group in groups:
        for turn, k in enumerate(group[1:] if len(group) <= 6 else (), start=1):
            dashes[k] = (4.0 * turn, (4.0, 4.0 * (len(group) - 1)))
    return dashes


def _limits(values: np.ndarray) -> tuple[float, float]:
    """The limits of the value axis: values that are constant up to rounding are drawn as a level line."""
    known = values[np.isfinite(values)]
    if known.size == 0:
        return -1.0, 1.0
    low, high = float(known.min()), float(known.max())
    size = max(abs(low), abs(high))
    if size < 1e-9:
        return -1.0, 1.0
    if high - low < 1e-7 * size:
        return low - 0.5 * size, high + 0.5 * size
    margin = 0.06 * (high - low)
    return low - margin, high + margin


def _decades(values: np.ndarray) -> tuple[float, float]:
    """The limits of a logarithmic axis, in whole decades; values below 1e-16 of the largest are rounding."""
    known = values[np.isfinite(values)]
    if known.size == 0:
        return 0.1, 1.0
    high = math.ceil(math.log10(known.max()) + 0.05)
    low = min(math.floor(math.log10(known.min())), high - 1)
    return 10.0 ** (max(low, -16) if high > -15 else low), 10.0**high


def _own_legend(axes: Any, panel: Panel) -> bool:
    """Places the legend above the axes, to the right of the title, if there is space (True); else inside, above the curves."""
    many = len(panel.names) > 4 or sum(map(len, panel.names)) > 36
    size, columns = (6.0 if many else 7.5), min(len(panel.names), 4)
    width = 0.32 * columns + 0.043 * sum(map(len, panel.names)) + 0.052 * len(panel.quantity)  # inches, the title with it
    if len(panel.names) <= 4 and width < PANEL_WIDTH - 0.7:
        axes.legend(
            loc="lower right", bbox_to_anchor=(1.01, 0.985), ncols=columns, borderpad=0.1, columnspacing=0.9,
            handletextpad=0.4, handlelength=1.1, fontsize=size,
        )  # fmt: skip
        return True
    size = 5.0 if len(panel.names) > 8 else 6.0
    longest = 0.3 + 0.5 * size / 72.0 * max(map(len, panel.names))
    columns = max(1, min(len(panel.names), 4, int((PANEL_WIDTH - 0.8) / longest)))
    low, high = axes.get_ylim()
    room = 0.11 * math.ceil(len(panel.names) / columns)
    axes.set_ylim(low, high * (high / low) ** room if panel.log else high + room * (high - low))
    axes.legend(
        loc="upper center", ncols=columns, fontsize=size, borderpad=0.1, columnspacing=0.9,
        handletextpad=0.4, handlelength=1.6, labelspacing=0.2, frameon=panel.reach is not None, framealpha=0.85,
        edgecolor="none",
    )  # fmt: skip
    return False


def _shared_names(panels: Sequence[Panel]) -> tuple[str, ...]:
    """The joint names in a common legend: those of more than one panel, or too many for a panel's own legend."""
    sets = Counter(panel.names for panel in panels if panel.by_joint)
    names = max(sets, key=lambda names: (len(names), sets[names]), default=())
    return names if sets[names] > 1 or len(names) > 4 else ()


def _legend_columns(names: Sequence[str], page_width: float) -> tuple[int, float]:
    """The number of legend columns and the font size [pt]."""
    size = 7.5 if len(names) <= MANY else 6.0
    width = 0.42 + 0.5 * size / 72.0 * max(map(len, names))
    return max(1, min(len(names), int((page_width - 0.3) / width))), size


def _legend_heights(names: Sequence[str], page_width: float) -> tuple[float, float]:
    """Inches kept free for the shared legend above and below the panels."""
    if not names:
        return 0.0, 0.0
    columns, size = _legend_columns(names, page_width)
    height = 0.06 + math.ceil(len(names) / columns) * LEGEND_LINE * size / 7.5
    return (height, 0.0) if len(names) <= MANY else (0.0, height + 0.05)


def _shared_legend(made: Any, axes: Any, names: Sequence[str]) -> None:
    columns, size = _legend_columns(names, made.get_figwidth())
    handles, _ = axes.get_legend_handles_labels()
    above = len(names) <= MANY
    made.legend(
        _by_rows(handles, columns), _by_rows(list(names), columns), loc="upper center" if above else "lower center",
        bbox_to_anchor=(0.53, 1.0 if above else 0.0), ncols=columns, fontsize=size, borderpad=0.2, columnspacing=1.2,
        handletextpad=0.5, labelspacing=0.35,
    )  # fmt: skip


def _by_rows(items: list[Any], columns: int) -> list[Any]:
    """The order that makes matplotlib, which fills columns, show the items along rows."""
    return [item for k in range(columns) for item in items[k::columns]]


def plot_plate(time: np.ndarray, plate: Plate, path: str | os.PathLike[str]) -> Path:
    """Draw an example's figure over its times (n,) [s] into a file, as of `plot`."""
    panels = [Panel(one.quantity, one.unit, one.names, one.values, log=one.log) for one in plate.panels]
    over = time if plate.over is None else plate.over
    return write_figure(partial(panels_figure, over, panels, caption=plate.caption, across=plate.across), path)


# --- balance, momenta about the center of mass, power of every source -----------------------------------------------------
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
