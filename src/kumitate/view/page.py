"""The self-contained page: 3D playback and linked plots on one timeline, in one HTML file that needs no network."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..contact.settings import ground_of
from ..errors import InputError, KumitateError, warn
from ..model.files import replacing
from ..records.record import Record
from .arrows import arrows_of
from .panels import Panel, has_one_loop, loop_panels, panels_of
from .scene import build_scene, packed

ASSETS = Path(__file__).with_name("assets")
#: Characters of a page: browsers open more, but slowly, and nobody sends it.
MOST = 40_000_000


def write_page(path: str | os.PathLike[str], scene: Mapping[str, Any]) -> Path:
    """Write a scene of `build_scene` as one HTML file, whole or not at all.

    Raises:
        InputError: for another suffix than .html or .htm; if the folder does not exist, the disk refuses, or the scene holds
            something that is not plain data, or too much of it.
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{target}: a page is a file that browsers open, .html or .htm; {target.suffix!r} is not one of these")
    text = page_text(scene, str(target))
    if len(text) > MOST:
        parts = {name: len(packed({name: scene[name]})) for name in ("live", "meshes", "motion", "channels") if name in scene}
        told = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sorted(parts.items(), key=lambda part: -part[1]))
        raise InputError(
            f"{target}: the page would have {len(text) / 1e6:.0f} MB, and {MOST / 1e6:.0f} MB are allowed; it is {told}. "
            "Record fewer times, decimate the meshes, or leave out the live simulation"
        )
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return target


def page_text(scene: Mapping[str, Any], target: str = "page") -> str:
    """A scene of `build_scene` as one HTML document; `target` names it in errors, which are those of `write_page`."""
    parts = {"title": html.escape(str(scene.get("title", ""))), "scene": packed(scene, target)}
    return filled("page.html", parts, style="page.css", player="player.js")


def filled(template: str, parts: Mapping[str, str], **assets: str) -> str:
    """A page: the template with each {{name}} replaced by the part or the asset file of that name."""
    whole = {**parts, **{name: _asset(file) for name, file in assets.items()}}
    return re.sub(r"\{\{(\w+)\}\}", lambda found: whole[found[1]], _asset(template))  # one pass: data is never a template


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


# --- a run as the page plays it: its motion, curves, contact and surroundings ----------------------------------------------
def channels_of(result: Record) -> list[dict[str, Any]]:
    """One plot per panel of the result (joints, loops, energy, determinant, center of mass, contact) for `build_scene`.

    The note of a plot says what it leaves out.
    """
    closed = ("determinant",) if has_one_loop(result) else ()
    touched = () if result.contact is None else ("contact_forces", "center_of_pressure")
    panels = panels_of(result, ("q", "v", "a", "tau", *touched, "energy", *closed, "center_of_mass", "center_of_mass_velocity"))
    try:
        panels += loop_panels(result)
    except KumitateError as error:  # contact in steps too long for stiff loops: the motion is still worth a page
        warn(f"the page is without forces of loops: {error}")
    return [
        {
            "title": panel.quantity,
            "unit": panel.unit,
            "x": result.time,
            "reach": panel.reach,
            "note": panel.note,
            "series": [{"name": name, "values": panel.values[:, k]} for k, name in enumerate(panel.names)],
        }
        for panel in sorted(panels, key=_rank)
    ]


def _rank(panel: Panel) -> int:
    """What is looked at first: joints and energy, then all else; quaternions, which few read, last."""
    if "quaternion" in panel.quantity:
        return 3
    return 0 if panel.by_joint else 1 if panel.quantity == "Energy" else 2


def playback(result: Record, samples: np.ndarray, poses: np.ndarray, *, title: str = "") -> dict[str, Any]:
    """The data that the page shows of a run, for `write_page`.

    Args:
        samples: increasing indices of the run's times that are shown (k,).
        poses: X_WB of the bodies at these, (k, bodies, 4, 4).
        title: of the page; the mechanism's name if empty.

    Raises:
        InputError: as `scene.build_scene`.
    """
    channels = channels_of(result)
    left_out = dict.fromkeys(channel["note"] for channel in channels if channel["note"])
    return build_scene(
        result.mechanism, result.time[samples], poses, channels, title=title, notes=(*result.audit.lines(), *left_out),
        ground=ground_of(result.settings), arrows=arrows_of(result, samples),
    )  # fmt: skip


# --- the page of a sweep: parameters against outcomes as points and as parallel lines -------------------------------------
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
    """
    count = len(columns["run"])
    chosen = np.unique(np.linspace(0, count - 1, min(count, SHOWN)).round().astype(int)).tolist() if count else []
    shown = {name: [_short(values[k]) for k in chosen] for name, values in columns.items() if name not in _TEXTS}
    data = {
        "title": title, "runs": runs, "done": count, "command": f"kumitate simulate {shlex.quote(folder)} --run ",
        "columns": [
            {"name": name, "unit": units[name], "parameter": name in parameters, "values": values}
            for name, values in shown.items()
        ],
        **{name: [columns[name][k] for k in chosen] for name in ("run", "status", "message", "recorded")},
    }  # fmt: skip
    text = json.dumps(data, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    # as JSON this is the same; as HTML nothing in it can end the element that holds it
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    page = filled("sweep.html", {"title": html.escape(title), "data": text}, style="sweep.css", script="sweep.js")
    with replacing(target := Path(path)) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    return target


def _short(value: Any) -> Any:
    """A value of the table as the page shows it: six digits, None for what is not a number."""
    if isinstance(value, str):
        return value
    return float(f"{value:.6g}") if value is not None and np.isfinite(value) else None
