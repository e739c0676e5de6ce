"""The page of a sweep: parameters against outcomes as points and as parallel lines, in one HTML file that needs no network."""

from __future__ import annotations

import html
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..simulate.results.whole_file import replacing
from .page import embedded, filled

#: So many runs are drawn at most, spread evenly over all of them.
SHOWN = 5000
#: Columns that are of the run as a whole, and not numbers to plot.
_TEXTS = ("run", "status", "message", "recorded", "seed")


def write_sweep_page(
    path: str | os.PathLike[str],
    columns: Mapping[str, Sequence[Any]],
    units: Mapping[str, str],
    parameters: Sequence[str],
    *,
    title: str,
    runs: int,
    folder: str,
) -> Path:
    """Writes the page of a sweep; whole or not at all.

    Args:
        columns: of its table, by name, all of one length; with "run", "status", "message" and "recorded".
        units: of these; `parameters`: which of them vary.
        title: of the page; `runs`: how many are asked for; `folder`: of the sweep, for the command that simulates a run again.

    Raises:
        InputError: if the folder does not exist, or the disk refuses.
    """
    count = len(columns["run"])
    chosen = np.unique(np.linspace(0, count - 1, min(count, SHOWN)).round().astype(int)).tolist() if count else []
    plotted = [name for name in columns if name not in _TEXTS]
    data = {
        "title": title, "runs": runs, "done": count, "command": f"kumitate simulate {shlex.quote(folder)} --run ",
        "columns": [
            {"name": name, "unit": units[name], "parameter": name in parameters, "values": _picked(columns[name], chosen)}
            for name in plotted
        ],
        **{name: [columns[name][k] for k in chosen] for name in ("run", "status", "message", "recorded")},
    }  # fmt: skip
    target = Path(path)
    parts = {"title": html.escape(title), "data": embedded(data, str(target))}
    with replacing(target) as temporary:
        temporary.write_text(filled("sweep.html", parts, style="sweep.css", script="sweep.js"), encoding="utf-8", newline="\n")
    return target


def _picked(values: Sequence[Any], chosen: Sequence[int]) -> list[Any]:
    return [_short(values[k]) for k in chosen]


def _short(value: Any) -> Any:
    """A value of the table as the page shows it: six digits, None for what is not a number."""
    if isinstance(value, str):
        return value
    return float(f"{value:.6g}") if value is not None and np.isfinite(value) else None
