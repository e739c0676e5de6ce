"""A mechanism at moments of its motion, side by side or overlaid, for print."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..contact.settings import ground_of
from ..errors import InputError
from ..model.files import replacing
from ..records.record import Record
from .arrows import arrows_at
from .drawing_window import FORCE_COLOR, Stage
from .outlines import View
from .scene import checked_motion
from .stick_shapes import with_struts
from .style import QUIET, drawing, print_style, write_figure

#: Inches: the text width of an A4 page, the largest heights of a strip and of one picture, the line under each picture.
PAGE_WIDTH, MOST_HEIGHT, MOST_PICTURE, CAPTION = 7.0, 5.2, 2.2, 0.2


def snapshots(
    result: Record, poses: np.ndarray, times: np.ndarray, path: str | os.PathLike[str], count: int = 8, *,
    view: View | None = None,
) -> Path:  # fmt: skip
    """Draw a mechanism at `count` evenly spaced moments into a PDF, EPS, PNG or SVG.

    Args:
        poses: X_WB of the bodies in the mechanism's order, (m, bodies, 4, 4).
        times: of the poses, (m,) [s], increasing.
        view: by default perpendicular to a planar motion, otherwise from above at a corner.

    Raises:
        InputError: for another suffix, a folder that does not exist, poses that do not fit, or fewer than 1 picture.
    """
    return write_figure(partial(snapshots_figure, result, poses, times, count, view=view), path)


def snapshots_figure(result: Record, poses: np.ndarray, times: np.ndarray, count: int = 8, *, view: View | None = None) -> Any:
    """The figure of `snapshots` as a `matplotlib.figure.Figure`, to change and to save."""
    stage, X, t = staged(result, poses, times, view)
    if count < 1:
        raise InputError(f"{result.mechanism.name}: {count} snapshots cannot be drawn; give 1 or more")
    moments = np.unique([np.abs(t - moment).argmin() for moment in np.linspace(t[0], t[-1], count)])
    with print_style():
        return _strip(stage, X[moments], t[moments], moments)


def staged(result: Record, poses: Any, times: Any, view: View | None = None) -> tuple[Stage, np.ndarray, np.ndarray]:
    """The window of a motion, its poses with those of rods and springs, and its times; arguments as of `snapshots`."""
    t, X = checked_motion(result.mechanism, times, poses)
    mechanism, X = with_struts(result.mechanism, X)
    return Stage(mechanism, X, view, ground=ground_of(result.settings), arrows=arrows_at(result, t)), X, t


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

    Raises:
        InputError: for a suffix that is not .gif, a folder that does not exist, or poses, fps or a size that cannot be drawn.
    """
    target = Path(path)
    if target.suffix.lower() != ".gif":
        raise InputError(f"{target}: animations are written as .gif; got the suffix {target.suffix!r}")
    if not 0.0 < fps <= 50.0 or min(size) < 16:
        raise InputError(f"{target}: {fps} pictures per second of {size} pixels; give 0 < fps ≤ 50 and at least 16 × 16 pixels")
    stage, X, t = staged(result, poses, times, view)
    span = float(t[-1] - t[0])
    slower = math.ceil(3.0 / span / 10.0) * 10 if 0.0 < span <= 0.1 else 1  # below 0.1 s it would be too short to see
    moments = t[0] + np.arange(int(span * slower * fps + 1e-6) + 1) / (slower * fps)
    samples = nearest(t, moments)
    # a GIF counts in hundredths of a second: rounding the ends, not the lengths, keeps real time
    ends = np.round(100.0 * np.arange(len(moments) + 1) / fps).astype(int)
    durations = [int(10 * length) for length in np.diff(ends)]
    durations[-1] += int(1000 * PAUSE)
    with replacing(target) as temporary, print_style():
        draw = drawer(stage, size, slower)
        pictures = _in_same_colors(lambda k: draw(X[samples[k]], int(samples[k]), float(moments[k])), len(moments), progress)
        whole = {"format": "GIF", "save_all": True, "loop": 0, "disposal": 1, "optimize": False}
        next(pictures).save(temporary, append_images=pictures, duration=durations, **whole)
    return target


def nearest(times: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """The indices of the times (n) that are nearest to moments (m)."""
    after = np.clip(np.searchsorted(times, moments), 1, max(len(times) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(times) - 1)
    return np.where(moments - times[before] <= times[after] - moments, before, after)


def _in_same_colors(
    drawn: Callable[[int], np.ndarray], count: int, progress: Callable[[float], None] | None
) -> Iterator[Any]:  # fmt: skip
    """The pictures of numbers 0 to `count`, all in the same 255 colours."""
    Image = drawing("PIL.Image")
    examples = np.concatenate([drawn(k) for k in np.unique(np.linspace(0, count - 1, 5).astype(int))])
    palette = Image.fromarray(examples).quantize(255, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colors = np.array(palette.getpalette()).reshape(-1, 3)
    colors[colors.min(axis=1) >= 248] = 255  # the paper is white, not nearly white
    palette.putpalette(colors.ravel().tolist())
    for k in range(count):
        yield Image.fromarray(drawn(k)).quantize(palette=palette, dither=Image.Dither.NONE)
        if progress is not None:
            progress((k + 1) / count)


def drawer(stage: Stage, size: tuple[int, int], slower: int = 1) -> Callable[[np.ndarray, int, float], np.ndarray]:
    """What draws pictures (height, width, 3) of a stage: from the poses (bodies, 4, 4), their sample, and the time [s]."""
    figure = drawing("matplotlib.figure").Figure(figsize=(size[0] / 100.0, size[1] / 100.0), dpi=100.0)
    canvas = drawing("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
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
