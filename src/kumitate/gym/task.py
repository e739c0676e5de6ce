"""`Task`: what is to be learned, as plain functions that are compiled into the step of a simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from typing import Any, NamedTuple

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Discrete

from ..errors import InputError
from ..model import Mechanism
from ..model.values import checked_array, checked_numbers, checked_whole
from ..robot import Robot
from ..scalar.arrays import where
from ..simulate.batch import SettledAttributes
from ..simulation import Simulation

#: The inputs that every task has, what follows the name of an output for the input of its value before the step, and the
#: outputs that its functions become.
_ACTION, _LAST, BEFORE = "action", "last_action", "_before"
#: What stands before the name of a body that is pushed.
_PUSH = "push:"
_FUNCTIONS = ("observation", "terminated", "reward")


class Start(NamedTuple):
    """States that episodes start in.

    Attributes:
        q, v: (k, nq) and (k, nv).
        inputs: values (k, size) of the task's own inputs, such as commands, for the whole episodes.
        parameters: values of parameters of the simulation, (k) or (k, targets), for the whole episodes.
    """

    q: np.ndarray
    v: np.ndarray
    inputs: Mapping[str, np.ndarray] = {}
    parameters: Mapping[str, np.ndarray] = {}


class Task(SettledAttributes):
    """A simulation with its actions, what is observed of it and rewarded, when an episode ends, and how one starts.

    The functions are of (t, q, v) of one state, after the step of the environment that the action was taken for. Their further
    parameters are what they read, by name: "action" and "last_action", the task's `inputs`, the signals "tau" (efforts at the
    joints) and "a" (accelerations), `outputs`, and each other's values, in the order observation, terminated, reward; of an
    output that is `remembered`, as "height", also the value before the step, "height_before". They are
    compiled into the step, so that they hold no Python `if` on what they read: `kumitate.where`, `clip` and NumPy's functions
    take its place.

    Attributes:
        name: in messages.
        simulation: that is stepped.
        controller: of the simulation; None without one.
        inputs: of the simulation, those of the action apart, as they were given: numbers of components, values or functions.
        steps: of the simulation in one step of the environment.
        action_space: of one environment: a `Box`, of −1…1 unless given, or `Discrete`.
        observation_space: of one environment: a `Box` of float32, or of `dtype`.
        draws: how many random numbers the start of an episode takes.
        sensed, curriculum: as they were given.
        ranges: least and largest value of each number of the model that is drawn for every episode, by name; `disturbances`:
            of "noise" and "delay"; `pushes`: of those of bodies.
        info: the outputs that are reported in `info`.
    """

    def __init__(
        self,
        robot: Robot | Mechanism,
        *,
        actions: int | Box | Sequence[Sequence[float]],
        observation: Callable[..., Any],
        reward: Callable[..., Any],
        begin: Callable[..., Start],
        draws: int,
        terminated: Callable[..., Any] | None = None,
        steps: int = 1,
        bounds: Sequence[float] | None = None,
        info: Sequence[str] = (),
        remembered: Mapping[str, int] | None = None,
        sensed: Mapping[str, tuple[int, Callable[[np.ndarray, np.ndarray], Any]]] | None = None,
        curriculum: Callable[[np.ndarray, Mapping[str, np.ndarray]], Any] | None = None,
        dtype: Any = np.float32,
        randomised: Mapping[str, Sequence[float]] | None = None,
        push_every: float = 2.0,
        **options: Any,
    ):
        """A task; nothing is compiled before an environment is made.

        Args:
            robot: that acts.
            actions: the number of components of an action, each within −1…1, or a `Box` of them; or, for actions that are
                choices, the values (choices, components) that each puts into the input "action".
            observation: one array of numbers; `reward`: a number; `terminated`: a condition, None if episodes never end.
            begin: from random numbers (k, draws), uniform in 0…1, to the `Start` of k episodes; it is called with arrays, with
                a `curriculum` also with the levels (k).
            bounds: the largest size of each component of an observation; unbounded by default.
            remembered: outputs, by name, with the number of components of each, whose values before the step are read, too.
            sensed: what is not compiled, such as heights of the ground around a robot: by the name of the input that the other
                functions read it by, its size and a function of NumPy of states q (k, nq) and v (k, nv). It is of the state
                that the step of the environment begins with.
            curriculum: how difficult the next episodes are: from the levels (k) of those that are over, first zeros, and the
                outputs (k, …) at their ends, by name, to the levels of those that follow them.
            dtype: of observations.
            randomised: numbers of the model that differ from episode to episode: the least and the largest value by the name
                of a parameter of `kumitate.Simulation`, such as {"mass:pole": (0.05, 0.2)}. Each target of a name with a * is
                drawn by itself, uniformly, with the generator of the episode's row. Likewise "noise", the standard deviation
                of what is added to each component of observations, and "delay", by how many steps of the environment actions
                come late. "push:BODY" is the range of horizontal pushes [N·s], each over one step, at the body's origin.
            push_every: the mean time between two pushes of a body, which come at random [s].
            options: of `kumitate.Simulation`: step, controller, contact, integrator, …; `inputs`, such as commands, that stay
                as they are during an episode; `outputs`, which the functions read.

        Raises:
            InputError: if an argument has a wrong value or shape, or a function cannot be compiled.
        """
        self.robot = Robot(robot) if isinstance(robot, Mechanism) else robot
        self.name = self.robot.name
        self.steps = checked_whole(self.name, "steps", steps, 1, remedy="Give a number of steps", error=InputError)
        self.draws, self.begin, self.info, self.controller = draws, begin, tuple(info), options.get("controller")
        self.inputs = dict(options.pop("inputs", None) or {})
        outputs = options.pop("outputs", None) or {}
        self.action_space, self.choices, self.action_size = _actions(self.name, actions)
        self.remembered, self.sensed, self.curriculum = dict(remembered or {}), dict(sensed or {}), curriculum
        ranges = {name: _range(self.name, name, given) for name, given in (randomised or {}).items()}
        self.disturbances = {name: ranges.pop(name) for name in ("noise", "delay") if name in ranges}
        pushes = [name for name in ranges if name.startswith(_PUSH)]
        self.pushes, self.push_every = {name.removeprefix(_PUSH): ranges.pop(name) for name in pushes}, push_every
        self.ranges = ranges
        if self.pushes:
            options["wrenches"] = {**(options.get("wrenches") or {}), **dict.fromkeys(self.pushes)}
        options.setdefault("side_by_side", True)
        options["parameters"] = [*self.ranges, *options.get("parameters", ())]
        own = dict(zip(_FUNCTIONS, (observation, _condition(terminated), reward), strict=True))
        self.simulation = Simulation(
            self.robot,
            inputs={_ACTION: self.action_size, _LAST: self.action_size, **self.inputs}
            | {f"{name}{BEFORE}": size for name, size in self.remembered.items()}
            | {name: size for name, (size, _) in self.sensed.items()},
            outputs={**outputs, **own},
            **options,
        )
        self._bounds, self._dtype = bounds, np.dtype(dtype)
        self._maker: Callable[[], Task] | None = None  # of one that ships
        self._check()
        self._drawn = self._columns()
        self._settle()

    def __repr__(self) -> str:
        return f"Task({self.name!r})"

    @cached_property
    def observation_space(self) -> Box:
        """Of one environment."""
        (size,) = self._shapes["observation"]
        bounds = np.full(size, np.inf) if self._bounds is None else self._bounds
        high = np.broadcast_to(np.asarray(bounds, dtype=self._dtype), (size,))
        return Box(-high, high, dtype=self._dtype)  # type: ignore[arg-type]

    @property
    def time(self) -> float:
        """Of one step of the environment [s]."""
        return self.steps * self.simulation.step_size

    @property
    def _shapes(self) -> dict[str, Any]:
        return {output.name: output.shape for output in self.simulation.outputs}

    @property
    def disturbed(self) -> bool:
        """Whether there are noise, delay or pushes."""
        return bool(self.disturbances or self.pushes)

    @property
    def varied(self) -> int:
        """How many further random numbers an episode takes: one for each number of the model, and three for disturbances."""
        return sum(self._drawn.values()) + 3 * self.disturbed

    def parameters(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        """The values of the parameters (k, targets) that are drawn, from random numbers (k, varied), uniform in 0…1."""
        found, at = {}, 0
        for name, (least, most) in self.ranges.items():
            some = numbers[:, at : at + self._drawn[name]]
            found[name], at = least + (most - least) * some, at + self._drawn[name]
        return found

    def _columns(self) -> dict[str, int]:
        """How many targets each name has whose values are drawn; both ends of each range are tried."""
        varied = self.simulation.parameters
        if varied is None:
            return {}
        columns = {one.name: len(one.targets) for one in varied.asked if one.name in self.ranges}
        for end in (0, 1):
            ranges = {name: np.full((1, columns[name]), ends[end]) for name, ends in self.ranges.items()}
            varied.put(varied.blank[None].copy(), ranges)
        return columns

    def __reduce_ex__(self, protocol: Any) -> Any:
        """One that ships by its name; another by what it holds, so that to pickle it, its functions must have names."""
        return (self._maker, ()) if self._maker else super().__reduce_ex__(protocol)

    def _check(self) -> None:
        if not any({_ACTION, _LAST} & set(source.reads) for source in self.simulation.actuation.forcing.sources):
            raise InputError(
                f"{self.name}: nothing that drives the robot reads the action. Give a controller(t, q, v, action), or another "
                "function with the parameter 'action' for wrenches, loop_tau or the targets of drives"
            )
        for name, dimensions in zip(_FUNCTIONS, (1, 0, 0), strict=True):
            shape = self._shapes[name]
            if len(shape) != dimensions:
                must = "one array of numbers" if dimensions else "one number"
                raise InputError(f"{self.name}: {name} gives an array of shape {shape}; it must give {must}")
        for what, names in (("info", self.info), ("remembered", self.remembered)):
            if unknown := next((name for name in names if name not in self._shapes), None):
                raise InputError(
                    f"{self.name}: {what} names {unknown!r}, which is not an output; there are {', '.join(self._shapes)}"
                )
        for name, size in self.remembered.items():
            if np.prod(self._shapes[name]) != size:
                raise InputError(f"{self.name}: {name!r} is remembered with {size} numbers; its shape is {self._shapes[name]}")


def _actions(owner: str, given: Any) -> tuple[Space, np.ndarray | None, int]:
    """The space of actions, the values of choices, and the number of components of an action."""
    box = Box(-1.0, 1.0, (given,), np.float32) if isinstance(given, int) else given
    if isinstance(box, Box) and len(box.shape) == 1:
        return box, None, box.shape[0]
    table = checked_array(owner, "the actions", box.low if isinstance(box, Box) else box)
    if isinstance(box, Box) or table.ndim != 2:
        raise InputError(f"{owner}: actions has shape {table.shape}; give (choices, components), a number, or a flat Box")
    return Discrete(len(table)), table, table.shape[1]


def _range(owner: str, name: str, given: Any) -> tuple[float, float]:
    """The least and the largest value of a parameter."""
    least, most = checked_numbers(owner, f"the range of {name!r}", given, 2, error=InputError)
    whole = name == "delay"
    if name in ("noise", "delay") and (least < 0.0 or (whole and (least % 1 or most % 1))):
        raise InputError(f"{owner}: {name!r} is from {least} to {most}; it must be {'whole and ' * whole}not negative")
    if not least <= most:
        raise InputError(f"{owner}: the range of {name!r} is from {least} to {most}; give the lesser number first")
    return least, most


def _condition(function: Callable[..., Any] | None) -> Callable[..., Any]:
    """A condition as the number 1 or 0, which outputs are."""
    if function is None:
        return lambda t, q, v: 0.0

    @wraps(function)  # its parameters say what it reads
    def number(t: Any, q: Any, v: Any, **read: Any) -> Any:
        return where(function(t, q, v, **read), 1.0, 0.0)

    return number
