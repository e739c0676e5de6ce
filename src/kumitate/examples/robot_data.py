"""The location of the robot files of example-robot-data."""

from __future__ import annotations

import importlib.util
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from ..errors import InputError

__all__ = ["robot_file", "robots_folder"]


def robot_file(name: str) -> Path:
    """A robot's file, by its path below the folder of robots.

    Raises:
        InputError: if it is not there, with the extra that brings it.
    """
    folder = robots_folder()
    if folder is None or not (folder / name).exists():
        raise InputError(f"{name} is not on this computer; it comes with pip install 'kumitate[robots]'")
    return folder / name


def robots_folder() -> Path | None:
    """Where example-robot-data puts its files: in its wheel's own folder, or beside Pinocchio's; None if they are not there."""
    with suppress(PackageNotFoundError):
        place = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
        if place.is_dir():
            return place
    spec = importlib.util.find_spec("pinocchio")
    above = Path(spec.origin).parents if spec is not None and spec.origin else ()
    return next((place for p in above if (place := p / "share" / "example-robot-data" / "robots").is_dir()), None)
