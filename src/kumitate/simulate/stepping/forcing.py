"""The external efforts on a simulation: a controller's torques and wrenches on bodies, as functions of time and state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import InputError
from ...model import Mechanism, drive_states
from ..parameters import Variation
from ..prescribed.motion import FollowingJoint, PrescribedMotion, followers
from ..prescribed.overlaps import Overlaps
from .layout import InputLayout
from .reading import LOOPS, loops_at, read_by

#: The name by which depths at the start are read; no parameter of a function can have it.
OVERLAPS = "overlaps at the start"

#: tau = f(t, q, v), or a wrench [n; f] = f(t, q, v); further parameters are inputs of their names.
Controller = Callable[..., Any]


@dataclass(frozen=True)
class Forcing:
    """The efforts on a mechanism, and all other inputs of its steps, in one array u whose `layout` says what stands where.

    The motion of the mechanism does not depend on the inputs but through functions that read them.

    Attributes:
        mechanism: the driven mechanism.
        controller: tau (nv) as a function, a constant, or None.
        wrenches: [n; f] (6) on each body or frame by name, likewise: in the world's axes, about that frame's origin [N·m, N].
        loop_tau: the drives' forces along the degrees of freedom of loop joints, by the loop's name, likewise [N·m, N].
        commands: what the drives of joints are commanded, by name, likewise: one value per driven joint (`commands.COMMANDS`).
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
        for name in self.wrenches:
            if name not in self.mechanism.tree.places:
                known = ", ".join(self.mechanism.tree.places)
                raise InputError(
                    f"{self.mechanism.name}: a wrench acts on {name!r}, which is not a body or frame; there are {known}"
                )

        loops = {loop.name: loop for loop in self.mechanism.loops}
        for name in self.loop_tau:
            if name not in loops:
                raise InputError(
                    f"{self.mechanism.name}: loop_tau names {name!r}, which is not a loop; known: {', '.join(loops) or 'none'}"
                )

    @cached_property
    def layout(self) -> InputLayout:
        """What stands where in u."""
        m = self.mechanism
        return InputLayout(
            m.nv, tuple(self.wrenches), tuple(self.drives.items()), self.overlaps.size if self.overlaps else 0,
            len(self.motions), tuple(self.commands), len(m.driven),
            tuple((name, len(values)) for name, values in self.inputs.items()),
            sum(len(drive_states(joint.drive)) for joint in m.driven), self.parameters.size if self.parameters else 0,
        )  # fmt: skip

    @property
    def places(self) -> list[str]:
        """Where the wrenches act, in the order of u."""
        return list(self.wrenches)

    @property
    def drives(self) -> dict[str, int]:
        """The driven loops and their degrees of freedom, in the order of u."""
        nv = {loop.name: loop.kind.nv for loop in self.mechanism.loops}
        return {name: nv[name] for name in self.loop_tau}

    @cached_property
    def following(self) -> tuple[FollowingJoint, ...]:
        """The joints that follow prescribed motions, in the order of u."""
        return followers(self.mechanism, self.motions)

    @property
    def fixed(self) -> tuple[int, ...]:
        """Their indices in v: what closes loops leaves them as they are."""
        return tuple(joint.v for joint in self.following)

    @property
    def constant(self) -> bool:
        """Whether u does not depend on anything."""
        return not any(callable(source) for source in self.sources)

    @cached_property
    def sources(self) -> tuple[Any, ...]:
        """The functions and constants, in the order of u."""
        return (
            self.controller, *self.wrenches.values(), *self.loop_tau.values(), *([self.overlaps] if self.overlaps else ()),
            *self.motions.values(), *self.commands.values(),
        )  # fmt: skip

    @cached_property
    def labels(self) -> tuple[tuple[str, Sequence[str]], ...]:
        """The name of each source in messages, and the names of its components."""
        axes = ("nx", "ny", "nz", "fx", "fy", "fz")
        kinds = {loop.name: loop.kind for loop in self.mechanism.loops}
        drives = ((f"the drive of loop {name!r}", getattr(kinds[name], "velocities", ())) for name in self.loop_tau)
        wrenches = ((f"the wrench on {name!r}", axes) for name in self.wrenches)
        size = self.layout.points
        overlaps = [(OVERLAPS, [f"point {k}" for k in range(size)])] if size else []
        motions = ((f"the motion of {name!r}", ("position", "velocity", "acceleration")) for name in self.motions)
        driven = tuple(joint.name for joint in self.mechanism.driven)
        commands = ((f"the input {name!r}", driven) for name in self.commands)
        return (("the controller", self.mechanism.v_names), *wrenches, *drives, *overlaps, *motions, *commands)

    @cached_property
    def reads(self) -> tuple[tuple[str, ...], ...]:
        """The inputs that each source reads.

        Raises:
            InputError: if a function has a parameter that is not an input.
        """
        owner = self.mechanism.name
        return tuple(
            (OVERLAPS,)
            if source is self.overlaps
            else read_by(source, (*self.own, *self.loops), f"{owner}: {label}", "input")
            if callable(source)
            else ()
            for source, (label, _) in zip(self.sources, self.labels, strict=True)
        )

    @property
    def loops(self) -> tuple[str, ...]:
        """What functions may read of loop joints, where there are any with degrees of freedom."""
        return LOOPS if self.mechanism.loop_v_names else ()

    @cached_property
    def own(self) -> dict[str, slice]:
        """Where each input stands in u, each command that is not a function, and each gain that is a parameter."""
        commands = self.layout.group("commands")
        found = {name: place for name, place in commands.items() if not callable(self.commands[name])}
        found |= self.layout.group("inputs")
        row = self.layout.at("parameters").start
        for name, place in self.parameters.gains.items() if self.parameters else ():
            if name in found:
                raise InputError(f"{self.mechanism.name}: {name!r} is an input and the parameter 'gain:{name}'; keep one")
            found[name] = slice(row + place.start, row + place.stop)
        return found

    @property
    def read(self) -> dict[str, slice]:
        """Where everything stands in u that sources read."""
        return {**self.own, OVERLAPS: self.layout.at("depths")}

    @property
    def values_of_inputs(self) -> dict[str, np.ndarray]:
        """The inputs, and the commands that are not functions, with the values that they have unless others are given."""
        commands = {name: source for name, source in self.commands.items() if not callable(source)}
        return {name: np.asarray(values, dtype=float) for name, values in {**commands, **self.inputs}.items()}

    @property
    def plain(self) -> frozenset[str]:
        """The names of the gains that are one number, not an array."""
        gains = self.parameters.gains if self.parameters else ()
        return frozenset(name for name in gains if not np.ndim(self.parameters.plant.gains[name]))  # type: ignore[union-attr]

    def __call__(
        self, t: float, q: np.ndarray, v: np.ndarray, *, last: np.ndarray | None = None, only: Iterable[int] | None = None
    ) -> np.ndarray:
        """u at one state, by calling the functions; if `only` some sources are given, the others keep their values in `last`.

        Raises:
            InputError: if a function returns the wrong number of values, or one that is not a finite real number.
        """
        chosen = range(len(self.sources)) if only is None or last is None else only
        u = self.blank if last is None else last.copy()
        start, inputs = 0, {name: u[own].copy() for name, own in self.read.items()}
        for k, (label, names) in enumerate(self.labels):
            if k in chosen:
                u[start : start + len(names)] = _numbers(self.values(k, t, np.array(q), np.array(v), inputs), label, names, t)
            start += len(names)
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

    def values(self, k: int, t: Any, q: np.ndarray, v: np.ndarray, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
        """What the source of number k gives: numbers, or symbols while tracing.

        Raises:
            InputError: if it returns the wrong number of values.
        """
        source, (label, names) = self.sources[k], self.labels[k]
        if callable(source):
            if set(LOOPS) & set(self.reads[k]):
                inputs = {**inputs, **loops_at(self.mechanism, q, v)}
            read = {name: inputs[name][0] if name in self.plain else inputs[name] for name in self.reads[k]}
            given = source(t, q, v, inputs[OVERLAPS]) if isinstance(source, Overlaps) else source(t, q, v, **read)
        else:
            given = np.zeros(len(names)) if source is None else source
        part = np.asarray(given)
        if part.shape != (len(names),):
            raise InputError(
                f"{label} gave an array of shape {part.shape}; it must give {len(names)} values: {', '.join(names)}"
            )
        return part


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
