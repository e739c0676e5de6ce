"""The inputs of a step: those that functions read after (t, q, v), each as a parameter of its name, and drives of joints.

`InputLayout` says where they stand in the one array u that programs take, and `StepInputs` has the same by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise, starmap
from typing import Any, NamedTuple

import numpy as np

from ...analysis import joint_motion
from ...analysis.loop_motion import LOOPS
from ...errors import InputError, did_you_mean
from ...model import Command, Mechanism
from ...model.values import checked_array
from ...scalar import Scalar

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
