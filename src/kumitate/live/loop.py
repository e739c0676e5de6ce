"""`Player`: a simulation that plays in real time in a thread of its own; what can be set meanwhile, and what can be plotted."""

from __future__ import annotations

import time as clock
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Lock, Thread
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..analysis import LoopEquations, loop_equations
from ..errors import InputError, KumitateError
from ..model import Driven, EffortDrive, Limits, Mechanism, VelocityDrive, joint_columns
from ..records.record import Energy
from ..simulate.driving.actuation import Actuation, How
from ..simulate.driving.forcing import COMMANDS
from ..simulate.starts import state_by_name
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
    """What can be set: targets of drives, inputs and parameters (values at the start, by name), but for those of functions.

    A parameter that stands for different numbers, such as "damping:*", has none to begin with and is left out. `ends` are
    those of the sliders of joints, by the places of their coordinates in q [rad, m].
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


# --- the sliders of joints: their ranges, and the posture that follows when one of them moves, with all loops closed ------
#: A joint may pass a limit by this much, as rounding does [rad, m].
_BEYOND = 1e-9
_LENGTHS = ("position", "length", "x", "y", "z")


class JointSlider(NamedTuple):
    """A slider of one coordinate."""

    name: str  # of the coordinate, as in `Mechanism.q_names`
    q: int  # its place in q
    least: float  # limits, infinite where there are none [rad, m]
    most: float
    lower: float  # the ends of the slider: the limits, or half a turn or the mechanism's size to that side [rad, m]
    upper: float
    turns: bool  # whether it is an angle without limits, which is shown without full turns
    unit: str  # of its numbers, "rad" or "m"

    def shown(self, q: np.ndarray) -> float:
        """Where the slider stands at coordinates (nq)."""
        value = float(q[self.q])
        return float(np.clip(np.remainder(value + np.pi, 2.0 * np.pi) - np.pi if self.turns else value, self.lower, self.upper))

    def meant(self, q: np.ndarray, value: float) -> float:
        """The coordinate of a slider's value, in the turn that is nearest to coordinates (nq)."""
        return value + 2.0 * np.pi * round((float(q[self.q]) - value) / (2.0 * np.pi)) if self.turns else value


def joint_sliders(mechanism: Mechanism) -> list[JointSlider]:
    """The sliders of a mechanism: of all coordinates but those of joints with quaternions, which are dragged instead."""
    found = []
    for joint, kind, q, _ in joint_columns(mechanism):
        for k, part in enumerate(kind.coordinates if kind.nq == kind.nv else ()):
            least, most = joint.limits[k].range
            length = part in _LENGTHS
            reach = max(mechanism.tree.size, 0.1) if length else np.pi
            lower = least if np.isfinite(least) else min(0.0, most) - reach
            upper = most if np.isfinite(most) else max(0.0, least) + reach
            turns, where = not length and not np.isfinite([least, most]).any(), q.start + k
            unit = "m" if length else "rad"
            found.append(JointSlider(mechanism.q_names[where], where, least, most, lower, upper, turns, unit))
    return found


def slid(loops: LoopEquations, sliders: list[JointSlider], q: np.ndarray, name: str, value: float) -> np.ndarray:
    """The closed posture (nq) nearest to q with one coordinate at a value.

    Raises `InputError` if the loops cannot be closed with it, or another joint would pass a limit that it kept before.
    """
    value = next(one for one in sliders if one.name == name).meant(q, value)
    moved, _ = state_by_name(loops, (q, np.zeros(loops.mechanism.nv)), {name: value}, {}, {})
    for one in sliders:
        if _passed(one, moved) > max(_passed(one, q), _BEYOND):
            raise InputError(
                f"{loops.mechanism.name}: with {name} at {value:.4g}, {one.name} would be at {moved[one.q]:.4g}, outside its "
                f"limits {one.least:.4g} to {one.most:.4g}; move {name} less"
            )
    return moved


def _passed(slider: JointSlider, q: np.ndarray) -> float:
    """By how much a coordinate is outside its limits [rad, m]."""
    return float(max(slider.least - q[slider.q], q[slider.q] - slider.most, 0.0))


#: Its frequency on the mass that it moves [rad/s].
FREQUENCY = 15.0


