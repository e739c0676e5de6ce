"""Functions of a scenario: controllers of `kumitate.control` by name, and functions of files that the scenario names."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import control
from ..errors import InputError, KumitateError
from ..held import HeldPoint
from ..model.files import file_bytes
from ..model.values import shown
from ..robot import Robot
from .written import At, Mistakes, Section, names_in

#: Laws by name, with the gains that they need; those with gains lead to a reference.
LAWS: dict[str, tuple[Callable[..., control.Controller], tuple[str, ...]]] = {
    "gravity_compensation": (control.gravity_compensation, ()),
    "pd": (control.pd, ("kp", "kd")),
    "computed_torque": (control.computed_torque, ("kp", "kd")),
}
#: What stands in a section beside the numbers that a law takes.
_BESIDE = ("law", "undriven", "sha256")


@dataclass(frozen=True, eq=False)
class ControlLaw:
    """A controller of a scenario, or another function of a file: a wrench, a motion, a surface, the end of a run.

    Attributes:
        name: of `LAWS`, or "FILE.py:FUNCTION"; the function takes the robot and the gains by name, and gives tau = f(t, q, v),
            or what else is wanted where it is named.
        gains: numbers, or arrays (nv), by name; reference: coordinates (nq) to lead to; undriven: joints that it leaves alone.
        file: of the function, in full; hash: SHA-256 of that file when it was first read.
    """

    name: str
    gains: Mapping[str, Any] = field(default_factory=dict)
    reference: np.ndarray | None = None
    undriven: tuple[str, ...] = ()
    file: Path | None = None
    hash: str = ""

    @property
    def plain(self) -> dict[str, Any]:
        """The function of a file as a section of a scenario."""
        undriven = {"undriven": list(self.undriven)} if self.undriven else {}
        return {"law": self.name, **self.gains, **undriven, "sha256": self.hash}

    def of(self, robot: Robot) -> control.Controller:
        """The function, made for this robot; refused if its file has changed, or does not give a function."""
        if self.file is None:
            make, gains = LAWS[self.name]
            law = make(robot, self.reference, **self.gains) if gains else make(robot)
        else:
            make = _of_file(self.file, self.name.rpartition(":")[2], self.hash)
            try:
                law = make(robot, **self.gains)
            except KumitateError:
                raise
            except Exception as error:  # whatever a user's function does
                raise InputError(f"{self.name}: fails ({type(error).__name__}: {error}); correct the function") from error
            if not callable(law):
                raise InputError(
                    f"{self.name}: gave {law!r:.60}; a function of a scenario takes the robot and gives a controller, "
                    "tau = f(t, q, v), or the function that is wanted where it is named. Return that function"
                )
        return control.undriven(robot, self.undriven, law) if self.undriven else law


def with_laws(given: Any, made: Callable[[ControlLaw], Any]) -> Any:
    """What a scenario, or a field of its setup, holds, with what `made` gives in the place of each law in it."""
    if isinstance(given, ControlLaw):
        return made(given)
    if isinstance(given, Mapping):
        return {name: with_laws(part, made) for name, part in given.items()}
    if isinstance(given, list | tuple):
        return type(given)(with_laws(part, made) for part in given)
    return replace(given, surface=with_laws(given.surface, made)) if isinstance(given, HeldPoint) else given


# --- functions of files -----------------------------------------------------------------------------------------------
def names_function(name: Any) -> bool:
    """Whether a law's name is a file's function, "balance.py:upright"."""
    return isinstance(name, str) and name.rpartition(":")[0].endswith(".py")


def with_functions(given: Any, folder: Path, mistakes: Mistakes, at: At = ()) -> Any:
    """The data of a scenario with each function of a file as a `ControlLaw`; None after a mistake.

    The function is a text, or the "law" of a section with numbers for it.
    """
    if isinstance(given, list):
        return [with_functions(part, folder, mistakes, (*at, k)) for k, part in enumerate(given)]
    given = {"law": given} if names_function(given) else given
    if not isinstance(given, dict):
        return given
    if not names_function(given.get("law")):
        return {key: with_functions(part, folder, mistakes, (*at, key)) for key, part in given.items()}
    section = Section(given, at, mistakes, ())
    with mistakes.catching(at):
        file, _, function = given["law"].rpartition(":")
        if not function.isidentifier():
            raise InputError(f"{given['law']!r} names no function; write FILE.py:FUNCTION")
        path = (folder / Path(file).expanduser()).resolve()
        gains = {gain: section.number(gain) for gain in given if gain not in _BESIDE}
        undriven = names_in(given.get("undriven", []))
        return ControlLaw(f"{path}:{function}", gains, None, undriven, path, section.text("sha256") or _file_hash(path))
    return None


def checked_function(given: Any) -> ControlLaw:
    """A function of a file, as `with_functions` gives it; anything else is refused."""
    if not isinstance(given, ControlLaw):
        raise InputError(f"is {shown(given)}, which is not the function of a file; write FILE.py:FUNCTION")
    return given


def _file_hash(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(file_bytes(path, error=InputError)[0]).hexdigest()


def _of_file(path: Path, function: str, expected: str) -> Callable[..., Any]:
    """A function of a Python file that the user named: this runs the file."""
    found = _file_hash(path)
    if expected and found != expected:
        raise InputError(f"{path}: has changed since this scenario was first read; take the file as it was, or start a new one")
    name = f"kumitate_scenario_{found[:16]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # whatever a file does
            raise InputError(f"{path}: fails when it is loaded ({type(error).__name__}: {error}); correct the file") from error
        sys.modules[name] = module
    if not callable(made := getattr(sys.modules[name], function, None)):
        raise InputError(f"{path}: has no function {function!r}; write FILE.py:FUNCTION with one that it has")
    return made  # type: ignore[no-any-return]
