"""A mechanism at moments of its motion, side by side or overlaid, for print."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..contact.settings import ground_of
from ..errors import InputError
from ..model.files import replacing
from ..records.record import Record
from .arrows import arrows_at
from .drawing_window import FORCE_COLOR, Stage, checked_poses
from .outlines import View
from .stick_shapes import with_struts
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


# --- animation ------------------------------------------------------------------------------------------------------------
#: Seconds that the last picture stays before the motion starts again.
PAUSE = 0.8


def animate(
    result: Record, poses: np.ndarray, times: np.ndarray, path: str | os.PathLike[str], fps: float = 25,
    size: tuple[int, int] = (640, 480), *, progress: Callable[[float], None] | None = None, view: View | None = None,
) -> Path:  # fmt: skip
    """Write a motion as an animated GIF that loops in real time; motions shorter than 0.1 s are slowed down.

    Args:
        poses: X_WB of the bodies in the mechanism's order, (m, bodies, 4, 4); each picture shows the sample nearest in time.
        times: of the poses, (m,) [s], increasing.
        fps: pictures per second, up to 50 (viewers slow down faster animations).
        size: of a picture [pixels].
        progress: called with the fraction done after each picture.
        view: by default perpendicular to a planar motion, otherwise from above at a corner.

    Returns:
        The path.

    Raises:
        InputError: for a suffix that is not .gif, a folder that does not exist, or poses, fps or a size that cannot be drawn.
    """
    target, mechanism = Path(path), result.mechanism
    if target.suffix.lower() != ".gif":
        raise InputError(f"{target}: animations are written as .gif; got the suffix {target.suffix!r}")
    if not 0.0 < fps <= 50.0 or min(size) < 16:
        raise InputError(f"{target}: {fps} pictures per second of {size} pixels; give 0 < fps ≤ 50 and at least 16 × 16 pixels")
    X, t = checked_poses(mechanism.name, len(mechanism.bodies), poses, times)
    arrows = arrows_at(result, t)
    mechanism, X = with_struts(mechanism, X)
    slower = _slowing(float(t[-1] - t[0]))
    moments = t[0] + np.arange(int((t[-1] - t[0]) * slower * fps + 1e-6) + 1) / (slower * fps)
    samples = nearest(t, moments)
    # a GIF counts in hundredths of a second: rounding the ends, not the lengths, keeps real time
    ends = np.round(100.0 * np.arange(len(moments) + 1) / fps).astype(int)
    durations = [int(10 * length) for length in np.diff(ends)]
    durations[-1] += int(1000 * PAUSE)
    stage = Stage(mechanism, X, view, ground=ground_of(result.settings), arrows=arrows)
    pictures = _pictures(stage, X[samples], samples, moments, size, slower, progress)
    with replacing(target) as temporary, print_style():
        first = next(pictures)
        first.save(
            temporary,
            format="GIF",
            save_all=True,
            append_images=pictures,
            duration=durations,
            loop=0,
            disposal=1,
            optimize=False,
        )
    return target


def _slowing(span: float) -> int:
    """The factor by which a motion of this duration [s] is slowed down: below 0.1 s it would be too short to see."""
    return 1 if span > 0.1 or span <= 0.0 else math.ceil(3.0 / span / 10.0) * 10


def nearest(times: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """The indices of the times (n) that are nearest to moments (m)."""
    after = np.clip(np.searchsorted(times, moments), 1, max(len(times) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(times) - 1)
    return np.where(moments - times[before] <= times[after] - moments, before, after)


def _pictures(
    stage: Stage,
    poses: np.ndarray,
    samples: np.ndarray,
    moments: np.ndarray,
    size: tuple[int, int],
    slower: int,
    progress: Callable[[float], None] | None,
) -> Iterator[Any]:
    """The pictures, all in the same 255 colours."""
    Image = drawing("PIL.Image")
    draw = drawer(stage, size, slower)

    def drawn(k: int) -> np.ndarray:
        return draw(poses[k], int(samples[k]), float(moments[k]))

    examples = np.concatenate([drawn(k) for k in np.unique(np.linspace(0, len(poses) - 1, 5).astype(int))])
    palette = Image.fromarray(examples).quantize(255, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colors = np.array(palette.getpalette()).reshape(-1, 3)
    colors[colors.min(axis=1) >= 248] = 255  # the paper is white, not nearly white
    palette.putpalette(colors.ravel().tolist())
    for k in range(len(poses)):
        yield Image.fromarray(drawn(k)).quantize(palette=palette, dither=Image.Dither.NONE)
        if progress is not None:
            progress((k + 1) / len(poses))


def drawer(stage: Stage, size: tuple[int, int], slower: int = 1) -> Callable[[np.ndarray, int, float], np.ndarray]:
    """What draws pictures (height, width, 3) of a stage: from the poses (bodies, 4, 4), their sample, and the time [s]."""
    FigureCanvasAgg, Figure = (
        getattr(drawing(f"matplotlib.{module}"), name)
        for module, name in (("backends.backend_agg", "FigureCanvasAgg"), ("figure", "Figure"))
    )
    dpi = 100.0
    figure = Figure(figsize=(size[0] / dpi, size[1] / dpi), dpi=dpi)
    canvas = FigureCanvasAgg(figure)

    corners: list[tuple[int, int]] = []

    def drawn(X: np.ndarray, sample: int, moment: float) -> np.ndarray:
        nonlocal corners
        figure.clear()
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        stage.frame(axes, X)
        _widen(axes, size)
        stage.draw(axes, X, moment=sample)
        if not stage.view.plane:
            corners = corners or [stage.free_corner(axes, [X])]  # where it stays
            stage.triad(axes, corners[0])
        clock = f"{moment:.2f} s" if slower == 1 else f"{moment:.4f} s, {slower} times slower"
        figure.text(0.025, 0.035, clock, fontsize=11)
        if stage.force_scale:
            figure.text(0.5, 0.035, stage.force_scale, fontsize=11, ha="center", color=FORCE_COLOR)
        figure.text(0.975, 0.035, stage.silhouettes.name, fontsize=11, ha="right", color=QUIET)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()

    return drawn


def _widen(axes: Any, size: tuple[int, int]) -> None:
    """Enlarge the window to the picture's proportions, so that the surroundings are drawn too."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    width, height = right - left, (top - bottom) * 1.12  # with space for the text below
    wanted = max(width / size[0], height / size[1])
    middle, center = 0.5 * (left + right), 0.5 * (bottom + top)
    axes.set_xlim(middle - 0.5 * wanted * size[0], middle + 0.5 * wanted * size[0])
    axes.set_ylim(center - 0.5 * wanted * size[1], center + 0.5 * wanted * size[1])
