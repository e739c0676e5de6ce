"""Robots by name: the files of example-robot-data, and those that robot_descriptions downloads."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from ...errors import InputError

__all__ = ["RobotFile", "described_robot", "known_names", "robots_folder", "similar"]

#: The package that downloads descriptions, and the ending of the names of its modules.
_DESCRIPTIONS, _ENDING = "robot_descriptions", "_description"
#: Where a module of it says its file is, in the order of preference.
_PATHS = ("URDF_PATH", "XACRO_PATH", "MJCF_PATH", "SDF_PATH")


@dataclass(frozen=True)
class RobotFile:
    """The file of a robot; `arguments` and `packages` are those of a xacro source."""

    path: Path
    arguments: dict[str, Any] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)


def described_robot(name: str) -> RobotFile | None:
    """The file of a robot by its name: of example-robot-data first, else of robot_descriptions, which may download it.

    Raises:
        InputError: if robot_descriptions knows the name but cannot bring the file, as without a network; with its reason.
    """
    file = _installed().get(name)
    if file is not None:
        return RobotFile(file)
    return _download(name) if name in _descriptions() else None


def known_names() -> list[str]:
    """The names of all robots that can be loaded by name."""
    return sorted({*_installed(), *_descriptions()})


def similar(name: str, samples: list[str]) -> str:
    """The close matches among samples and robots, as a question with a blank behind it; "" if there are none."""
    names = [*samples, *known_names()]
    near = [other for other in names if other.startswith(f"{name}_")][:3] or get_close_matches(name, names, 3)
    return f"did you mean {' or '.join(repr(other) for other in near)}? " if near else ""


def robots_folder() -> Path | None:
    """Where example-robot-data puts its files: in its wheel's own folder, or beside Pinocchio's; None if they are not there."""
    with suppress(PackageNotFoundError):
        place = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
        if place.is_dir():
            return place
    spec = importlib.util.find_spec("pinocchio")
    above = Path(spec.origin).parents if spec is not None and spec.origin else ()
    return next((place for p in above if (place := p / "share" / "example-robot-data" / "robots").is_dir()), None)


def _installed() -> dict[str, Path]:
    """The files of example-robot-data by name: the file's own, or the folder's where several files have it.

    "ur5_robot.urdf" is "ur5", even where there is another "ur5.urdf", which holds the macros.
    """
    folder = robots_folder()
    if folder is None:
        return {}
    files = sorted([*folder.rglob("*.urdf"), *folder.rglob("*.sdf")], key=lambda file: (file.stem.endswith("_robot"), file))
    shared = Counter(file.stem for file in files)
    return {
        file.stem.removesuffix("_robot") if shared[file.stem] == 1 else _short(file.relative_to(folder).parts[0]): file
        for file in files
    }


def _short(folder: str) -> str:
    """The robot's name in that of its folder."""
    return re.sub(r"(_simple)?(_description|_data)$", "", folder)


def _descriptions() -> set[str]:
    """The names of robot_descriptions, without loading it."""
    spec = importlib.util.find_spec(_DESCRIPTIONS)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return {file.stem.removesuffix(_ENDING) for place in places for file in Path(place).glob(f"[!_]*{_ENDING}.py")}


def _download(name: str) -> RobotFile:
    try:
        module = importlib.import_module(f"{_DESCRIPTIONS}.{name}{_ENDING}")
    except Exception as error:  # of git and of the network, of many kinds
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"robot {name!r}: robot_descriptions cannot bring its file: {said[:300]}. It downloads with git; check the "
            "network, or give the path of a file"
        ) from None
    for key in _PATHS:
        if hasattr(module, key):
            xacro = key == "XACRO_PATH"
            arguments = getattr(module, "XACRO_ARGS", {}) if xacro else {}
            packages = getattr(module, "XACRO_PACKAGE_PATHS", {}) if xacro else {}
            return RobotFile(Path(getattr(module, key)), dict(arguments), dict(packages))
    raise InputError(f"robot {name!r}: its description has none of {', '.join(_PATHS)}; give the path of a file")
