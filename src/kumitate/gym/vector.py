"""`VectorEnv`: many episodes side by side, in one batch, with what disturbs them and their pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from ..errors import InputError
from ..model import Plane
from .registration import named_task
from .task import BEFORE, Task

#: The stream of random numbers that noise is made of; those of pushes are before it, one for each body.
_NOISE = 127


class Disturbances:
    """What disturbs N episodes of a task, as its table `randomised` says, by numbers that depend on a row's generator alone."""

    def __init__(self, task: Task, count: int):
        self.task = task
        self.noise = np.zeros(count)  # of each row: the standard deviation of what is added to observations
        self.delay = np.zeros(count, dtype=int)  # by how many steps of the environment actions come late
        self._keys, self._steps = np.zeros(count, dtype=np.uint64), np.zeros(count, dtype=np.uint64)
        most = int(task.disturbances.get("delay", (0, 0))[1])
        self._waiting = np.zeros((most + 1, count, task.action_size))

    def begin(self, rows: np.ndarray, numbers: np.ndarray) -> None:
        """Starts episodes in some rows, of random numbers (k, 3), uniform in 0…1."""
        (least, most), (first, last) = (self.task.disturbances.get(name, (0.0, 0.0)) for name in ("noise", "delay"))
        self.noise[rows] = least + (most - least) * numbers[:, 0]
        self.delay[rows] = first + np.floor((last + 1.0 - first) * numbers[:, 1])
        self._keys[rows], self._steps[rows] = numbers[:, 2].copy().view(np.uint64), 0
        self._waiting[:, rows] = 0.0

    def late(self, actions: np.ndarray) -> np.ndarray:
        """The actions (N, components) that act while these are taken; zeros before the first."""
        self._waiting = np.concatenate([actions[None], self._waiting[:-1]])
        return self._waiting[self.delay, np.arange(len(actions))]

    def push(self, wrenches: Mapping[str, np.ndarray]) -> None:
        """Writes the pushes of the next step, horizontal forces [N], at moments and in directions that are drawn."""
        self._steps += np.uint64(1)
        for k, (name, (least, most)) in enumerate(self.task.pushes.items()):
            when, strong, way = self._random(k, 3).T
            force = (when < self.task.time / self.task.push_every) * (least + (most - least) * strong) / self.task.time
            wrenches[name][:, 3], wrenches[name][:, 4] = force * np.cos(2.0 * np.pi * way), force * np.sin(2.0 * np.pi * way)

    def seen(self, observations: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        """Observations (N, size) of some rows as their sensors give them."""
        if not self.noise.any():
            return observations
        return observations + self.noise[rows, None] * gaussian(self._random(_NOISE, 2 * observations.shape[1])[rows])

    def _random(self, stream: int, count: int) -> np.ndarray:
        """Uniform numbers (N, count) in 0…1 of each row's present step, by a hash (SplitMix64, Steele et al. 2014)."""
        streams: Any = self._steps * np.uint64(128) + np.uint64(stream)
        at: Any = streams[:, None] * np.uint64(65536) + np.arange(count, dtype=np.uint64)
        z: Any = self._keys[:, None] + at * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


def gaussian(numbers: np.ndarray) -> np.ndarray:
    """Normally distributed numbers (k, n) from uniform ones (k, 2 n) in 0…1 (Box and Muller 1958)."""
    radius, angle = np.split(numbers, 2, axis=1)
    return np.sqrt(-2.0 * np.log1p(-radius)) * np.cos(2.0 * np.pi * angle)


# --- pictures of rows, drawn without a display, as figures and animations are ---------------------------------------------
#: The size of a picture [pixels].
SIZE = (480, 360)
#: How far each coordinate is moved to see whether the robot moves in a plane [rad, m].
_MOVED = 0.3


def drawn_as(task: Task, mode: str | None) -> dict[str, Any]:
    """The metadata of environments that are drawn in a mode, or not at all; Gymnasium shows a window by these."""
    if mode not in (None, "rgb_array"):
        raise InputError(f"{task.name}: render_mode is {mode!r}; it must be 'rgb_array' or None, and by gymnasium.make 'human'")
    return {"render_modes": ["rgb_array"], "render_fps": max(round(1.0 / task.time), 1)}


class Pictures:
    """Draws states of a task's robot, from the side where it moves in a plane; the picture follows the robot."""

    def __init__(self, task: Task):
        from ..view.drawing_window import Stage
        from ..view.snapshots import drawer
        from ..view.style import print_style

        robot, (q, _) = task.robot, task.robot.start
        self._task, self._style, self._poses = task, print_style, robot.compile("poses")
        moved = [] if robot.mechanism.loops else [robot.integrate(q, way) for way in _MOVED * np.eye(robot.nv)]
        stage = Stage(robot.mechanism, self._poses(np.array([q, *moved])), ground=_ground(task))
        stage.follows = True
        self._draw = drawer(stage, SIZE)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._task,)

    def picture(self, q: np.ndarray, time: float) -> np.ndarray:
        """The picture (height, width, 3) of a state, uint8."""
        with self._style():
            return self._draw(self._poses(q), 0, time)


