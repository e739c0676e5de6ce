"""The curves of a result as the page plots them."""

from __future__ import annotations

from typing import Any

from ..simulate.result import Result
from .panels import panels_of

__all__ = ["channels_of"]


def channels_of(result: Result) -> list[dict[str, Any]]:
    """One plot a panel of the result (joint motion, efforts, energy, mass centre), as `scene.build_scene` takes them."""
    panels = panels_of(result, ("q", "v", "a", "tau", "energy", "center_of_mass", "center_of_mass_velocity"))
    return [
        {
            "title": panel.quantity,
            "unit": panel.unit,
            "x": result.time,
            "series": [{"name": name, "values": panel.values[:, k]} for k, name in enumerate(panel.names)],
        }
        for panel in panels
    ]
