"""The result of a simulation: the motion, its efforts and energies, and the audit of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import InputError
from ..model import Mechanism, joint_columns
from .audit import Audit

if TYPE_CHECKING:
    from .contact_record import ContactRecord
    from .readings import CouplingRecord, LoopRecord

#: What acts, by name: arrays at all times of a run, constants, or functions of (t, q, v).
Given = Mapping[str, Sequence[float] | np.ndarray | Callable[[Any, Any, Any], Any]]
#: Among the settings of a run that was read from a file: the lines whose forces, which are functions, the file does not have.
LEFT_OUT = "lines without their forces"


class Energy(NamedTuple):
    """Energies over time, each (n,) [J]; the potential energy is zero with every center of mass at the world's origin."""

    kinetic: np.ndarray
    potential: np.ndarray
    total: np.ndarray


class JointMotion(NamedTuple):
    """The columns of one joint: q (n, joint's nq); v, a, tau (n, joint's nv), in SI units."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray


#: The simulation that made each result of this process that is one run: files do not keep its functions.
MADE_BY: WeakKeyDictionary[Record, Any] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Record:
    """A motion of a mechanism, sampled at n times.

    Attributes:
        mechanism: the simulated mechanism; its `q_names` and `v_names` name the columns of q and v.
        time: (n,) [s], increasing.
        q: coordinates (n, nq) [rad, m; quaternions x y z w].
        v, a: velocities and accelerations (n, nv) [rad/s, m/s; rad/s², m/s²].
        tau: efforts at the joints (n, nv) [N·m, N].
        energy: kinetic, potential, total, each (n,) [J].
        center_of_mass: of the mechanism, (n, 3) [m], in the world.
        momentum: (n, 6), angular about the world's origin [kg·m²/s], then linear [kg·m/s], in the world's axes.
        audit: of the run.
        contact: the record of contact along the run, if contact was simulated: forces, positions, residuals.
        outputs: the additional outputs of the simulation, (n, ...) by name.
        settings: the options of the run, as plain data (duration, step, integrator, ...).
        wrenches: those that acted, [n; f] (n, 6) by name of a body or frame: axes of the world, about its origin [N·m, N].
        loop_tau: the forces of drives in loop joints that acted, (n, degrees of freedom) by the loop's name [N·m, N].
        drive_states: the numbers of drives that have a state of their own, such as pressures, each (n), by the joint's name
            and theirs: "boom.piston_pressure", in SI units.

    The arrays are read-only.

    Raises:
        InputError: if shapes do not fit the mechanism or one another.
    """

    mechanism: Mechanism
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    energy: Energy
    center_of_mass: np.ndarray
    momentum: np.ndarray
    audit: Audit = field(default_factory=Audit)
    settings: dict[str, Any] = field(default_factory=dict)
    contact: ContactRecord | None = None
    outputs: dict[str, np.ndarray] = field(default_factory=dict)
    wrenches: dict[str, np.ndarray] = field(default_factory=dict)
    loop_tau: dict[str, np.ndarray] = field(default_factory=dict)
    drive_states: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nq, nv = self.mechanism.nq, self.mechanism.nv
        time = np.asarray(self.time, dtype=float)
        if time.ndim != 1:
            raise InputError(f"{self.mechanism.name}: time has shape {time.shape}; a result needs (n,)")
        if not (np.isfinite(time).all() and (np.diff(time) > 0.0).all()):
            raise InputError(f"{self.mechanism.name}: the times of a result do not increase; give finite, increasing ones")
        n = len(time)
        shapes = {"time": (n,), "q": (n, nq), "v": (n, nv), "a": (n, nv), "tau": (n, nv), "center_of_mass": (n, 3)}
        for name, shape in {**shapes, "momentum": (n, 6)}.items():
            object.__setattr__(self, name, self._frozen(name, getattr(self, name), shape))
        energy = (self._frozen(f"energy.{name}", part, (n,)) for name, part in zip(Energy._fields, self.energy, strict=True))
        object.__setattr__(self, "energy", Energy(*energy))
        for key in ("outputs", "wrenches", "loop_tau", "drive_states"):
            named = getattr(self, key).items()
            frozen = {name: self._frozen(name, values, (n, *np.shape(values)[1:])) for name, values in named}
            object.__setattr__(self, key, frozen)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()  # copies of read-only arrays are writable

    def _frozen(self, name: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
        array = np.asarray(values, dtype=float).view()
        if array.shape != shape:
            raise InputError(
                f"{self.mechanism.name}: {name} of a result has shape {array.shape}; with {shape[0]} times and "
                f"nq = {self.mechanism.nq}, nv = {self.mechanism.nv} it must be {shape}"
            )
        array.flags.writeable = False
        return array

    def __len__(self) -> int:
        """The number of times."""
        return len(self.time)

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} to {self.time[-1]:g} s" if len(self) else "empty"
        return (
            f"{type(self).__name__}({self.mechanism.name!r}, {len(self)} times, {span}, nq={self.mechanism.nq}, "
            f"nv={self.mechanism.nv}, energy drift {self.audit.energy_drift:.2g} J)"
        )

    @cached_property
    def loops(self) -> dict[str, LoopRecord]:
        """What every joint that closes a loop did, and every line between two points, by name: q, v, a, tau, effort, wrench.

        A loop joint that follows a motion is here too; its coordinate is also a column of `q`, by its name in `q_names`.

        >>> import kumitate as km
        >>> run = km.simulate(km.load("planar_4r"), duration=0.01)
        >>> run.loops["joint4"].q.shape, run.loops["joint4"].wrench.shape
        ((11, 1), (11, 6))
        """
        from .readings import loop_records  # compiles programs, which results alone do not need

        return loop_records(self)

    @cached_property
    def couplings(self) -> dict[str, CouplingRecord]:
        """What every coupling did, by name: q, v and a of its joint, and its effort there."""
        from .readings import coupling_records

        return coupling_records(self)

    def noted(self, *notes: str) -> Record:
        """The same motion with further notes in its audit."""
        made = replace(self, audit=replace(self.audit, notes=(*self.audit.notes, *notes)))
        if self in MADE_BY:
            MADE_BY[made] = MADE_BY[self]
        return made

    def joint(self, name: str) -> JointMotion:
        """The columns of the joint of this name.

        Raises:
            InputError: if there is no such joint.
        """
        for joint, _, q, v in joint_columns(self.mechanism):
            if joint.name == name:
                return JointMotion(self.q[:, q], self.v[:, v], self.a[:, v], self.tau[:, v])
        names = ", ".join(joint.name for joint in self.mechanism.joints)
        raise InputError(f"{self.mechanism.name}: there is no joint {name!r}; there are {names}")


# --- What acted in a run apart from efforts at its joints ---------------------------------------------------------------


def acted(result: Record, what: str, given: Given | None = None) -> dict[str, np.ndarray]:
    """The "wrenches", or drives of loops ("loop_tau"), along a run, (n, …) or constant, by name.

    `given` are others than the run keeps, in their place or in addition. An `InputError` if some acted that are neither kept
    nor given, which files of earlier versions lack.
    """
    sources = {**getattr(result, what), **(given or {})}
    missing = set(result.settings.get(what) or ()) - set(sources)
    if missing:
        raise InputError(
            f"{result.mechanism.name}: {what} of {', '.join(sorted(missing))} acted in this run; give them again, "
            f"{what}={{name: (n, …) array or function}}, as the run does not keep their values"
        )

    def at_all_times(name: str, source: Any) -> np.ndarray:
        if callable(source):
            source = [source(t, q, v) for t, q, v in zip(result.time, result.q, result.v, strict=True)]
        array = np.asarray(source, dtype=float)
        if array.ndim == 2 and len(array) != len(result):
            owner = result.mechanism.name
            raise InputError(f"{owner}: {what} of {name!r} has {len(array)} rows; the result has {len(result)}")
        return array

    return {name: at_all_times(name, source) for name, source in sources.items()}


def check_line_laws(result: Record, what: str) -> None:
    """Refuses, by an `InputError`, to compute forces of a run whose file does not have the forces of its lines."""
    missing = result.settings.get(LEFT_OUT)
    if missing:
        raise InputError(
            f"{result.mechanism.name}: {what} depend on the forces of the lines {', '.join(map(repr, missing))}, which are "
            "functions, and the file of the run does not have them. Simulate again, or ask for them before saving"
        )
