"""`InputLayout`: where the inputs of a step stand in the one array u that programs take, and `StepInputs`, the same by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise, starmap
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
