"""What disturbs the episodes of a task: noise of observations, delay of actions, pushes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .task import Task

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
