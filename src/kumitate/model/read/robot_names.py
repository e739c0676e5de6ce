"""Robots by name: the files of example-robot-data, and those of robot_descriptions."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from ...errors import warn
from .downloaded_robots import RobotFile, descriptions

_DATA = "example-robot-data"
#: A name with this ending is of robot_descriptions, even where example-robot-data has the robot, too.
_ENDING = "_description"


@dataclass(frozen=True)
class NamedRobot:
    """A robot that can be loaded by name, where it comes from, and what it needs before: "a download", an extra, or ""."""

    name: str
    source: str
    needs: str = ""


def described_robot(name: str) -> RobotFile | None:
    """The file of a robot by its name: of example-robot-data first, else of robot_descriptions, which may download it.

    Raises:
        InputError: if robot_descriptions knows the name but cannot bring the file, as without a network; with its reason.

    Warns:
        KumitateWarning: if the name is that of several files of example-robot-data; the message says which is taken.
    """
    files = _installed()
    if name in files:
        return RobotFile(files[name])
    known = descriptions()
    if variants := _variants(files).get(name):
        others = [*map(repr, variants[1:]), *([f"{name + _ENDING!r} of robot_descriptions"] if name in known else [])]
        also = f"; there are also {', '.join(others)}" if others else ""
        warn(f"robot {name!r} is {variants[0]!r} of {_DATA}{also}. Load it by its full name")
        return RobotFile(files[variants[0]])
    description = known.get(name.removesuffix(_ENDING))
    return None if description is None else description.file()


def named_robots() -> list[NamedRobot]:
    """All robots that can be loaded by name, by the alphabet."""
    files = _installed()
    robots = {name: NamedRobot(name, "robot_descriptions", item.needs) for name, item in descriptions().items()}
    robots |= {name: NamedRobot(name, f"{_DATA}: {variants[0]}") for name, variants in _variants(files).items()}
    robots |= {name: NamedRobot(name, _DATA) for name in files}
    return sorted(robots.values(), key=lambda robot: robot.name.lower())


def similar(name: str, samples: list[str]) -> str:
    """The close matches among samples and robots, as a question with a blank behind it; "" if there are none."""
    files = _installed()
    names = {other.lower(): other for other in (*descriptions(), *_variants(files), *files, *samples)}
    low = name.lower()
    near = [names[low]] if low in names else [names[other] for other in sorted(names) if other.startswith(f"{low}_")][:3]
    near = near or [names[other] for other in get_close_matches(low, names, 3)]
    return f"did you mean {' or '.join(map(repr, near))}? " if near else ""


def robots_folder() -> Path | None:
    """Where example-robot-data puts its files: in its wheel's own folder, or beside Pinocchio's; None if they are not there."""
    with suppress(PackageNotFoundError):
        place = Path(str(distribution(_DATA).locate_file("cmeel.prefix/share/example-robot-data/robots")))
        if place.is_dir():
            return place
    spec = importlib.util.find_spec("pinocchio")
    above = Path(spec.origin).parents if spec is not None and spec.origin else ()
    return next((place for p in above if (place := p / "share" / _DATA / "robots").is_dir()), None)


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


def _variants(files: dict[str, Path]) -> dict[str, list[str]]:
    """Names of folders that no file has, "talos", each with the names of its files that begin so, the shortest first."""
    folder = robots_folder()
    shorts = {name: _short(file.relative_to(folder).parts[0]) for name, file in files.items()} if folder else {}
    found: dict[str, list[str]] = {}
    for name in sorted(files, key=lambda name: (len(name), name)):
        if name.startswith(f"{shorts[name]}_") and shorts[name] not in files:
            found.setdefault(shorts[name], []).append(name)
    return found


def _short(folder: str) -> str:
    """The robot's name in that of its folder."""
    return re.sub(r"(_simple)?(_description|_data)$", "", folder)
