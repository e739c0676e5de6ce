"""A mechanism at moments of its motion, side by side or overlaid, for print."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..contact.settings import ground_of
from ..errors import InputError
from ..records.record import Record
from .arrows import arrows_at
from .drawing_window import Stage, checked_poses
from .outlines import View
from .rods_and_springs import with_struts
from .style import QUIET, checked_target, drawing, print_style, write_figure

#: Inches: the text width of an A4 page, the largest heights of a strip and of one picture, the line under each picture.
PAGE_WIDTH, MOST_HEIGHT, MOST_PICTURE, CAPTION = 7.0, 5.2, 2.2, 0.2


def snapshots(
    result: Record, poses: np.ndarray, times: np.ndarray, path: str | os.PathLike[str], count: int = 8, *,
    overlay: bool = False, view: View | None = None,
) -> Path:  # fmt: skip
    """Draw a mechanism at `count` evenly spaced moments into a PDF, EPS, PNG or SVG.

    Args:
        poses: X_WB of the bodies in the mechanism's order, (m, bodies, 4, 4).
        times: of the poses, (m,) [s], increasing.
        overlay: all moments in one picture, earlier ones paler, instead of a strip.
        view: by default perpendicular to a planar motion, otherwise from above at a corner.

    Returns:
        The path.

    Raises:
        InputError: for another suffix, a folder that does not exist, poses that do not fit, or fewer than 1 picture.
    """
    target = checked_target(path)
    return write_figure(snapshots_figure(result, poses, times, count, overlay=overlay, view=view), target)


def snapshots_figure(
    result: Record, poses: np.ndarray, times: np.ndarray, count: int = 8, *, overlay: bool = False, view: View | None = None
) -> Any:
    """The figure of `snapshots` as a `matplotlib.figure.Figure`, to change and to save."""
    mechanism = result.mechanism
    X, t = checked_poses(mechanism.name, len(mechanism.bodies), poses, times)
    arrows = arrows_at(result, t)
    mechanism, X = with_struts(mechanism, X)
    if count < 1:
        raise InputError(f"{mechanism.name}: {count} snapshots cannot be drawn; give 1 or more")
    moments = np.unique([np.abs(t - moment).argmin() for moment in np.linspace(t[0], t[-1], count)])
    stage = Stage(mechanism, X, view, ground=ground_of(result.settings), arrows=arrows)
    with print_style():
        return _overlay(stage, X[moments], t[moments]) if overlay else _strip(stage, X[moments], t[moments], moments)


def _strip(stage: Stage, poses: np.ndarray, times: np.ndarray, moments: np.ndarray) -> Any:
    Figure = drawing("matplotlib.figure").Figure

    columns, scale = _arrangement(len(times), stage.size)
    rows = math.ceil(len(times) / columns)
    width, height = scale * stage.size
    made = Figure(figsize=(columns * width + 0.1, rows * (height + CAPTION) + 0.05))
    whole = made.get_size_inches()
    digits = 2 if len(times) < 2 or times[-1] - times[0] > 0.1 else 4
    for k, (X, time) in enumerate(zip(poses, times, strict=True)):
        left, bottom = 0.05 + (k % columns) * width, whole[1] - (k // columns + 1) * (height + CAPTION) + CAPTION
        axes = made.add_axes((left / whole[0], bottom / whole[1], 0.97 * width / whole[0], height / whole[1]))
        stage.frame(axes, X)
        stage.draw(axes, X, moment=int(moments[k]))
        if k == 0:
            stage.scale_bar(axes)
            stage.triad(axes, stage.free_corner(axes, [X]))
        axes.text(0.5, -0.02, f"{time:.{digits}f} s", transform=axes.transAxes, ha="center", va="top", fontsize=8)
    return made


def _arrangement(count: int, size: np.ndarray) -> tuple[int, float]:
    """The number of pictures per row and the scale [inches per metre]: large, few rows, no empty places."""
    best, chosen = (1, 0.0), 1.0
    for columns in range(1, count + 1):
        rows = math.ceil(count / columns)
        room = min(MOST_HEIGHT / rows - CAPTION, MOST_PICTURE if count > 1 else MOST_HEIGHT)
        if room <= 0.0:
            continue
        scale = min((PAGE_WIDTH - 0.1) / columns / size[0], room / size[1])
        vacant = rows * columns - count
        worth = scale / (1.0 + 0.35 * vacant) / (1.0 + 0.15 * (rows - 1))
        if worth > best[1] * 1.001:
            best, chosen = (columns, worth), scale
    return best[0], chosen


def _overlay(stage: Stage, poses: np.ndarray, times: np.ndarray) -> Any:
    Figure = drawing("matplotlib.figure").Figure

    low = np.min([stage.window(X)[0] for X in poses], axis=0)
    high = np.max([stage.window(X)[1] for X in poses], axis=0)
    size = high - low
    scale = min(0.75 * PAGE_WIDTH / size[0], MOST_HEIGHT / size[1])
    width, height = scale * size
    made = Figure(figsize=(width + 0.1, height + CAPTION + 0.1))
    whole = made.get_size_inches()
    axes = made.add_axes((0.05 / whole[0], (CAPTION + 0.05) / whole[1], width / whole[0], height / whole[1]))
    stage.frame(axes, poses[0])
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    for k, X in enumerate(poses):
        age = 1.0 - (k + 1) / len(poses)
        stage.draw(axes, X, fade=0.82 * age, shadow=k == len(poses) - 1)
    stage.scale_bar(axes)
    stage.triad(axes, stage.free_corner(axes, list(poses)))
    text = f"{times[0]:g} s (pale) to {times[-1]:g} s" if len(times) > 1 else f"{times[0]:g} s"
    axes.text(0.5, -0.01, text, transform=axes.transAxes, ha="center", va="top", fontsize=8, color=QUIET)
    return made
