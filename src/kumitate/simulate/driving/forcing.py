"""The sources of efforts on a mechanism, functions and constants, and the inputs that functions read, in the array u of steps.

`InputLayout` says where they stand in u, and `StepInputs` has the same by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise, starmap
from typing import Any, NamedTuple

import numpy as np

from ...analysis import joint_motion
from ...analysis.loop_motion import LOOPS, loops_at
from ...errors import InputError, did_you_mean
from ...model import Command, Mechanism, drive_states, joint_columns
from ...model.values import checked_array
from ...scalar import Scalar, maximum
from ..parameters import Variation
from .motion import FollowingJoint, PrescribedMotion

#: What is known of every state: time [s], coordinates, velocities, accelerations (nv), and the efforts at the joints (nv).
SIGNALS = ("t", "q", "v", "a", "tau")
#: What sensors read of contact: the pushes at all points, and of how many numbers each is: in the world the force on A [N],
#: the position [m] and the normal from B to A.
#: `LAST` are those of the last step, which such steps keep.
PUSHES, LAST, PUSH = "contact_pushes", "last_pushes", 9
#: The inputs of drives: "target", "target_velocity" and "feed_forward", each of one value per driven joint.
COMMANDS = Command._fields
#: How many parameters come first: (t, q, v).
_FIRST = 3
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
#: The name by which depths at the start are read; no parameter of a function can have it.
OVERLAPS = "overlaps at the start"
_AXES = ("nx", "ny", "nz", "fx", "fy", "fz")

#: tau = f(t, q, v), or a wrench [n; f] = f(t, q, v); further parameters are inputs of their names.
Controller = Callable[..., Any]


# --- inputs that functions read -----------------------------------------------------------------------------------------
def checked_inputs(owner: str, inputs: Mapping[str, Any] | None) -> dict[str, np.ndarray]:
    """Inputs by name with the values that they have unless others are given: zeros where the number of components is given."""
    found = {}
    for name, given in (inputs or {}).items():
        if not (isinstance(name, str) and name.isidentifier()) or name in (*SIGNALS, *LOOPS, PUSHES, LAST):
            raise InputError(
                f"{owner}: an input is called {name!r}; functions read it as a parameter of its name, which must be a name in "
                f"Python and none of {', '.join((*SIGNALS, *LOOPS, PUSHES, LAST))}. Take another"
            )
        values = np.zeros(given) if isinstance(given, int) and given > 0 else np.asarray(given)
        if values.ndim != 1 or not values.size:
            raise InputError(
                f"{owner}: the input {name!r} is of shape {np.shape(given)}; give the number of its components, "
                "or an array of their values"
            )
        found[name] = checked_array(owner, f"the input {name!r}", values, values.shape).copy()
    return found


def read_by(function: Callable[..., Any], known: Collection[str], label: str, what: str) -> tuple[str, ...]:
    """The names that a function reads in addition to (t, q, v): its parameters after the third.

    Args:
        known: the names that there are. Others are refused, but left alone where they have defaults.
        label: of the function, and `what` it can read, for messages.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())[_FIRST:]
    except (TypeError, ValueError):  # some compiled functions tell nothing of their parameters
        return ()
    for parameter in parameters:
        needed = parameter.kind in _NAMED and parameter.default is parameter.empty
        if needed and parameter.name not in known:
            raise InputError(
                f"{label} has the parameter {parameter.name!r}, which is not an {what}"
                f"{did_you_mean(parameter.name, known, lead=', ')}. After t, q, v it may have {', '.join(known) or 'none'}"
            )
    return tuple(parameter.name for parameter in parameters if parameter.kind in _NAMED and parameter.name in known)


def by_position(function: Callable[..., Any], reads: tuple[str, ...], plain: Collection[str] = ()) -> Callable[..., Any]:
    """A function that takes what it reads by position after (t, q, v), each an array; `plain` names it takes as numbers."""
    if not reads:
        return function

    def positional(t: Any, q: Any, v: Any, *values: Any) -> Any:
        given = {name: value[0] if name in plain else value for name, value in zip(reads, values, strict=True)}
        return function(t, q, v, **given)

    return positional


