"""Curves as the page plots them: thinned without losing a peak, the curves of one plot together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import InputError
from ...model import Mechanism
from .packing import Steps

#: Curves with more points than this are thinned, keeping the extremes.
MAX_POINTS = 2000
#: Likewise all curves of a page together, as long as each has at least `_FEWEST` points.
_MAX_ALL, _FEWEST = 400_000, 120


def plots(
    mechanism: Mechanism, channels: Sequence[Mapping[str, Any]], groups: Mapping[str, int]
) -> list[dict[str, Any]]:  # fmt: skip
    """The plots of `build_scene`; `groups`: the number of the colour of each body, by name.

    Raises:
        InputError: for a curve whose values are not one per time.
    """
    curves = sum(len(channel["series"]) for channel in channels)
    most = min(MAX_POINTS, max(_FEWEST, _MAX_ALL // max(curves, 1)))
    carried = {joint.name: groups[joint.child] for joint in mechanism.joints}
    return [_plot(mechanism.name, channel, carried, most) for channel in channels]


def _plot(name: str, channel: Mapping[str, Any], carried: Mapping[str, int], most: int) -> dict[str, Any]:
    x = np.asarray(channel["x"], dtype=float)
    series, points = [], []
    for curve in channel["series"]:
        y = np.asarray(curve["values"], dtype=float)
        if x.ndim != 1 or y.shape != x.shape or len(x) == 0:
            raise InputError(
                f"{name}: plot {channel['title']!r}, series {curve['name']!r}: {y.shape} values for times of shape {x.shape}; "
                "give one value per time"
            )
        label = str(curve["name"])
        series.append({"name": label, **({"group": carried[label]} if label in carried else {})})
        points.append(thinned(x, y, most))
    length = max((len(px) for px, _ in points), default=0)
    across, up = (
        np.array([np.pad(part[k], (0, length - len(part[k])), mode="edge") for part in points]).reshape(-1, length)
        for k in (0, 1)
    )
    reach = channel.get("reach")
    limits = {} if reach is None else {"reach": [float(end) for end in reach]}
    data = {"title": str(channel["title"]), "unit": str(channel.get("unit", "")), "series": series}
    return {**data, "x": Steps(across), "y": Steps(up), **limits}


def thinned(x: np.ndarray, y: np.ndarray, limit: int = MAX_POINTS) -> tuple[np.ndarray, np.ndarray]:
    """At most `limit` (≥ 4) points of a curve: its ends, and the lowest and highest of equal intervals; no peak is lost."""
    if len(x) <= limit:
        return x, y
    stretches = (limit - 2) // 2
    width = -(-len(x) // stretches)
    index = np.minimum(np.arange(stretches * width), len(x) - 1).reshape(stretches, width)
    low = np.where(np.isnan(y), np.inf, y)[index].argmin(axis=1)
    high = np.where(np.isnan(y), -np.inf, y)[index].argmax(axis=1)
    rows = np.arange(stretches)
    keep = np.unique(np.concatenate([[0], index[rows, low], index[rows, high], [len(x) - 1]]))
    return x[keep], y[keep]
