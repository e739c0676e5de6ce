"""A motion as an animated GIF, drawn without a display."""

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
from .rods_and_springs import with_struts
from .style import QUIET, drawing, print_style

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