# --- what the drives of joints are commanded ----------------------------------------------------------------------------
def commands_of(
    mechanism: Mechanism, given: Mapping[str, Any], q: np.ndarray, readers: Sequence[Any] | None = None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The commands of a mechanism's drives, none if it has no drives; and all other inputs.

    Args:
        given: inputs by name; a command is an array, a number for all joints, a dictionary by joint, or a function of (t, q, v)
            and other inputs.
        q: coordinates (nq) at the start, which drives with positions as targets hold where nothing else is said.
        readers: all that may read inputs, if that is known; commands without drives and readers are refused.
    """
    if not mechanism.driven:
        for name in (name for name in COMMANDS if name in given and readers is not None):
            if not any(_reads(reader, name) for reader in readers or ()):
                raise InputError(
                    f"{mechanism.name}: the input {name!r} is for drives, and no joint has one, nor does a function read it. "
                    "Give joints drives (robot.with_drives), or a controller with a parameter of this name"
                )
        return {}, checked_inputs(mechanism.name, given)
    start = np.array(joint_motion(mechanism, q.tolist(), [0.0] * mechanism.nv)[0], dtype=float)
    held = np.array([start[joint.q] if joint.drive.holds else 0.0 for joint in mechanism.driven])
    own = {name: held if name == "target" else np.zeros(len(held)) for name in COMMANDS}
    commands = {}
    for name, otherwise in own.items():
        value = given.get(name)
        commands[name] = value if callable(value) else command_values(mechanism, name, value, otherwise)
    others = {name: value for name, value in given.items() if name not in COMMANDS}
    return commands, checked_inputs(mechanism.name, others)


def command_values(mechanism: Mechanism, name: str, given: Any, otherwise: np.ndarray) -> np.ndarray:
    """The values (k) of a command; those of joints of which nothing is said are `otherwise`. Other joints are refused."""
    values, driven = otherwise.copy(), {joint.name: k for k, joint in enumerate(mechanism.driven)}
    if given is None:
        return values
    what = f"the input {name!r}"
    if not isinstance(given, Mapping):
        array = checked_array(mechanism.name, f"{what}, one value for each of {', '.join(driven)},", given, values.shape)
        return np.array(array, dtype=float)
    for joint, value in given.items():
        if joint not in driven:
            raise InputError(
                f"{mechanism.name}: {what} names {joint!r}, which is not a joint with a drive"
                f"{did_you_mean(joint, driven, lead=', ')}. Drives are in {', '.join(driven)}"
            )
        values[driven[joint]] = checked_array(mechanism.name, f"{what} of {joint!r}", value, ())
    return values


def _reads(reader: Any, name: str) -> bool:
    """Whether a function has a parameter of this name."""
    try:
        return callable(reader) and name in inspect.signature(reader).parameters
    except (TypeError, ValueError):  # some compiled functions tell nothing of their parameters
        return True


# --- where all inputs of a step stand -----------------------------------------------------------------------------------
class StepInputs(NamedTuple):
    """The inputs of a step: symbols or numbers, or arrays of them with leading axes.

    Attributes:
        tau: of a controller (nv); wrenches: [n; f] (6) by place; loop_tau: of drives in loop joints, by loop.
        overlaps: what springs of contact leave out, by point [m]; nothing where no bodies overlap at the start.
        motions: position, velocity and acceleration of every joint whose motion is prescribed.
        commands: of every driven joint; states: of the drives that have their own.
    """

    tau: Any
    wrenches: Mapping[str, Any] = {}
    loop_tau: Mapping[str, Any] = {}
    overlaps: Any = ()
    motions: Sequence[list[Scalar]] = ()
    commands: Sequence[Command] = ()
    states: Any = ()


@dataclass(frozen=True)
class InputLayout:
    """The inputs of a step in the order in which they stand in u.

    Attributes:
        sizes: of each input its group, its name in that group, and how many numbers it has. The groups are "tau", "wrenches" by
            place, "loop_tau" by loop, "overlaps" by point of contact, "motions" by joint, "commands" and "inputs" by name, the
            "depths" of overlaps at the start, "states" of drives, and the row of "parameters".
    """

    sizes: tuple[tuple[str, str, int], ...]

    @cached_property
    def _places(self) -> dict[tuple[str, str], slice]:
        ends = accumulate((size for _, _, size in self.sizes), initial=0)
        return {
            (group, name): place for (group, name, _), place in zip(self.sizes, starmap(slice, pairwise(ends)), strict=True)
        }

    @cached_property
    def size(self) -> int:
        """How many numbers u has."""
        return sum(size for _, _, size in self.sizes)

    def at(self, group: str, name: str = "") -> slice:
        """Where an input stands: one of a group by its name, or a group that is one input."""
        return self._places[group, name]

    def count(self, group: str) -> int:
        """How many numbers a group that is one input has."""
        place = self._places[group, ""]
        return int(place.stop - place.start)

    def group(self, group: str) -> dict[str, slice]:
        """Where the inputs of a group stand, by name."""
        return {name: place for (own, name), place in self._places.items() if own == group}

    @property
    def own_states(self) -> dict[str, int | tuple[int, ...]]:
        """The size of the drives' own states as the input "states" of programs; nothing where there are none."""
        size = self.count("states")
        return {"states": size} if size else {}

    def with_states(self, u: Any, states: Any) -> Any:
        """u (size) with these states of drives in their places."""
        if not len(states):
            return u
        own = self.at("states")
        if isinstance(u, np.ndarray):
            return np.concatenate([u[: own.start], states, u[own.stop :]])
        return [*u[: own.start], *states, *u[own.stop :]]

    def row(self, u: Any) -> list[Any]:
        """The row of parameters in u (..., size), as the last input of programs; nothing without any."""
        if not self.count("parameters"):
            return []
        own = self.at("parameters")
        return [np.ascontiguousarray(u[..., own]) if isinstance(u, np.ndarray) else u[own]]

    def rows(self, u: np.ndarray) -> StepInputs:
        """Views of u (..., size) by name."""
        return StepInputs(
            u[..., self.at("tau")],
            {name: u[..., own] for name, own in self.group("wrenches").items()},
            {name: u[..., own] for name, own in self.group("loop_tau").items()},
            states=u[..., self.at("states")],
        )

    def unpack(self, u: Any) -> StepInputs:
        """The inputs in u (size), of symbols or numbers."""

        def values(group: str) -> dict[str, list[Scalar]]:
            return {name: list(u[own]) for name, own in self.group(group).items()}

        return StepInputs(
            u[self.at("tau")],  # long chains index it inside loops of the program
            values("wrenches"),
            values("loop_tau"),
            values("overlaps")[""],
            list(values("motions").values()),
            [Command(*of_one) for of_one in zip(*values("commands").values(), strict=True)],
            u[self.at("states")],
        )


# --- the sources of efforts -----------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Overlaps:
    """The depths of all points of contact that are left out of their springs, less and less, so that bodies part slowly.

    Attributes:
        depths: those at coordinates (nq) that a motion starts at [m], zero where points do not overlap.
        size: how many; shrinks: how fast they do so [m/s].
    """

    depths: Callable[[np.ndarray], np.ndarray]
    size: int
    shrinks: float

    def __call__(self, t: Any, q: Any, v: Any, depths: Any) -> np.ndarray:
        """The depths left out at a time [s], of those at the start."""
        return np.array([maximum(depths[k] - self.shrinks * t, 0.0) for k in range(self.size)])


class InputSource(NamedTuple):
    """One source of numbers of u.

    Attributes:
        group, name: of its numbers, as of `InputLayout`; place: where they stand.
        label: its own name in messages; parts: the names of its numbers.
        given: a function of (t, q, v) and of what it reads, a constant, or None for zero.
        reads: the inputs that the function reads, by name.
    """

    group: str
    name: str
    label: str
    parts: Sequence[str]
    given: Any
    place: slice
    reads: tuple[str, ...]


@dataclass(frozen=True)
class Forcing:
    """The efforts on a mechanism, and all other inputs of its steps, in one array u whose `layout` says what stands where.

    The motion of the mechanism does not depend on the inputs but through functions that read them.

    Attributes:
        controller, wrenches, loop_tau: as of `setup.Driving`: functions, constants, or None.
        commands: what the drives of joints are commanded, by name, likewise: one value per driven joint (`COMMANDS`).
        motions: of joints that follow a function of time, by the joint's name.
        inputs: arrays that the functions read, such as targets, by name: their values unless others are given.
        parameters: of the simulation; their row stands at the end of u.
        overlaps: what springs of contact leave out, where bodies overlap at the start.
    """

    mechanism: Mechanism
    controller: Controller | Sequence[float] | np.ndarray | None = None
    wrenches: Mapping[str, Controller | Sequence[float] | None] = field(default_factory=dict)
    loop_tau: Mapping[str, Controller | Sequence[float] | None] = field(default_factory=dict)
    inputs: Mapping[str, np.ndarray] = field(default_factory=dict)
    commands: Mapping[str, Controller | Sequence[float]] = field(default_factory=dict)
    parameters: Variation | None = None
    motions: Mapping[str, PrescribedMotion] = field(default_factory=dict)
    overlaps: Overlaps | None = None

    def __post_init__(self) -> None:
        m, loops = self.mechanism, [loop.name for loop in self.mechanism.loops]
        for name in self.wrenches:
            if name not in m.tree.places:
                known = ", ".join(m.tree.places)
                raise InputError(f"{m.name}: a wrench acts on {name!r}, which is not a body or frame; there are {known}")
        for name in self.loop_tau:
            if name not in loops:
                known = ", ".join(loops) or "none"
                raise InputError(f"{m.name}: loop_tau names {name!r}, which is not a loop; known: {known}")

    @cached_property
    def layout(self) -> InputLayout:
        """What stands where in u."""
        m, points = self.mechanism, self.overlaps.size if self.overlaps else 0
        return InputLayout((
            ("tau", "", m.nv),
            *(("wrenches", name, 6) for name in self.wrenches),
            *(("loop_tau", name, size) for name, size in self.drives.items()),
            ("overlaps", "", points),
            *(("motions", name, 3) for name in self.motions),
            *(("commands", name, len(m.driven)) for name in self.commands),
            *(("inputs", name, len(values)) for name, values in self.inputs.items()),
            ("depths", "", points),
            ("states", "", sum(len(drive_states(joint.drive)) for joint in m.driven)),
            ("parameters", "", self.parameters.size if self.parameters else 0),
        ))  # fmt: skip

    @property
    def drives(self) -> dict[str, int]:
        """The driven loops and their degrees of freedom, in the order of u."""
        nv = {loop.name: loop.kind.nv for loop in self.mechanism.loops}
        return {name: nv[name] for name in self.loop_tau}

    @cached_property
    def following(self) -> tuple[FollowingJoint, ...]:
        """The joints that follow prescribed motions, in the order of u."""
        at = {item.joint.name: item for item in joint_columns(self.mechanism)}
        motions = self.motions.items()
        return tuple(FollowingJoint(name, at[name].q.start, at[name].v.start, one.positional) for name, one in motions)

    @property
    def fixed(self) -> tuple[int, ...]:
        """Their indices in v: what closes loops leaves them as they are."""
        return tuple(joint.v for joint in self.following)

    @cached_property
    def sources(self) -> tuple[InputSource, ...]:
        """The functions and constants, in the order of u; a function with a parameter that is not an input is refused."""
        m, size = self.mechanism, self.layout.count("overlaps")
        freedoms = {loop.name: getattr(loop.kind, "velocities", ()) for loop in m.loops}
        driven = tuple(joint.name for joint in m.driven)
        moved = ("position", "velocity", "acceleration")
        listed: list[tuple[str, str, str, Sequence[str], Any]] = [
            ("tau", "", "the controller", m.v_names, self.controller),
            *(("wrenches", name, f"the wrench on {name!r}", _AXES, given) for name, given in self.wrenches.items()),
            *(("loop_tau", name, f"the drive of loop {name!r}", freedoms[name], x) for name, x in self.loop_tau.items()),
            *([("overlaps", "", OVERLAPS, [f"point {k}" for k in range(size)], self.overlaps)] if size else ()),
            *(("motions", name, f"the motion of {name!r}", moved, motion) for name, motion in self.motions.items()),
            *(("commands", name, f"the input {name!r}", driven, given) for name, given in self.commands.items()),
        ]
        known = (*self.own, *(LOOPS if m.loop_v_names else ()))

        def read(label: str, given: Any) -> tuple[str, ...]:
            if isinstance(given, Overlaps):
                return (OVERLAPS,)
            return read_by(given, known, f"{m.name}: {label}", "input") if callable(given) else ()

        return tuple(
            InputSource(group, name, label, parts, given, self.layout.at(group, name), read(label, given))
            for group, name, label, parts, given in listed
        )

    @cached_property
    def own(self) -> dict[str, slice]:
        """Where each input stands in u, each command that is not a function, and each gain that is a parameter."""
        commands = self.layout.group("commands")
        places = {name: place for name, place in commands.items() if not callable(self.commands[name])}
        places |= self.layout.group("inputs")
        row = self.layout.at("parameters").start
        for name, place in self.parameters.gains.items() if self.parameters else ():
            if name in places:
                raise InputError(f"{self.mechanism.name}: {name!r} is an input and the parameter 'gain:{name}'; keep one")
            places[name] = slice(row + place.start, row + place.stop)
        return places

    @property
    def read(self) -> dict[str, slice]:
        """Where everything stands in u that sources read."""
        return {**self.own, OVERLAPS: self.layout.at("depths")}

    @property
    def values_of_inputs(self) -> dict[str, np.ndarray]:
        """The inputs, and the commands that are not functions, with the values that they have unless others are given."""
        commands = {name: given for name, given in self.commands.items() if not callable(given)}
        return {name: np.asarray(values, dtype=float) for name, values in {**commands, **self.inputs}.items()}

    @property
    def plain(self) -> frozenset[str]:
        """The names of the gains that are one number, not an array."""
        gains = self.parameters.gains if self.parameters else ()
        return frozenset(name for name in gains if not np.ndim(self.parameters.plant.gains[name]))  # type: ignore[union-attr]

    def __call__(
        self, t: float, q: np.ndarray, v: np.ndarray, last: np.ndarray | None = None, only: Iterable[InputSource] = ()
    ) -> np.ndarray:
        """u at one state, by calling the functions; with values `last`, those of `only` some sources are computed again."""
        u = self.blank if last is None else last.copy()
        inputs = {name: u[own].copy() for name, own in self.read.items()}
        for source in self.sources if last is None else only:
            values = self.values(source, t, np.array(q), np.array(v), inputs)
            u[source.place] = _numbers(values, source.label, source.parts, t)
        return u

    @property
    def blank(self) -> np.ndarray:
        """u with the inputs' own values, and zeros for the rest."""
        u = np.zeros(self.layout.size)
        for name, values in self.values_of_inputs.items():
            u[self.own[name]] = values
        u[self.layout.at("states")] = [value for joint in self.mechanism.driven for value in drive_states(joint.drive).values()]
        if self.parameters:
            u[self.layout.at("parameters")] = self.parameters.blank
        return u

    def values(self, source: InputSource, t: Any, q: np.ndarray, v: np.ndarray, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
        """The numbers that a source gives, or symbols while tracing; refused if they are not as many as its parts."""
        given, reads = source.given, source.reads
        if isinstance(given, Overlaps):
            given = given(t, q, v, inputs[OVERLAPS])
        elif callable(given):
            if set(LOOPS) & set(reads):
                inputs = {**inputs, **loops_at(self.mechanism, q, v)}
            given = given(t, q, v, **{name: inputs[name][0] if name in self.plain else inputs[name] for name in reads})
        size = len(source.parts)
        numbers = np.zeros(size) if given is None else np.asarray(given)
        if numbers.shape != (size,):
            raise InputError(
                f"{source.label} gave an array of shape {numbers.shape}; it must give {size} values: {', '.join(source.parts)}"
            )
        return numbers


def _numbers(values: np.ndarray, label: str, names: Sequence[str], t: float) -> np.ndarray:
    if values.dtype.kind == "c":
        raise InputError(f"{label} gave complex numbers at t = {t:.6g} s; it must give real ones. Return their real part")
    try:
        numbers = values.astype(float)
    except (TypeError, ValueError):
        raise InputError(f"{label} gave {values.tolist()!r:.60} at t = {t:.6g} s; it must give real numbers") from None
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise InputError(f"{label} gave {numbers[bad[0]]} for {names[bad[0]]!r} at t = {t:.6g} s; it must be finite")
    return numbers
