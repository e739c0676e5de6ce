"""`InputLayout`: where the inputs of a step stand in the one array u that programs take, and `StepInputs`, the same by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...model import Command
from ...scalar import Scalar


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
    """The sizes of all inputs, in the order in which they stand in u.

    Attributes:
        nv: of the efforts at joints, which come first.
        places, loops: of the wrenches on bodies and frames, and of drives in loops, with the degrees of freedom of each.
        points: how many points of contact may leave an overlap out.
        motions: how many joints follow prescribed motions.
        commands: their names, of `driven` values each.
        inputs: of the functions, by name, with their sizes; states: how many numbers drives have of their own.
        parameters: how many numbers the row of parameters has.
    """

    nv: int
    places: tuple[str, ...] = ()
    loops: tuple[tuple[str, int], ...] = ()
    points: int = 0
    motions: int = 0
    commands: tuple[str, ...] = ()
    driven: int = 0
    inputs: tuple[tuple[str, int], ...] = ()
    states: int = 0
    parameters: int = 0

    @cached_property
    def _fields(self) -> dict[tuple[str, str], slice]:
        """Where each input stands, by its group and name."""
        sizes = [
            (("tau", ""), self.nv),
            *((("wrenches", name), 6) for name in self.places),
            *((("loop_tau", name), size) for name, size in self.loops),
            (("overlaps", ""), self.points),
            *((("motions", str(k)), 3) for k in range(self.motions)),
            *((("commands", name), self.driven) for name in self.commands),
            *((("inputs", name), size) for name, size in self.inputs),
            (("depths", ""), self.points),
            (("states", ""), self.states),
            (("parameters", ""), self.parameters),
        ]
        ends = np.cumsum([0, *(size for _, size in sizes)]).tolist()
        return {key: slice(begin, end) for (key, _), begin, end in zip(sizes, ends, ends[1:], strict=False)}

    @property
    def size(self) -> int:
        """How many numbers u has."""
        return self._fields["parameters", ""].stop

    def at(self, group: str, name: str = "") -> slice:
        """Where an input stands: "tau", "overlaps", "depths", "states", "parameters", or one of a group by its name."""
        return self._fields[group, name]

    def group(self, group: str) -> dict[str, slice]:
        """Where the inputs of a group stand, by name: "wrenches", "loop_tau", "motions", "commands", "inputs"."""
        return {name: place for (own, name), place in self._fields.items() if own == group}

    @property
    def sources(self) -> int:
        """How many numbers come first that functions and constants give: all before the inputs that functions read."""
        return self.size - self.parameters - self.states - self.points - sum(size for _, size in self.inputs)

    def row(self, u: Any) -> list[Any]:
        """The row of parameters in u (size), as the last input of programs; nothing without any."""
        return [u[self.at("parameters")]] if self.parameters else []

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

        def values(place: slice) -> list[Scalar]:
            return list(u[place])

        rows = [values(own) for own in self.group("commands").values()]
        return StepInputs(
            u[: self.nv],  # long chains index it inside loops of the program
            {name: values(own) for name, own in self.group("wrenches").items()},
            {name: values(own) for name, own in self.group("loop_tau").items()},
            values(self.at("overlaps")),
            [values(own) for own in self.group("motions").values()],
            [Command(*of_one) for of_one in zip(*rows, strict=True)],
            u[self.at("states")],
        )
