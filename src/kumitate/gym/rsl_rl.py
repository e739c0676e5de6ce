"""`RslVecEnv`: the environments of a task as rsl_rl takes them."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from .task import Task
from .vector import VectorEnv

try:
    import torch
    from rsl_rl.env import VecEnv
    from tensordict import TensorDict
except ImportError:
    VecEnv = None


class RslVecEnv(VecEnv or object):  # type: ignore[misc]
    """N environments of a task, stepped together, for rsl_rl: `OnPolicyRunner(RslVecEnv("anymal", 1024), settings)`.

    Attributes:
        envs: the `VectorEnv`; num_actions, max_episode_length, device, cfg: as rsl_rl reads them.
    """

    def __init__(
        self, task: Task | str, num_envs: int = 1, *, max_episode_steps: int = 1000, seed: int = 0, device: str = "cpu",
        **options: Any,
    ):  # fmt: skip
        """Environments of a task, or of one of `TASKS` by name.

        Args:
            max_episode_steps: after which an episode is cut off.
            seed: of the first row, each next one's being larger by one.
            device: of the tensors; the simulation is on the processor.
            options: those of `VectorEnv`.

        Raises:
            InputError: without rsl_rl, or for a task whose actions are choices.
        """
        if VecEnv is None:
            raise InputError("RslVecEnv needs rsl_rl, which is not installed; pip install rsl-rl-lib")
        self.envs = VectorEnv(task, num_envs, max_episode_steps=max_episode_steps, autoreset_mode="SameStep", **options)
        if self.envs.task.choices is not None:
            raise InputError(f"{self.envs.task.name}: its actions are choices, which rsl_rl does not know; take numbers")
        self.num_envs, self.num_actions, self.max_episode_length = num_envs, self.envs.task.action_size, max_episode_steps
        self.device, self.cfg = device, {"task": self.envs.task.name, "seed": seed}
        self._seen = self.envs.reset(seed=seed)[0]

    @property
    def episode_length_buf(self) -> Any:
        """The steps that each row's episode has taken (N)."""
        return self._tensor(self.envs.elapsed)

    @episode_length_buf.setter
    def episode_length_buf(self, steps: Any) -> None:
        self.envs.elapsed[:] = steps.cpu().numpy()

    def get_observations(self) -> Any:
        """The present observations, of the group "policy"."""
        return TensorDict({"policy": self._tensor(self._seen).float()}, batch_size=[self.num_envs], device=self.device)

    def step(self, actions: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """One step: observations, rewards, which episodes are over, and which of these were cut off ("time_outs")."""
        self._seen, rewards, terminated, truncated, _ = self.envs.step(actions.detach().cpu().numpy())
        over, cut = self._tensor(terminated | truncated), self._tensor(truncated & ~terminated)
        return self.get_observations(), self._tensor(rewards).float(), over, {"time_outs": cut, "log": {}}

    def _tensor(self, values: Any) -> Any:
        return torch.from_numpy(values.copy()).to(self.device)
