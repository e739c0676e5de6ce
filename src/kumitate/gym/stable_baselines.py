"""`StableVecEnv`: the environments of a task as Stable-Baselines3 takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .task import Task
from .vector import VectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    VecEnv = None


class StableVecEnv(VecEnv or object):  # type: ignore[misc]
    """N environments of a task, stepped together, for Stable-Baselines3: `PPO("MlpPolicy", StableVecEnv("ant", 64))`.

    Attributes:
        envs: the `VectorEnv`, whose rows have no attributes or methods of their own.
    """

    def __init__(self, task: Task | str, num_envs: int = 1, **options: Any):
        """Environments of a task, or of one of `TASKS` by name; options are those of `VectorEnv`."""
        if VecEnv is None:
            raise InputError("StableVecEnv needs Stable-Baselines3, which is not installed; pip install stable-baselines3")
        self.envs = VectorEnv(task, num_envs, autoreset_mode="SameStep", **options)
        self._actions: Any = None
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> np.ndarray:
        """Starts new episodes in all rows, with the seeds of `seed`, and gives their observations."""
        observations, infos = self.envs.reset(seed=self._seeds)
        self.reset_infos = self._rows(infos)
        self._reset_seeds()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Keeps the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """One step: observations, rewards, which episodes are over, and the infos of each row."""
        observations, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        over, rows = terminated | truncated, self._rows(infos)
        if over.any():
            last = self._rows(infos["final_info"])
            for row in np.flatnonzero(over):
                cut = bool(truncated[row] and not terminated[row])
                rows[row] = {**last[row], "terminal_observation": infos["final_obs"][row], "TimeLimit.truncated": cut}
        return observations, rewards.astype(np.float32), over, rows

    def close(self) -> None:
        """Closes them."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the environments, once for each row."""
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets an attribute of all environments."""
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Refuses: rows have no methods of their own."""
        raise InputError(f"{self.envs.task.name}: rows have no method {method_name} of their own; call that of `envs`")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No row is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> tuple[np.ndarray, ...]:
        """The pictures of all rows."""
        return self.envs.render() or ()

    def _rows(self, infos: dict[str, Any]) -> list[dict[str, Any]]:
        """The infos of each row."""
        values = {name: infos[name] for name in (*self.envs.task.info, "diverged") if name in infos}
        return [{name: value[row] for name, value in values.items()} for row in range(self.num_envs)]
