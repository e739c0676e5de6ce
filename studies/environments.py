"""How fast environments for learning step, and how much of it is Python: the table of docs/learning.md."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kumitate.gym import VectorEnv
from kumitate.measure.timing import thread_seconds

from . import suite_speed

__all__ = ["POLICIES", "Measured", "measure", "measure_all", "one_thread", "page", "table"]

#: How actions are chosen: none at all, or at random within the action's space. All are drawn beforehand.
POLICIES = ("at rest", "at random")


@dataclass(frozen=True)
class Measured:
    """An environment under a policy, on one thread, by the processor's time of that thread.

    Attributes:
        name: of the task; `policy`: of `POLICIES`.
        count: of environments; `steps`: of all of them that were timed.
        step: length of a step of the simulation [s]; `substeps`: of these in a step of the environment.
        seconds: for one step of all environments; `machine`: of these in machine code.
        resets: episodes that ended, by step of one environment.
    """

    name: str
    policy: str
    count: int
    steps: int
    step: float
    substeps: int
    seconds: float
    machine: float
    resets: float

    @property
    def rate(self) -> float:
        """Steps of one environment per second."""
        return self.count / self.seconds

    @property
    def python(self) -> float:
        """The share of Python and NumPy."""
        return 1.0 - self.machine / self.seconds

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "rate": self.rate, "python": self.python}


def measure(name: str, policy: str, *, count: int, steps: int, seed: int = 0) -> Measured:
    """Times the steps of `count` environments of a task, after as many steps that are not timed."""
    with one_thread():  # the clock is that of this thread
        return _measured(name, policy, count, steps, seed)


def _measured(name: str, policy: str, count: int, steps: int, seed: int) -> Measured:
    envs = VectorEnv(name, count, max_episode_steps=1000, copy=False)
    envs.reset(seed=seed)
    envs.action_space.seed(seed)
    actions = [envs.action_space.sample() for _ in range(steps)]
    if policy == "at rest":
        actions = [np.zeros_like(action) for action in actions]
    for action in actions:
        envs.step(action)
    machine = _Watched(envs.batch)
    ended, begin = 0, thread_seconds()
    for action in actions:
        _, _, terminated, truncated, _ = envs.step(action)
        ended += int((terminated | truncated).sum())
    seconds = thread_seconds() - begin
    simulation = envs.task.simulation
    return Measured(
        name, policy, count, steps, simulation.step_size, envs.task.steps, seconds / steps, machine.seconds / steps,
        ended / (steps * count),
    )  # fmt: skip


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it, batches are advanced by this thread alone."""
    before = os.environ.get("KUMITATE_THREADS")
    os.environ["KUMITATE_THREADS"] = "1"
    try:
        yield
    finally:
        del os.environ["KUMITATE_THREADS"]
        if before is not None:
            os.environ["KUMITATE_THREADS"] = before


class _Watched:
    """What calls of a batch's machine code take; they are timed from now on.

    Attributes:
        seconds: of all calls so far.
    """

    def __init__(self, batch: Any):
        self.seconds = 0.0
        rollout = batch._step
        rollout.run, rollout.look = self._timed(rollout.run), self._timed(rollout.look)

    def _timed(self, call: Callable[..., None]) -> Callable[..., None]:
        def timed(*arguments: Any) -> None:
            begin = thread_seconds()
            call(*arguments)
            self.seconds += thread_seconds() - begin

        return timed


def measure_all(
    names: Sequence[str], *, count: int, steps: int, progress: Callable[[float], None] | None = None
) -> list[Measured]:
    """All tasks under all policies."""
    found = []
    for k, name in enumerate(names):
        for policy in POLICIES:
            found.append(measure(name, policy, count=count, steps=steps))
        if progress is not None:
            progress((k + 1) / len(names))
    return found


def table(found: Sequence[Measured]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows."""
    columns = ["task", "actions", "steps of simulation", "environments", "steps/s", "µs/step", "Python", "episodes ended/step"]
    rows = [
        [
            item.name, item.policy, f"{item.substeps} × {1e3 * item.step:g} ms", f"{item.count}", f"{item.rate:,.0f}",
            f"{1e6 / item.rate:.2f}", f"{100.0 * item.python:.0f} %", f"{item.resets:.2g}",
        ]
        for item in found
    ]  # fmt: skip
    return columns, rows


_PAGE = """# How fast environments for learning step

Printed by `scripts/study gym`. [learning.md](learning.md) says what the environments are.

All environments of a task are stepped together by one `kumitate.gym.VectorEnv` on **one thread**, with observations that are
not copied, by the processor's time of that thread: what other programs on the machine do counts only where they push data out
of its caches. Actions are drawn beforehand; as many steps are made before the timed ones. "at rest": all actions are zero; of
discrete ones that is the first choice. "at random": uniform in the action's space. A step of the environment holds the steps
of the simulation, observation, reward and end of the episodes, and the starts of new ones; "Python" is the share of all that
is not machine code of kumitate, NumPy's part included.
"""

_SUITE = """
## Beside MuJoCo

Gymnasium's suite, each on Gymnasium's file, with its step and frame skip, under the same random actions, without early ends:
steps of one environment a second and core, by the processor's time of one thread. After 30 steps, all columns take turns in
three rounds, of which the best counts.

- **here**: `VectorEnv` of as many environments as said, with observations, rewards and starts; "here, one": of one.
- **mujoco.batch**: MuJoCo's batch of as many, on one thread: steps only, by the integrator of the file and by `implicitfast`.
- **Gymnasium**: `SyncVectorEnv` of eight, with Python, observations and rewards.
- **EnvPool, published**: a second and worker, not measured here: its README's figures of Ant-v3 with MuJoCo 2 by one worker of
  an AMD Ryzen 9 5950X (frames divided by Ant's frame skip of 5; envpool 0.6.0,
  [benchmark](https://github.com/sail-sg/envpool/tree/main/benchmark); Weng et al. 2022,
  [arXiv:2206.10558](https://arxiv.org/abs/2206.10558)), in step and "async"; it has none of the others. All 32 threads of that
  machine make 3,640 each, and 256 of a DGX-A100 2,449 each.

The last two columns say what makes rows unlike: the order of the integrator (order four evaluates four times), whether contact
is rigid or soft, and whether links of the robot may touch each other. Forces of contact that are observed or rewarded are those
of the last step, as in Gymnasium; "without forces" leaves them out.
"""


def page(found: Sequence[Measured], machine: Mapping[str, str], compared: Sequence[suite_speed.Compared] = ()) -> str:
    """docs/learning-speed.md."""
    columns, rows = table(found)
    lines = [_PAGE, *_lines(("machine", ""), machine.items()), "", *_lines(columns, rows)]
    if compared:
        where = f"{compared[0].count} environments, {machine['processor']}:"
        lines += [_SUITE, where, "", *_lines(*suite_speed.table(compared))]
    return "\n".join(lines) + "\n"


def _lines(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(columns)
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
