"""Controllers of a scenario: laws of `kumitate.control` by name, and functions of files that the scenario names."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import control
from ..errors import InputError, KumitateError
from ..model.files import file_bytes
from ..robot import Robot

#: What a law of a scenario gives: tau (nv) = f(t, q, v).
Controller = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class LawKind:
    """A law by name.

    Attributes:
        gains: that it needs.
        refers: whether it leads to a reference.
        make: it, from the robot, the gains and the reference.
    """

    gains: tuple[str, ...]
    refers: bool
    make: Callable[[Robot, Mapping[str, Any], np.ndarray | None], Controller]


LAWS = {
    "gravity_compensation": LawKind((), False, lambda robot, gains, reference: control.gravity_compensation(robot)),
    "pd": LawKind(("kp", "kd"), True, lambda robot, gains, reference: control.pd(robot, reference, **gains)),
    "computed_torque": LawKind(
        ("kp", "kd"), True, lambda robot, gains, reference: control.computed_torque(robot, reference, **gains)
    ),
}


@dataclass(frozen=True, eq=False)
class ControlLaw:
    """One controller of a scenario.

    Attributes:
        name: of `LAWS`, or "FILE.py:FUNCTION"; the function takes the robot and the gains by name, and gives tau = f(t, q, v).
        gains: numbers, or arrays (nv), by name.
        reference: coordinates (nq) to lead to.
        undriven: joints that it leaves without a drive.
        file: of the function, in full.
        hash: SHA-256 of that file when it was first read.
        allowed: whether the code in that file may be run.
    """

    name: str
    gains: Mapping[str, Any] = field(default_factory=dict)
    reference: np.ndarray | None = None
    undriven: tuple[str, ...] = ()
    file: Path | None = None
    hash: str = ""
    allowed: bool = True

    def with_gain(self, gain: str, value: float, columns: Sequence[int] | None, nv: int) -> ControlLaw:
        """The law with another gain: at all degrees of freedom, or at those of these columns."""
        given: Any = value
        if columns is not None:
            given = np.array(np.broadcast_to(np.asarray(self.gains[gain], dtype=float), nv))
            given[list(columns)] = value
        return replace(self, gains={**self.gains, gain: given})

    def of(self, robot: Robot) -> Controller:
        """The function that drives the robot.

        Raises:
            InputError: if the file of the function has changed, does not give a function, or its code may not be run.
        """
        if not self.allowed:
            raise InputError(
                f"{self.name}: is code that a file of results names, and is not run unasked; read it, then allow it by "
                f"--controller {self.name}"
            )
        if self.file is None:
            law = LAWS[self.name].make(robot, self.gains, self.reference)
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
                    "tau = f(t, q, v). Return that function"
                )
        return control.undriven(robot, self.undriven, law) if self.undriven else law


def controller_of(laws: Sequence[ControlLaw], robot: Robot) -> Controller:
    """The sum of the laws."""
    made = [law.of(robot) for law in laws]
    return made[0] if len(made) == 1 else control.total(*made)


def names_function(name: str) -> bool:
    """Whether a law's name is a file's function.

    >>> names_function("balance.py:upright"), names_function("pd")
    (True, False)
    """
    return name.partition(":")[0].endswith(".py")


def file_hash(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(file_bytes(path, error=InputError)[0]).hexdigest()


def _of_file(path: Path, function: str, expected: str) -> Callable[..., Any]:
    """A function of a Python file that the user named: this runs the file.

    Raises:
        InputError: if the file is another than it was, fails, or has no such function.
    """
    found = file_hash(path)
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