@dataclass(frozen=True, eq=False)
class Spring:
    """A damped spring between a point of a body and a target in the world.

    From the `mass` that it moves its stiffness m ω² and its critical damping 2 m ω follow. With it no explicit step below 1/ω
    is unstable, on heavy bodies and on light ones.
    """

    body: str  # that it pulls
    point: np.ndarray  # (3,) in the body's frame [m]
    target: np.ndarray  # (3,) in the world [m]
    mass: float  # [kg]
    center: np.ndarray | None = None  # (3,) of mass, if it turns the body alone, by the moment of its force about it [m]

    @classmethod
    def grab(cls, robot: LiveRobot, q: np.ndarray, body: str, position: Any, *, turns: bool = False) -> Spring:
        """A spring at rest at a position in the world (3,) [m], fixed to a body; `turns`: whether it is only to turn it.

        Its mass is the least that the point has in any direction: 1/λ for the largest eigenvalue λ of J M⁻¹ Jᵀ (O. Khatib, A
        unified approach for motion and force control of robot manipulators, IEEE J. Robotics and Automation 3, 1987, eq. 51).
        Loops can only add to it.
        """
        X, grabbed = robot.poses(q)[body], np.asarray(position, dtype=float)
        J = robot.jacobian(q, body)
        at_point = J[3:] - np.cross(grabbed - X[:3, 3], J[:3], axisb=0, axisc=0)
        mobility = at_point @ np.linalg.pinv(robot.mass_matrix(q), hermitian=True) @ at_point.T
        most = float(np.linalg.eigvalsh(mobility)[-1])
        mass = min(1.0 / most, robot.mass) if most * robot.mass > 1.0 else robot.mass
        center = np.array(robot.mechanism.body(body).center_of_mass) if turns else None
        return cls(body, X[:3, :3].T @ (grabbed - X[:3, 3]), grabbed, mass, center)

    def to(self, target: Any) -> Spring:
        """The same spring with another target (3,) [m]."""
        return replace(self, target=np.asarray(target, dtype=float))

    def end(self, robot: LiveRobot, q: np.ndarray) -> np.ndarray:
        """Where its point is in the world (3,) [m]."""
        X = robot.poses(q)[self.body]
        return np.asarray(X[:3, :3] @ self.point + X[:3, 3])

    def wrench(self, robot: LiveRobot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Its [n; f] (6) on the body, about the origin and in the axes that wrenches of a step have [N·m, N]."""
        X, V = robot.poses(q)[self.body], robot.jacobian(q, self.body) @ v
        arm = X[:3, :3] @ self.point
        stretch, moves = self.target - X[:3, 3] - arm, self.center is None
        arm = arm if self.center is None else arm - X[:3, :3] @ self.center
        speed = moves * V[3:] + np.cross(V[:3], arm)
        force = self.mass * FREQUENCY * (FREQUENCY * stretch - 2.0 * speed)
        return np.concatenate([np.cross(arm, force), moves * force])


#: From one picture to the next [s].
FRAME = 1.0 / 30.0
#: Steps between looks at the clock and the buttons.
_STEPS = 8
#: Pictures that can be gone back to: those of a minute.
_KEPT = 1800


class Player:
    """A simulation at one state, which plays in real time; its methods may be called from any thread.

    Where steps take longer than the time that they simulate, it plays slower instead of falling behind.

    Attributes:
        state: the present one.
        playing: whether time goes on.
        speed: simulated time per time that it is to play at; 1 in real time.
        pace: the part of that speed that the last picture had.
        settings: the targets, inputs and parameters that `set` changes.
        past: the states that were shown, to which `seek` goes back; the newest is the last.
        spring: that pulls a body, or None.
        message: why it stopped, or why a slider could not be moved; "" after the next success.
        pulled: the bodies that springs can pull.
    """

    def __init__(self, simulation: LiveSimulation, shown: Callable[[Player], None] = lambda player: None):
        """A player, paused at the simulation's start; `shown` is called after every change."""
        self.simulation, self._shown = simulation, shown
        mechanism = simulation.robot.mechanism
        self.sliders, self._loops = joint_sliders(mechanism), loop_equations(mechanism)
        self.pulled = tuple(name for name, given in simulation.actuation.forcing.wrenches.items() if given is None)
        self._first = self.state = simulation.start()
        ends = {one.q: (one.lower, one.upper) for one in self.sliders}
        self.settings = settings_of(simulation, self._first.parameters, ends)
        self._given: dict[str, dict[str, Any]] = {"inputs": {}, "parameters": {}}
        self.past: deque[State] = deque([self._first], maxlen=_KEPT)
        self.playing, self.speed, self.pace, self.message = False, 1.0, 1.0, ""
        self.spring: Spring | None = None
        self._due, self._lock, self._ended = 0.0, Lock(), Event()
        self._thread = Thread(target=self._run, name="kumitate live viewer", daemon=True)

    def begin(self) -> None:
        """Compiles what steps and springs need, and starts the thread."""
        with self._lock:
            self.simulation.step(self.state)
            self.simulation.robot.mass_matrix(self.state.q)
        self._thread.start()
        self._shown(self)

    def close(self) -> None:
        """Stops the thread; what it simulates is at most one picture further."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def play(self) -> None:
        """Lets time go on."""
        self.message, self._due, self.playing = "", 0.0, True

    def pause(self) -> None:
        """Stops time."""
        self.playing = False
        self._shown(self)

    def step(self, count: int = 1) -> None:
        """Pauses, and makes single steps."""
        self.playing = False
        with self._lock:
            self._step(count)
            self._keep()
        self._shown(self)

    def reset(self, start: str = "") -> None:
        """Pauses at the first state, exactly as it was, or at a state of the robot by its name (`Robot.starts`)."""
        with self._lock:
            self.playing, self.spring, self.message = False, None, ""
            try:
                self._begin_at(self.simulation.start(*self.simulation.robot.starts[start]) if start else self._first)
            except KumitateError as error:
                self.message = str(error)
        self._shown(self)

    def seek(self, time: float) -> None:
        """Pauses at the state of the past that is nearest to a time [s]; playing goes on from there."""
        with self._lock:
            self.playing = False
            self.state = min(self.past, key=lambda state: abs(state.time - time))
        self._shown(self)

    def set(self, setting: Setting, value: float) -> None:
        """Gives a target, an input or a parameter a value from the next step on; else says why that is impossible."""
        with self._lock:
            before = self._given[setting.group]
            self._given[setting.group] = with_setting(before, setting, value, self.settings)
            try:
                self.simulation.step(self.state, 0, inputs=self._given["inputs"], parameters=self._given["parameters"])
                self.message = ""
            except KumitateError as error:
                self._given[setting.group], self.message = before, str(error)
        self._shown(self)

    def of(self, setting: Setting) -> float:
        """The value that a setting has."""
        values = self._given[setting.group].get(setting.name)
        if values is None:
            return setting.value
        same = [one for one in self.settings if (one.group, one.name) == (setting.group, setting.name)]
        return float(np.ravel(values)[same.index(setting)])

    def slide(self, name: str, value: float) -> None:
        """Pauses at rest, at t = 0, with a coordinate at a value and the loops closed; else says why that is impossible."""
        with self._lock:
            self.playing = False
            try:
                q = slid(self._loops, self.sliders, self.state.q, name, value)
                self._begin_at(self.simulation.start(q))
                self.message = ""
            except KumitateError as error:
                self.message = str(error)
        self._shown(self)

    def grab(self, body: str, position: Any, *, turns: bool = False) -> None:
        """Fixes a spring to a body at a position in the world (3,) [m], where it can be pulled, or only turned."""
        if body in self.pulled:
            self.spring = Spring.grab(self.simulation.robot, self.state.q, body, position, turns=turns)

    def drag(self, target: Any) -> None:
        """Leads the spring's free end to a target in the world (3,) [m]."""
        if self.spring is not None:
            self.spring = self.spring.to(target)

    def release(self) -> None:
        """Takes the spring away."""
        self.spring = None

    def advance(self, elapsed: float) -> None:
        """Simulates as much time as went by [s], at the speed, unless that takes longer than a picture may."""
        h, begun = self.simulation.step_size, clock.perf_counter()
        self._due += self.speed * elapsed
        asked = whole = int(self._due / h)
        self._due -= whole * h
        while whole > 0 and self.playing and clock.perf_counter() - begun < FRAME:
            count = min(whole, _STEPS)
            with self._lock:
                if self.playing:
                    self._step(count)
            whole -= count
        if asked:
            self.pace = (asked - whole) * h / max(self.speed * elapsed, h)
        self._keep()

    def _begin_at(self, state: State) -> None:
        """A state without a past."""
        self.state, self.past = state, deque([state], maxlen=_KEPT)

    def _keep(self) -> None:
        """Keeps the state as the last of the past: what came after it, before `seek`, did not happen."""
        while len(self.past) > 1 and self.past[-1].time >= self.state.time:
            self.past.pop()
        if self.past[-1].time >= self.state.time:
            self.past[-1] = self.state  # other threads read it: it is never empty
        else:
            self.past.append(self.state)

    def _step(self, count: int) -> None:
        """Makes steps, each with the force that the spring then has; where they fail, the state stays, and time stops."""
        spring = self.spring
        step = partial(self.simulation.step, inputs=self._given["inputs"], parameters=self._given["parameters"])
        try:
            if spring is None:
                self.state = step(self.state, count)
                return
            for _ in range(count):
                pull = spring.wrench(self.simulation.robot, self.state.q, self.state.v)
                self.state = step(self.state, wrenches={spring.body: pull})
        except KumitateError as error:
            self.playing, self.message = False, str(error)

    def _run(self) -> None:
        last, rest = clock.perf_counter(), FRAME
        while not self._ended.wait(rest):
            begun = clock.perf_counter()
            if self.playing:
                self.advance(begun - last)
                self._shown(self)
            last = begun
            rest = max(FRAME - (clock.perf_counter() - begun), 1e-3)
