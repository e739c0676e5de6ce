"""Robots by name: the files of example-robot-data, and those of robot_descriptions, which are cloned once and kept."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import InputError, warn
from ...scalar.under_way import say

_PACKAGE, _ENDING = "robot_descriptions", "_description"
#: Where a module of it says its file is, in the order of preference; the extra that reads it, and what that needs.
_KINDS = {"URDF_PATH": ("", ""), "XACRO_PATH": ("xacro", "xacrodoc"), "MJCF_PATH": ("mjcf", "mujoco"), "SDF_PATH": ("", "")}


class RobotFile(NamedTuple):
    """The file of a robot; `arguments` and `packages` are those of a xacro source."""

    path: Path
    arguments: Mapping[str, Any] = {}
    packages: Mapping[str, str] = {}


@dataclass(frozen=True)
class Description:
    """A module of robot_descriptions, read as text: importing it would clone its files."""

    name: str
    module: Path

    @property
    def kind(self) -> str:
        """The variable with the path of its file; "" if it has none that can be read."""
        text = self.module.read_text(encoding="utf-8")
        return next((key for key in _KINDS if re.search(rf"^{key}\b", text, re.MULTILINE)), "")

    @property
    def needs(self) -> str:
        """What is missing on this computer before it loads; "" if nothing is."""
        extra, package = _KINDS[self.kind]
        missing = extra and importlib.util.find_spec(package) is None
        return ", ".join([*(["a download"] if self._to_clone() else []), *([f"kumitate[{extra}]"] if missing else [])])

    def file(self) -> RobotFile:
        """Its file; a line on standard error comes before a download, and an `InputError` with the reason if that fails."""
        missing = self._to_clone()
        if missing:
            say(f"robot_descriptions downloads the robot {self.name!r} from {' and '.join(missing)}, once, to {_cache()}")
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):  # git's own bars
                module = importlib.import_module(f"{_PACKAGE}.{self.name}{_ENDING}")
        except Exception as error:  # of git and of the network, of many kinds
            fatal = re.search(r"fatal: (.*)", str(error))
            reason = fatal[1].strip("' ") if fatal else " ".join(str(error).split())[:300] or type(error).__name__
            raise InputError(
                f"robot {self.name!r}: robot_descriptions cannot bring its file: {reason}. It downloads with git; check the "
                "network, take a robot that `kumitate robots` lists without needs, or give the path of a file"
            ) from None
        xacro = self.kind == "XACRO_PATH"
        arguments, packages = (getattr(module, key, {}) if xacro else {} for key in ("XACRO_ARGS", "XACRO_PACKAGE_PATHS"))
        return RobotFile(Path(getattr(module, self.kind)), dict(arguments), dict(packages))

    def _to_clone(self) -> list[str]:
        """The addresses of the repositories that it needs and that are not on this computer."""
        names = re.findall(r'clone_to_cache\(\s*"([^"]+)"', self.module.read_text(encoding="utf-8"))
        known = importlib.import_module(f"{_PACKAGE}._repositories").REPOSITORIES if names else {}
        return [known[name].url for name in names if name in known and not _is_cloned(known[name])]


def descriptions() -> dict[str, Description]:
    """All of them by name, without loading the package; none if it is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    files = [file for place in places for file in Path(place).glob(f"[!_]*{_ENDING}.py")]
    found = [Description(file.stem.removesuffix(_ENDING), file) for file in files]
    return {description.name: description for description in found if description.kind}


def _cache() -> Path:
    return Path(os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")).expanduser()


def _is_cloned(repository: Any) -> bool:
    """Whether a repository is there at its commit; where that is a tag, whether any of its files is."""
    folder = _cache() / repository.cache_path
    try:
        head = (folder / ".git" / "HEAD").read_text(encoding="utf-8").strip()
        return head == repository.commit if len(repository.commit) == 40 else len(os.listdir(folder)) > 1
    except OSError:
        return False


_DATA = "example-robot-data"


@dataclass(frozen=True)
class NamedRobot:
    """A robot that can be loaded by name, where it comes from, and what it needs before: "a download", an extra, or ""."""

    name: str
    source: str
    needs: str = ""


def described_robot(name: str) -> RobotFile | None:
    """The file of a robot by its name: of example-robot-data first, else of robot_descriptions, which may download it.

    An `InputError` if that fails; a warning if the name is that of several files of example-robot-data, saying which is taken.
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
    spec = importlib.util.find_spec("pinocchio")
    beside = Path(spec.origin).parents if spec and spec.origin else ()
    above = [*(Path(folder, "cmeel.prefix") for folder in sys.path), *beside]
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
