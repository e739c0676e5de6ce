"""The folder of a run: its files, and how the last one is found."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from .report import complain, progress

if TYPE_CHECKING:
    from ..examples.catalogue import Plate
    from ..run import Run

#: The folder of runs by default.
RUNS = Path("kumitate-runs")
#: The names of result files, by format.
RESULTS = ("result.h5", "result.npz")
#: The suffixes of files of results.
OF_RESULTS = (".h5", ".hdf5", ".npz")
#: The names of drawings of a result, without suffix.
DRAWINGS = ("graphs", "snapshots", "motion", "page")
SUFFIXES = (".pdf", ".png", ".eps", ".svg", ".gif", ".html")
#: Temporary files, which a killed run leaves behind: .NAME.PROCESS-DIGITS.SUFFIX, or .NAME.PROCESS.part.
_TEMPORARY = re.compile(r"\..+\.\d+(-[0-9a-f]{8,12}\.(h5|hdf5|npz|pdf|png|eps|svg|gif|html|csv|parquet|mcap|mp4)|\.part)")
#: Temporary files older than this are deleted [s]; younger ones may belong to a run that is still writing.
_ABANDONED = 3600.0


def make(name: str, out: Path | None) -> Path:
    """The folder for a run of the mechanism `name`, created if missing: `out`, or one below `RUNS`.

    Temporary files that a killed run left there more than an hour ago are deleted.
    """
    folder = out if out is not None else RUNS / (re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run")
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if _TEMPORARY.fullmatch(path.name):
            with contextlib.suppress(OSError):  # another run may have deleted it
                if time.time() - path.lstat().st_mtime > _ABANDONED:
                    path.unlink()
    return folder


def result_file(folder: Path) -> Path:
    """The file for the result: HDF5 if h5py is installed, .npz otherwise."""
    return folder / (RESULTS[0] if find_spec("h5py") else RESULTS[1])


def clear_drawings(folder: Path, keep: Path) -> None:
    """Remove files of older results from the folder: they would be taken for those of the result `keep`."""
    for path in folder.iterdir():
        older_drawing = path.stem in DRAWINGS and path.suffix in SUFFIXES
        if older_drawing or (path.name in RESULTS and path != keep):
            path.unlink()


def latest(place: Path | None) -> Path:
    """The result to open: the file `place`, the newest in the folder `place`, or the newest below `RUNS`."""
    if place is not None and not place.is_dir():
        if not place.exists():
            raise InputError(f"{place}: there is no such file; `kumitate simulate` writes results below {RUNS}/")
        return place
    patterns = RESULTS if place is not None else tuple(f"*/{name}" for name in RESULTS)
    found = [path for pattern in patterns for path in (place or RUNS).glob(pattern)]
    if not found:
        raise InputError(f"{place or RUNS}: there is no result here yet; run `kumitate simulate pa10`, or name a result's file")
    return max(found, key=lambda path: path.stat().st_mtime)


# --- drawing a result into its folder: graphs, snapshots, animation, page -------------------------------------------------
FORMATS = ("pdf", "png", "eps", "svg")


def formats_of(text: str) -> tuple[str, ...]:
    """The formats in a list such as "pdf,png"; unknown ones are refused."""
    formats = tuple(part.strip().lower().removeprefix(".") for part in text.split(",") if part.strip())
    for part in formats:
        if part not in FORMATS:
            raise InputError(f"--formats {text}: {part!r} is not a format of graphs; there are {', '.join(FORMATS)}")
    return formats


def draw(
    result: Run,
    folder: Path,
    *,
    gif: bool,
    formats: tuple[str, ...],
    live: bool = False,
    panels: Sequence[str] | None = None,
    plates: Mapping[str, Plate] | None = None,
) -> dict[str, Path]:
    """Draw the figures of a result: graphs with `panels`, further ones, `plates`, and the page; gives files by name."""
    from ..view.figures import plot_plate

    files: dict[str, Path] = {}
    with progress("drawing") as done:
        jobs: list[tuple[str, Callable[[Path], Path]]] = [
            (f"graphs.{suffix}", partial(result.plot, panels=panels)) for suffix in formats
        ]
        jobs += [(f"snapshots.{suffix}", result.snapshots) for suffix in formats]
        for name, plate in (plates or {}).items():
            jobs += [(f"{name}.{suffix}", partial(plot_plate, result.time, plate)) for suffix in formats]
        jobs += [("motion.gif", result.animate)] if gif else []
        if find_spec("matplotlib") is None:
            complain("graphs are left out: they need matplotlib; pip install 'kumitate[plot]'", what="warning")
            jobs = []
        jobs.append(("page.html", partial(result.page, live=live)))
        for number, (name, job) in enumerate(jobs):
            job(folder / name)
            files[name] = folder / name
            done((number + 1) / len(jobs))
    return files
