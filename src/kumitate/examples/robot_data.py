"""The location of the robot files of example-robot-data."""

from __future__ import annotations

import importlib.util
from pathlib import Path

__all__ = ["robots_folder"]


def robots_folder() -> Path | None:
    """The folder in which the wheel of example-robot-data puts its files: the one of Pinocchio's."""
    spec = importlib.util.find_spec("pinocchio")
    above = Path(spec.origin).parents if spec is not None and spec.origin else ()
    return next((place for p in above if (place := p / "share" / "example-robot-data" / "robots").is_dir()), None)
