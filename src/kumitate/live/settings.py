"""What can be set while a simulation plays, targets of drives, inputs and parameters; and the signals that can be plotted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..model import Driven, EffortDrive, Limits, Mechanism, VelocityDrive
from ..records.record import Energy
from ..simulate.driving.actuation import Actuation, How
from ..simulate.driving.inputs import COMMANDS
from ..simulate.stepping.advance import State


class LiveRobot(Protocol):
    """Functions of one state, as of `kumitate.Robot`.

    `starts` are the states (q, v) that have names, `mass` is in kg; `poses` are X_WB (4, 4) of all bodies, by name, `jacobian`
    is J (6, nv) of a body, J v = [ω; v] in the axes of the world, and `mass_matrix` M (nv, nv).
    """

    mechanism: Mechanism
    starts: dict[str, tuple[np.ndarray, np.ndarray]]
    mass: float
    poses: Callable[[Any], dict[str, np.ndarray]]
    jacobian: Callable[[Any, str], np.ndarray]
    mass_matrix: Callable[[Any], np.ndarray]
    energy: Callable[[Any, Any], Energy]


class LiveSimulation(Protocol):
    """Steps and starts, as of `kumitate.Simulation`; the `robot` is a `LiveRobot`.

    `step` gives the state `count` steps later, `touching` the contact of the step that begins at a state, or None.
    """

    robot: Any
    step_size: float
    actuation: Actuation

    def start(self, q: Any = None, v: Any = None) -> State: ...
    def step(
        self, state: State, count: int = 1, *, wrenches: Any = None, inputs: Any = None, parameters: Any = None
    ) -> State: ...
    def touching(self, state: State) -> Any: ...


#: The input of the targets of drives.
TARGET = COMMANDS[0]
#: Most components of an output that are plotted.
_MOST_CURVES = 8


class Setting(NamedTuple):
    """One number that can be set."""

    label: str  # on the page, such as "target joint1"
    group: str  # of the keywords of `Simulation.step`, "inputs" or "parameters"
    name: str  # of the input or parameter
    place: int | None  # in its values; None where it is one number
    value: float  # at the start
    lower: float | None = None  # the ends of its slider; None for a number without bounds
    upper: float | None = None


def settings_of(
    simulation: LiveSimulation, parameters: Mapping[str, Any], ends: Mapping[int, tuple[float, float]]
) -> list[Setting]:
    """What can be set: targets of drives, inputs and parameters, but for those that functions give.

    A parameter that stands for different numbers, such as "damping:*", has none to begin with and is left out.

    Args:
        parameters: their values at the start, by name.
        ends: of the sliders of joints, by the places of their coordinates in q [rad, m].
    """
    actuation, found = simulation.actuation, []
    limits = {joint.name: joint.limits[0] for joint in actuation.forcing.mechanism.joints if joint.limits}
    driven = actuation.forcing.mechanism.driven
    for source, how in zip(actuation.forcing.sources, actuation.how, strict=True):
        if source.group != "commands" or source.name != TARGET or how is not How.CONSTANT:
            continue
        values = np.broadcast_to(np.asarray(source.given, dtype=float), (len(driven),))
        for k, (one, value) in enumerate(zip(driven, values.tolist(), strict=True)):
            lower, upper = _range(one, limits.get(one.name, Limits()), value, ends.get(one.q))
            found.append(Setting(f"target {one.name}", "inputs", TARGET, k, value, lower, upper))
    given = {"inputs": actuation.forcing.inputs, "parameters": parameters}
    for group, values_by_name in given.items():
        for name, values in values_by_name.items():
            array = np.asarray(values, dtype=float)
            places = [None] if array.ndim == 0 else list(range(array.size))
            for place, value in zip(places, array.ravel().tolist(), strict=True):
                if np.isfinite(value):
                    label = name if array.size == 1 else f"{name}[{place}]"
                    found.append(Setting(label, group, name, place, value))
    return found


def with_setting(given: dict[str, Any], setting: Setting, value: float, settings: list[Setting]) -> dict[str, Any]:
    """Values by name as keywords of `Simulation.step` take them, with one number changed.

    Of an input or parameter that is not among those `given` before, the values of the start hold, which `settings` have.
    """
    if setting.place is None:
        return {**given, setting.name: value}
    same = [one for one in settings if (one.group, one.name) == (setting.group, setting.name)]
    values = np.array(given.get(setting.name, [one.value for one in same]), dtype=float)
    values[[one.place for one in same].index(setting.place)] = value
    return {**given, setting.name: values}


def _range(driven: Driven, limits: Limits, value: float, ends: tuple[float, float] | None) -> tuple[float | None, float | None]:
    """The ends of the slider of a drive's target: those of the joint's slider, or the limits of a speed or an effort."""
    if driven.drive.holds:
        return (None, None) if ends is None else (min(value, ends[0]), max(value, ends[1]))
    limit = driven.limit if np.isfinite(driven.limit) else None
    most = {VelocityDrive.kind: limits.velocity, EffortDrive.kind: limit}.get(driven.drive.kind)
    return (None, None) if most is None else (min(value, -most), max(value, most))


class Signal(NamedTuple):
    """Numbers of every state that are drawn over time: their names, and how to read them of a state."""

    parts: tuple[str, ...]
    read: Callable[[State], np.ndarray]


def signals_of(robot: LiveRobot, start: State) -> dict[str, Signal]:
    """What can be plotted, by its name on the page: energy, outputs, positions and velocities."""
    mechanism = robot.mechanism

    def energy(state: State) -> np.ndarray:
        parts = robot.energy(state.q, state.v)
        return np.array([parts.kinetic, parts.potential, parts.total], dtype=float)

    found = {"energy [J]": Signal(("kinetic", "potential", "total"), energy)}
    for name, values in start.outputs.items():
        count = min(np.size(values), _MOST_CURVES)
        parts = (name,) if np.size(values) == 1 else tuple(f"{name}[{k}]" for k in range(count))
        found[name] = Signal(parts, lambda state, name=name, n=count: np.ravel(state.outputs[name])[:n])  # type: ignore[misc]
    for k, name in enumerate(mechanism.q_names):
        found[f"q {name}"] = Signal((name,), lambda state, k=k: state.q[k : k + 1])  # type: ignore[misc]
    for k, name in enumerate(mechanism.v_names):
        found[f"v {name}"] = Signal((name,), lambda state, k=k: state.v[k : k + 1])  # type: ignore[misc]
    return found
