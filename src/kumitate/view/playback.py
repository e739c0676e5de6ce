"""A run as the page plays it: its motion, curves, contact and surroundings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contact.settings import ground_of
from ..simulate.results.result import Result
from .arrows import arrows_of
from .channels import channels_of
from .scene import build_scene


def playback(result: Result, samples: np.ndarray, poses: np.ndarray, *, title: str = "") -> dict[str, Any]:
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
