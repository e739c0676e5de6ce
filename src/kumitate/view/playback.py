"""A run as the page plays it: its motion, curves, contact and surroundings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contact.settings import ground_of
from ..errors import KumitateError, warn
from ..records.record import Record
from .arrows import arrows_of
from .contact_panels import loop_panels
from .panel import Panel
from .panels import has_one_loop, panels_of
from .scene import build_scene


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
