"""`Described`: the experiment of a file, with what only files say: laws by name, functions of files, a start that is rough."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Self

import numpy as np

from ..contact import Contact, on_ground
from ..control import total
from ..errors import InputError
from ..model.values import checked_number
from ..renamed import load_papers
from ..robot import Robot
from ..run import Run
from ..simulate.checks import TIME
from ..simulate.integrators import INTEGRATORS
from ..simulate.parameters import Plant
from ..simulate.setup import STABILISATIONS, Experiment
from ..simulation import Simulation
from .laws import ControlLaw, checked_function, with_laws
from .written import flag_of, number_of, text_of, whole_of

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
    def bare(self) -> Self:
        """Without all that drives or holds it, and so without code of files."""
        nothing: dict[str, Any] = {**dict.fromkeys(FUNCTIONS), "held": ()}
        return replace(self, laws=(), **nothing)

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
        driven = total(*driving) if len(driving) > 1 else driving[0] if driving else None
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
