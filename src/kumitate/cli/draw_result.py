"""Drawing a result into its folder: graphs, snapshots, animation, page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from .report import complain, progress

if TYPE_CHECKING:
    from ..examples.illustrated import Plate
    from ..run import Run

FORMATS = ("pdf", "png", "eps", "svg")


def formats_of(text: str) -> tuple[str, ...]:
    """The formats in a list such as "pdf,png".

    Raises:
        InputError: if one is unknown.
    """
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
    panels: Sequence[str] | None = None,
    plates: Mapping[str, Plate] | None = None,
) -> dict[str, Path]:
    """Draw all figures of a result: its graphs with `panels`, and further figures, `plates`, by name.

    Returns:
        The files by name, such as "graphs.pdf".
    """
    files: dict[str, Path] = {}
    with progress("drawing") as done:
        jobs: list[tuple[str, Callable[[Path], Path]]] = [
            (f"graphs.{suffix}", partial(result.plot, panels=panels)) for suffix in formats
        ]
        jobs += [(f"snapshots.{suffix}", result.snapshots) for suffix in formats]
        for name, plate in (plates or {}).items():
            jobs += [(f"{name}.{suffix}", partial(_plot_plate, result, plate)) for suffix in formats]
        jobs += [("motion.gif", result.animate)] if gif else []
        if find_spec("matplotlib") is None:
            complain("graphs are left out: they need matplotlib; pip install 'kumitate[plot]'", what="warning")
            jobs = []
        jobs.append(("page.html", result.page))
        for number, (name, job) in enumerate(jobs):
            job(folder / name)
            files[name] = folder / name
            done((number + 1) / len(jobs))
    return files


def _plot_plate(result: Run, plate: Plate, path: Path) -> Path:
    from ..view.plates import plot_plate

    return plot_plate(result.time, plate, path)
