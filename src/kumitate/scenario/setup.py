"""`Described`: the experiment of a file, with what only files say: laws by name, functions of files, a start that is rough."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from .. import control
from ..contact import Contact, on_ground
from ..errors import InputError, KumitateError
from ..held import HeldPoint
from ..model.files import file_bytes
from ..model.values import checked_number, shown
from ..renamed import load_papers
from ..robot import Robot
from ..run import Run
from ..simulate.checks import TIME
from ..simulate.integrators import INTEGRATORS
from ..simulate.parameters import Plant
from ..simulate.setup import STABILISATIONS, Experiment
from ..simulation import Simulation
from .written import At, Mistakes, Section, flag_of, names_in, number_of, text_of, whole_of

# --- laws, and functions of files -------------------------------------------------------------------------------------
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


# --- the experiment ---------------------------------------------------------------------------------------------------
#: The fields that may hold functions of files.
FUNCTIONS = ("wrenches", "loop_tau", "motions", "inputs", "held", "until")
_DURATION = partial(checked_number, "simulate", "duration", rule=TIME, error=InputError)


@dataclass(frozen=True, eq=False)
class Described(Experiment):
    """One simulation that a file describes, with every name looked up and every number in its place.

    Attributes:
        tau: constant efforts at the joints (nv) [N·m, N]; without a controller.
        laws: the controllers, whose sum drives it; they are made for its robot, as are all functions of files.
        allowed: the functions of files whose code may be run; None for all.
        assemble: whether loops are closed from a rough start, by the nearest configuration.
        height: of the lowest point above the floor at the start [m]; None leaves the start as it is.
        told: a sentence for people about where it starts.
        step: time step [s], made a little shorter if the duration is not a multiple of it; that of a sample, or 1e-3, unless
            given.
        duration: simulated time [s]; that of a sample, or 10, unless given.
        every: steps from one recorded state to the next; unless given, every step, and about a hundred records of each run of
            a sweep.
    """

    contact: Contact | None = field(default=None, kw_only=True)
    duration: float = field(default=10.0, kw_only=True, metadata={"check": _DURATION})
    tau: np.ndarray = field(kw_only=True)
    laws: tuple[ControlLaw, ...] = field(default=(), kw_only=True)
    allowed: Collection[str] | None = field(default=None, kw_only=True)
    assemble: bool = field(default=False, kw_only=True)
    height: float | None = field(default=None, kw_only=True)
    told: str = field(default="", kw_only=True)

    @property
    def plant(self) -> Plant:
        """What parameters of the model and of its laws belong to; laws whose gains differ have none in common."""
        gains: dict[str, list[Any]] = {}
        for law in self.laws:
            for name, value in law.gains.items():
                gains.setdefault(name, []).append(value)
        alike = {name: many[0] for name, many in gains.items() if all(np.array_equal(many[0], value) for value in many)}
        return Plant(self.mechanism, self.contact, alike)

    @property
    def functions(self) -> list[ControlLaw]:
        """All laws: the controllers, and those that stand in other fields."""
        found = list(self.laws)
        for name in FUNCTIONS:
            with_laws(getattr(self, name), found.append)
        return found

    @property
    def refused(self) -> ControlLaw | None:
        """The first function of a file whose code may not be run."""
        of_files = (law for law in self.functions if law.file is not None)
        return None if self.allowed is None else next((law for law in of_files if law.name not in self.allowed), None)

    @property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """(q, v), put onto the floor and with loops closed where that is asked for; a `ModelError` if they cannot be."""
        return self.started(self.q, self.v)

    def started(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Another start, treated likewise."""
        if self.height is not None and self.contact is not None:
            q = np.asarray(on_ground(self.mechanism, q, self.contact, height=self.height))
        if self.assemble and self.mechanism.loops:
            q, v = Robot(self.mechanism).assemble(q, v)
        return q, v

    def made(self, **changed: Any) -> Self:
        """From where it starts and with its functions, made for its robot; with other fields as `changed` says."""
        if (law := self.refused) is not None:
            raise InputError(
                f"{law.name}: is code that a file of results names, and is not run unasked; read it, then allow it by "
                f"--controller {law.name}"
            )
        q, v = self.start
        robot = Robot(self.mechanism, start=(q, v))
        functions = {name: with_laws(getattr(self, name), lambda law: law.of(robot)) for name in FUNCTIONS}
        driving: list[Any] = [law.of(robot) for law in self.laws] or ([self.tau] if np.any(self.tau) else [])
        driven = control.total(*driving) if len(driving) > 1 else driving[0] if driving else None
        return replace(self, q=q, v=v, controller=driven, **functions, **changed)

    def simulation(self, *, equal_steps: bool = False, parameters: Sequence[str] = ()) -> Simulation:
        """What computes it, in steps of constant length as batches need, with `parameters` that differ from run to run."""
        return Simulation.of(self.made(equal_steps=equal_steps, parameters=parameters))

    def run(self, origin: Mapping[str, Any], progress: Any = None) -> Run:
        """The motion; its settings hold `origin`, as of `Scenario.settings`."""
        made = self.made()
        simulation = Simulation.of(made)
        simulation.settings |= origin
        return simulation.run(duration=self.duration, every=self.every, until=made.until, progress=progress)


# --- settings of the solver -------------------------------------------------------------------------------------------
#: Those that a scenario has under `solver`, and the command as options: fields of `Described` with their defaults and checks.
SOLVER = (
    "step", "duration", "until", "integrator", "every", "tolerance", "sample_time", "traced", "stabilisation", "baumgarte",
    "limits", "held_method",
)  # fmt: skip
#: How they are read, by how the field's type begins; and those that have a list of choices.
_READ: dict[str, Callable[..., Any]] = {
    "float": number_of, "int": whole_of, "bool": flag_of, "str": text_of, "Until": lambda name, given: checked_function(given),
}  # fmt: skip
_CHOICES = {"integrator": ("auto", *INTEGRATORS), "stabilisation": STABILISATIONS}
_FIELDS = {one.name: one for one in fields(Described)}


def setting(name: str, value: Any) -> Any:
    """A setting of the solver, refused by the type of its field or by its check."""
    one = _FIELDS[name]
    read = _READ[str(one.type).partition(" ")[0]]
    found = read(name, value, _CHOICES[name]) if name in _CHOICES else read(name, value)
    if name == "held_method":
        load_papers(found)
    one.metadata.get("check", bool)(found)
    return found
