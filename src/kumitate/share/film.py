"""A run as a film (MP4): pictures of its page, where a browser is installed, or of its skeleton."""

from __future__ import annotations

import io
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ..contact.settings import ground_of
from ..errors import InputError, needed, warn
from . import RunWithRobot
from .browser import SUPPORTED, VARIABLE, find_chromium, page_pictures

#: Most pictures per second that players show.
_FASTEST = 60.0
#: Pixels of a side.
_SMALLEST, _LARGEST = 64, 4096


def write_film(
    run: RunWithRobot, path: Path, *, fps: float = 25.0, size: tuple[int, int] = (960, 540),
    progress: Callable[[float], None] | None = None,
) -> None:  # fmt: skip
    """Writes a run as a film in real time, H.264 in MP4.

    The pictures are of the page, with the robot's meshes, rendered by Chromium; without it, of the skeleton of `run.animate`.

    Args:
        fps: pictures per second, up to 60; size: of a picture [pixels], even numbers; progress: called with the fraction done.

    Raises:
        InputError: for another fps or size, or if imageio-ffmpeg is not installed.

    Warns:
        KumitateWarning: if there is no browser, so that a skeleton is drawn.
    """
    name, sizes_known = run.mechanism.name, all(_SMALLEST <= side <= _LARGEST and side % 2 == 0 for side in size)
    if not 0.0 < fps <= _FASTEST or not sizes_known:
        raise InputError(
            f"{name}: a film of {fps} pictures per second of {size} pixels; give 0 < fps ≤ {_FASTEST:g}, and even sizes of "
            f"{_SMALLEST} to {_LARGEST} pixels"
        )
    library = encoder()
    time = run.time
    moments = time[0] + np.arange(int((time[-1] - time[0]) * fps + 1e-6) + 1) / fps
    with tempfile.TemporaryDirectory(prefix="kumitate-", ignore_cleanup_errors=True) as folder:
        pictures = _pictures(run, moments, size, Path(folder))
        encode(library, _told(pictures, len(moments), progress), path, fps)


def _pictures(run: RunWithRobot, moments: np.ndarray, size: tuple[int, int], folder: Path) -> Iterator[bytes]:
    from ..view import write_page
    from ..view.arrows import arrows_of
    from ..view.scene import build_scene
    from ..view.snapshots import nearest

    browser = find_chromium() if SUPPORTED else None
    if browser is None:
        warn(
            f"{run.mechanism.name}: no Chromium was found that renders the page, so that the film shows the skeleton; install "
            f"it, or set {VARIABLE} to its path"
        )
        return _skeletons(run, moments, size)
    samples = np.unique(nearest(run.time, moments))
    ground, arrows = ground_of(run.settings), arrows_of(run, samples)
    scene = build_scene(run.mechanism, run.time[samples], run.poses(samples), ground=ground, arrows=arrows)
    return page_pictures(browser, write_page(folder / "film.html", scene), moments.tolist(), size)


def _skeletons(run: RunWithRobot, moments: np.ndarray, size: tuple[int, int]) -> Iterator[bytes]:
    """The pictures of `run.animate` as PNG."""
    from ..view.snapshots import drawer, nearest, staged
    from ..view.style import drawing, print_style

    kept, index = np.unique(nearest(run.time, moments), return_inverse=True)
    stage, X, _ = staged(run, run.poses(kept), run.time[kept])
    Image = drawing("PIL.Image")
    with print_style():
        draw = drawer(stage, size)
        for k, moment in zip(index, moments, strict=True):
            file = io.BytesIO()
            Image.fromarray(draw(X[k], int(k), float(moment))).save(file, format="PNG", compress_level=1)
            yield file.getvalue()


def _told(pictures: Iterator[bytes], count: int, progress: Callable[[float], None] | None) -> Iterator[bytes]:
    for k, picture in enumerate(pictures, 1):
        yield picture
        if progress is not None:
            progress(k / count)


def encoder() -> str:
    """The program that encodes films."""
    otherwise = ", or write a .gif by run.animate"
    return str(needed("imageio_ffmpeg", ".mp4 files need imageio-ffmpeg", "film", otherwise).get_ffmpeg_exe())


def encode(encoder: str, pictures: Iterable[bytes], path: Path, fps: float) -> None:
    """Encodes PNG pictures of even sizes; 4:2:0 and the index in front, so that browsers and slides play the film."""
    command: Sequence[str] = (
        encoder, "-loglevel", "error", "-y", "-f", "image2pipe", "-framerate", f"{fps:g}", "-c:v", "png", "-i", "-",
        "-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(path),
    )  # fmt: skip
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    try:
        for picture in pictures:
            process.stdin.write(picture)
    except BrokenPipeError:
        pass  # ffmpeg has said why
    except BaseException:
        process.kill()
        process.communicate()
        raise
    _, said = process.communicate()
    if process.returncode:
        raise InputError(f"{path}: the film cannot be encoded: {said.decode(errors='replace').strip()}")
