"""The location of the robot files of example-robot-data."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from ..model.read.robot_names import robots_folder

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
