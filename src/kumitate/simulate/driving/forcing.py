"""The sources of efforts on a mechanism: functions of time and state, and constants, in the order of the array u."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...analysis.loop_motion import LOOPS, loops_at
from ...errors import InputError
from ...model import Mechanism, drive_states, joint_columns
from ...scalar import maximum
from ..parameters import Variation
from .inputs import InputLayout, read_by
from .motion import FollowingJoint, PrescribedMotion

#: The name by which depths at the start are read; no parameter of a function can have it.
OVERLAPS = "overlaps at the start"
_AXES = ("nx", "ny", "nz", "fx", "fy", "fz")

#: tau = f(t, q, v), or a wrench [n; f] = f(t, q, v); further parameters are inputs of their names.
Controller = Callable[..., Any]


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
        mechanism: the driven mechanism.
        controller: tau (nv) as a function, a constant, or None.
        wrenches: [n; f] (6) on each body or frame by name, likewise: in the world's axes, about that frame's origin [N·m, N].
        loop_tau: the drives' forces along the degrees of freedom of loop joints, by the loop's name, likewise [N·m, N].
        commands: what the drives of joints are commanded, by name, likewise: one value per driven joint (`inputs.COMMANDS`).
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
