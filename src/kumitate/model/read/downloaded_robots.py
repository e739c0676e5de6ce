"""Robots of the package robot_descriptions, which clones their files once and keeps them."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...scalar.under_way import say

_PACKAGE, _ENDING = "robot_descriptions", "_description"
#: Where a module of it says its file is, in the order of preference; the extra that reads it, and what that needs.
_KINDS = {"URDF_PATH": ("", ""), "XACRO_PATH": ("xacro", "xacrodoc"), "MJCF_PATH": ("mjcf", "mujoco"), "SDF_PATH": ("", "")}


@dataclass(frozen=True)
class RobotFile:
    """The file of a robot; `arguments` and `packages` are those of a xacro source."""

    path: Path
    arguments: dict[str, Any] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)


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
        """Its file; a line on standard error comes before a download.

        Raises:
            InputError: if the file cannot be brought, with the reason.
        """
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