def _ground(task: Task) -> list[Any]:
    """The ground of contact, and planes that are fixed to the world."""
    mechanism, contact = task.robot.mechanism, getattr(task.simulation.interaction, "contact", None)
    places = ((body, mechanism.tree.places[body.name]) for body in mechanism.bodies)
    fixed = [(body, place.pose) for body, place in places if place.link < 0]
    planes = [replace(g, pose=X @ g.pose) for body, X in fixed for g in body.collisions if isinstance(g.shape, Plane)]
    return [*getattr(contact, "ground", ()), *planes]


class Episodes:
    """N episodes of a task, one in each row of a batch; arrays are (N, …), and written in place.

    Rows whose motion ran away have `diverged` in addition to `terminated`, the reward zero, and zeros for observations.
    """

    def __init__(self, task: Task, count: int):
        self.task = task
        self.batch = task.simulation.batch(count)
        self.observations = np.zeros((count, *task.observation_space.shape), dtype=task.observation_space.dtype)
        self.rewards = np.zeros(count)
        self.terminated, self.diverged = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        self.levels = np.zeros(count)  # how difficult the episodes are, by the task's curriculum
        self.random: list[np.random.Generator] = []  # of each row: what an episode starts with depends on its own alone
        self._begun = np.zeros(count, dtype=bool)
        self._disturbed = Disturbances(task, count) if task.disturbed else None
        self._pictures: Pictures | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "batch": self.batch.arrays()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.batch = self.task.simulation.batch(len(self.rewards))
        self.batch.__setstate__(state["batch"])

    def begin(self, rows: np.ndarray) -> None:
        """Starts new episodes in these rows (k): random numbers and parameters of each, no action taken yet."""
        task, batch, own = self.task, self.batch, self.task.simulation.actuation.forcing.values_of_inputs
        numbers = np.array([self.random[row].random(task.draws + task.varied) for row in rows])
        start = task.begin(numbers[:, : task.draws], *self._next_levels(rows))
        batch.reset(rows, start.q, start.v)
        if parameters := {**task.parameters(numbers[:, task.draws :]), **start.parameters}:
            batch.set(parameters, rows)
        for name, values in batch.inputs.items():
            values[rows] = start.inputs.get(name, own[name])
        for name in task.pushes:
            batch.wrenches[name][rows] = 0.0
        self._sense(rows)
        batch.look(rows)
        self._remember(rows)
        self.rewards[rows], self.terminated[rows], self.diverged[rows] = 0.0, False, False
        if self._disturbed is not None:
            self._disturbed.begin(rows, numbers[:, -3:])
        self._see(rows)

    def step(self, actions: Any) -> None:
        """One step of the environment in all rows, with the actions (N, components), or choices (N)."""
        batch = self.batch
        taken = self._taken(actions)
        if self._disturbed is not None:
            taken = self._disturbed.late(taken)
            self._disturbed.push(batch.wrenches)
        batch.inputs["last_action"][:] = batch.inputs["action"]
        batch.inputs["action"][:] = taken
        self._remember(slice(None))
        self._sense(slice(None))
        batch.step(self.task.steps)
        self.diverged[:] = batch.lost
        self.terminated[:] = (batch.outputs["terminated"] > 0.5) | self.diverged
        self.rewards[:] = batch.outputs["reward"]
        self.rewards[self.diverged] = 0.0
        self._see(slice(None))

    def info(self, row: int) -> dict[str, Any]:
        """What is reported of one row."""
        values = {name: self.batch.outputs[name][row] for name in self.task.info}
        found = {name: value.copy() if value.ndim else float(value) for name, value in values.items()}
        return {**found, "diverged": True} if self.diverged[row] else found

    def picture(self, row: int) -> np.ndarray:
        """The picture (height, width, 3) of one row, uint8."""
        if self._pictures is None:
            self._pictures = Pictures(self.task)
        return self._pictures.picture(self.batch.q[row], float(self.batch.time[row]))

    def _see(self, rows: Any) -> None:
        """Observes some rows."""
        seen = self.batch.outputs["observation"][rows]
        if self._disturbed is not None:
            seen = self._disturbed.seen(seen, rows)
        self.observations[rows] = np.where(self.diverged[rows][:, None], 0.0, seen) if self.diverged.any() else seen

    def _remember(self, rows: Any) -> None:
        """Keeps outputs of some rows as those before the next step."""
        for name, size in self.task.remembered.items():
            self.batch.inputs[f"{name}{BEFORE}"][rows] = self.batch.outputs[name][rows].reshape(-1, size)

    def _sense(self, rows: Any) -> None:
        """Puts what is sensed of the states of some rows into its inputs."""
        for name, (_, sense) in self.task.sensed.items():
            self.batch.inputs[name][rows] = sense(self.batch.q[rows], self.batch.v[rows])

    def _next_levels(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        """The levels of episodes that begin in these rows, where the task has a curriculum."""
        if self.task.curriculum is None:
            return ()
        over = rows[self._begun[rows]]
        if len(over):
            self.levels[over] = self.task.curriculum(self.levels[over], {k: a[over] for k, a in self.batch.outputs.items()})
        self._begun[rows] = True
        return (self.levels[rows],)

    def _taken(self, actions: Any) -> np.ndarray:
        """What the actions put into the input (N, components)."""
        task, given, choices = self.task, np.asarray(actions), self.task.choices
        shape = (len(self.batch), *((task.action_size,) if choices is None else ()))
        sort, kinds = ("real", "fiu") if choices is None else ("whole", "iu")
        if given.shape != shape or given.dtype.kind not in kinds:
            raise InputError(
                f"{task.name}: the actions are of the shape {given.shape} and the type {given.dtype}; they must be {sort} "
                f"numbers of the shape {shape}. Give one for each environment"
            )
        usable = np.isfinite(given).all(axis=1) if choices is None else (given >= 0) & (given < len(choices))
        if not usable.all():
            row, must = int(usable.argmin()), "finite" if choices is None else f"one of the choices 0 to {len(choices) - 1}"
            raise InputError(f"{task.name}: the action of row {row} is {given[row]}; it must be {must}. Look at the policy")
        return given if choices is None else choices[given]


class Env(gymnasium.Env):
    """One environment. It steps as a row of `VectorEnv` does, to the last bit.

    >>> env = Env("cart_pole")
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(1)
    >>> observation.shape, reward, terminated
    ((4,), 1.0, False)
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012  as the base class has it

    def __init__(self, task: Task | str, *, render_mode: str | None = None, **options: Any):
        """An environment of a task, or of one of `TASKS` by name.

        Args:
            render_mode: "rgb_array" for pictures by `render`; `gymnasium.make` takes "human" too, a window of pygame.
            options: of the task, where it is given by name.

        Raises:
            InputError: for an unknown name or mode, or if the task needs what is not installed.
        """
        self.task = named_task(task, **options)
        self.metadata, self.render_mode = drawn_as(self.task, render_mode), render_mode
        self.action_space, self.observation_space = self.task.action_space, self.task.observation_space
        self._episodes = Episodes(self.task, 1)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts an episode; `options` are not used. Gives the observation and `info`."""
        super().reset(seed=seed)
        self._episodes.random = [self.np_random]
        self._episodes.begin(np.array([0]))
        return self._episodes.observations[0].copy(), self._episodes.info(0)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One step: the observation, the reward, whether the episode ended, whether it was cut off (never here), and `info`.

        Raises:
            InputError: for an action of a wrong shape or value.
        """
        episodes = self._episodes
        episodes.step(np.asarray(action)[None])
        ended = bool(episodes.terminated[0])
        return episodes.observations[0].copy(), float(episodes.rewards[0]), ended, False, episodes.info(0)

    def render(self) -> np.ndarray | None:  # type: ignore[override]
        """The picture (height, width, 3), uint8; None without a `render_mode`."""
        return self._episodes.picture(0) if self.render_mode else None


class VectorEnv(gymnasium.vector.VectorEnv):
    """N environments of a task, stepped together in machine code.

    It does what `gymnasium.vector.SyncVectorEnv` does with as many `Env`s, in each mode of automatic resets.

    Attributes:
        elapsed: the steps that each row's episode has taken (N).

    >>> envs = VectorEnv("cart_pole", 5)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations, rewards, terminated, truncated, infos = envs.step(np.ones(5, dtype=int))
    >>> observations.shape, observations.dtype, rewards.tolist()
    ((5, 4), dtype('float32'), [1.0, 1.0, 1.0, 1.0, 1.0])
    """

    def __init__(
        self,
        task: Task | str,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        **options: Any,
    ):
        """Environments of a task, or of one of `TASKS` by name.

        Args:
            max_episode_steps: after which an episode is cut off (truncated).
            autoreset_mode: when an episode that has ended is followed by the next: at the next step, in the same step, or only
                when `reset` is called with a mask.
            copy: whether observations are new arrays each time; without it one array is written to again and again.
            render_mode: "rgb_array" for pictures of all rows by `render`.
            options: of the task, where it is given by name.

        Raises:
            InputError: for an unknown name or mode, or if the task needs what is not installed.
        """
        self.task = named_task(task, **options)
        self.render_mode = render_mode
        self.num_envs, self.copy, self.max_episode_steps = num_envs, copy, max_episode_steps
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**drawn_as(self.task, render_mode), "autoreset_mode": self.autoreset_mode}
        self.single_action_space, self.single_observation_space = self.task.action_space, self.task.observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._episodes = Episodes(self.task, num_envs)
        self.elapsed = np.zeros(num_envs, dtype=int)
        self._ended = np.zeros(num_envs, dtype=bool)
        self._seeds: list[int] = []

    @property
    def batch(self) -> Any:
        """The batch of the simulation, with its live arrays."""
        return self._episodes.batch

    @property
    def levels(self) -> np.ndarray:
        """How difficult each row's episode is (N), by the task's curriculum."""
        return self._episodes.levels

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The random number generator of each row."""
        self._seed([None] * self.num_envs, np.arange(self.num_envs))
        return tuple(self._episodes.random)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed of each row's generator."""
        self._seed([None] * self.num_envs, np.arange(self.num_envs))
        return tuple(self._seeds)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts new episodes, in all rows unless told otherwise.

        Args:
            seed: of each row, or a number: that of the first row, each next one's being larger by one. Rows without a seed go
                on with their generators.
            options: "reset_mask": (N), bool: which rows to start.

        Returns:
            the observations of all rows, and the infos of those that start.

        Raises:
            InputError: for another number of seeds, or a mask of another shape or type.
        """
        if seed is None or isinstance(seed, int | np.integer):
            seeds = [None if seed is None else int(seed) + k for k in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise InputError(f"{self.task.name}: {len(seeds)} seeds are given for {self.num_envs} environments; give one each")
        chosen = self._chosen(options)
        if not self._episodes.random and not chosen.all():
            raise InputError(f"{self.task.name}: no episode has started; call reset without a mask first")
        self._seed(seeds, np.flatnonzero(chosen))
        self._begin(chosen)
        return self._observations(), self._infos(chosen)

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One step of all rows: observations, rewards, which episodes ended, which were cut off, and infos.

        Raises:
            InputError: for actions of a wrong shape or value, or, where nothing is reset by itself, if an episode has ended.
        """
        mode, episodes, over = self.autoreset_mode, self._episodes, self._ended
        if not episodes.random:
            raise InputError(f"{self.task.name}: no episode has started; call reset before step")
        if mode is AutoresetMode.DISABLED and over.any():
            raise InputError(
                f"{self.task.name}: the episode in row {np.flatnonzero(over)[0]} has ended; call "
                "reset(options={'reset_mask': ...}) for such rows before step"
            )
        episodes.step(actions)
        self.elapsed += 1
        if mode is AutoresetMode.NEXT_STEP:
            self._begin(over)
        most = np.inf if self.max_episode_steps is None else self.max_episode_steps
        truncated = self.elapsed >= most
        rewards, terminated, infos = episodes.rewards.copy(), episodes.terminated.copy(), {}
        self._ended = terminated | truncated
        if mode is AutoresetMode.SAME_STEP and self._ended.any():
            infos = self._final(self._ended)
            self._begin(self._ended)
        return self._observations(), rewards, terminated, truncated, {**infos, **self._infos(np.ones_like(truncated))}

    def render(self) -> tuple[np.ndarray, ...] | None:
        """The pictures (height, width, 3) of all rows, uint8; None without a `render_mode`."""
        return tuple(self._episodes.picture(row) for row in range(self.num_envs)) if self.render_mode else None

    def _begin(self, chosen: np.ndarray) -> None:
        """Starts new episodes in the rows of a mask."""
        if chosen.any():
            self._episodes.begin(np.flatnonzero(chosen))
            self.elapsed[chosen] = 0
            self._ended = self._ended & ~chosen

    def _observations(self) -> np.ndarray:
        return self._episodes.observations.copy() if self.copy else self._episodes.observations

    def _infos(self, chosen: np.ndarray) -> dict[str, Any]:
        """What is reported of the rows of a mask, by name, each with the mask of those that report it."""
        found: dict[str, Any] = {}
        for name in self.task.info:
            values = self._episodes.batch.outputs[name]
            found[name] = np.where(chosen.reshape(-1, *[1] * (values.ndim - 1)), values, 0.0)
            found[f"_{name}"] = chosen.copy()
        diverged = self._episodes.diverged & chosen
        if diverged.any():
            found["diverged"], found["_diverged"] = diverged, diverged.copy()
        return found

    def _final(self, ended: np.ndarray) -> dict[str, Any]:
        """The last observations and infos of episodes that are followed by others in the same step."""
        last = np.full(self.num_envs, None, dtype=object)
        for row in np.flatnonzero(ended):
            last[row] = self._episodes.observations[row].copy()
        infos = {"final_obs": last, "final_info": self._infos(ended)}
        return infos | {f"_{name}": ended.copy() for name in infos}

    def _seed(self, seeds: Sequence[int | None], rows: np.ndarray) -> None:
        """Gives rows that have a seed, or no generator yet, a new generator."""
        episodes = self._episodes
        if not episodes.random:
            rows = np.arange(self.num_envs)
            episodes.random, self._seeds = [None] * self.num_envs, [0] * self.num_envs  # type: ignore[list-item]
        for row in rows:
            if seeds[row] is not None or episodes.random[row] is None:
                episodes.random[row], self._seeds[row] = seeding.np_random(seeds[row])

    def _chosen(self, options: dict[str, Any] | None) -> np.ndarray:
        """The mask of the rows to start."""
        mask = None if options is None else options.pop("reset_mask", None)  # as SyncVectorEnv takes it out
        if mask is None:
            return np.ones(self.num_envs, dtype=bool)
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            told = f"of shape {mask.shape} and type {mask.dtype}" if isinstance(mask, np.ndarray) else f"{mask!r:.60}"
            raise InputError(
                f"{self.task.name}: options['reset_mask'] is {told}; it must be an array of bool of the shape "
                f"{(self.num_envs,)} that chooses one row at least"
            )
        return mask
