"""`Env`: one episode at a time."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from .episodes import Episodes
from .registration import named_task
from .task import Task


class Env(gymnasium.Env):
    """One environment. It steps as a row of `VectorEnv` does, to the last bit.

    >>> env = Env("cart_pole")
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(1)
    >>> observation.shape, reward, terminated
    ((4,), 1.0, False)
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  as the base class has it

    def __init__(self, task: Task | str, **options: Any):
        """An environment of a task, or of one of `TASKS` by name.

        Args:
            options: of the task, where it is given by name.

        Raises:
            InputError: for an unknown name, or if the task needs what is not installed.
        """
        self.task = named_task(task, **options)
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
