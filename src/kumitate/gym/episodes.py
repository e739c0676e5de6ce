"""Episodes of one task side by side: what the single and the vector environment share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .task import Task


class Episodes:
    """N episodes of a task, one in each row of a batch.

    Attributes:
        batch: of the task's simulation.
        observations: (N, size), float32, written in place.
        rewards: (N); `terminated` and `diverged`: (N), whether a row's episode has ended, and whether because its motion ran
            away: such a row has the reward zero, and zeros for observations.
        random: the generator of each row: what an episode starts with depends on its own row's alone.
    """

    def __init__(self, task: Task, count: int):
        self.task = task
        self.batch = task.simulation.batch(count)
        self.observations = np.zeros((count, *task.observation_space.shape), dtype=np.float32)
        self.rewards = np.zeros(count)
        self.terminated, self.diverged = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        self.random: list[np.random.Generator] = []

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "batch": self.batch.arrays()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.batch = self.task.simulation.batch(len(self.rewards))
        self.batch.__setstate__(state["batch"])

    def begin(self, rows: np.ndarray) -> None:
        """Starts new episodes in these rows (k): random numbers and parameters of each, no action taken yet."""
        task, batch = self.task, self.batch
        numbers = np.array([self.random[row].random(task.draws + task.varied) for row in rows])
        start = task.begin(numbers[:, : task.draws])
        batch.reset(rows, start.q, start.v)
        if parameters := {**task.parameters(numbers[:, task.draws :]), **start.parameters}:
            batch.set(parameters, rows)
        for name, values in batch.inputs.items():
            values[rows] = start.inputs.get(name, self._own[name])
        batch.look(rows)
        self.rewards[rows], self.terminated[rows], self.diverged[rows] = 0.0, False, False
        self.observations[rows] = batch.outputs["observation"][rows]

    def step(self, actions: Any) -> None:
        """One step of the environment in all rows, with the actions (N, components), or choices (N)."""
        batch = self.batch
        taken = self._taken(actions)
        batch.inputs["last_action"][:] = batch.inputs["action"]
        batch.inputs["action"][:] = taken
        batch.step(self.task.steps)
        self.diverged[:] = batch.lost
        self.terminated[:] = (batch.outputs["terminated"] > 0.5) | self.diverged
        self.rewards[:] = batch.outputs["reward"]
        seen = batch.outputs["observation"]
        if self.diverged.any():
            seen = np.where(self.diverged[:, None], 0.0, seen)
            self.rewards[self.diverged] = 0.0
        self.observations[:] = seen

    def info(self, row: int) -> dict[str, Any]:
        """What is reported of one row."""
        found = {}
        for name in self.task.info:
            value = self.batch.outputs[name][row]
            found[name] = value.copy() if value.ndim else float(value)
        return {**found, "diverged": True} if self.diverged[row] else found

    @property
    def _own(self) -> Any:
        return self.task.simulation.actuation.forcing.values_of_inputs

    def _taken(self, actions: Any) -> np.ndarray:
        """What the actions put into the input (N, components)."""
        task, count = self.task, len(self.batch)
        given = np.asarray(actions)
        if task.choices is None:
            shape: tuple[int, ...] = (count, task.action_size)
            if given.shape != shape or given.dtype.kind not in "fiu":
                raise _wrong(task, given, f"real numbers of the shape {shape}")
            bad = np.flatnonzero(~np.isfinite(given).all(axis=1))
        else:
            if given.shape != (count,) or given.dtype.kind not in "iu":
                raise _wrong(task, given, f"whole numbers of the shape {(count,)}")
            bad = np.flatnonzero((given < 0) | (given >= len(task.choices)))
        if len(bad):
            must = "finite" if task.choices is None else f"one of the choices 0 to {len(task.choices) - 1}"
            raise InputError(
                f"{task.name}: the action of row {bad[0]} is {given[bad[0]]}; it must be {must}. Look at the policy"
            )
        return given if task.choices is None else task.choices[given]


def _wrong(task: Task, given: np.ndarray, must: str) -> InputError:
    return InputError(
        f"{task.name}: the actions are of the shape {given.shape} and the type {given.dtype}; they must be {must}. Give one "
        "for each environment"
    )
