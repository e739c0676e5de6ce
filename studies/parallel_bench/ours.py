"""kumitate as a program of ParallelBench."""

from __future__ import annotations

import numpy as np

import kumitate as km

from ..work_precision.contract import timed
from .contract import Motion, Program, Task

__all__ = ["Kumitate"]


class Kumitate(Program):
    """Defaults: one state a call for accelerations, `rk4` for motions."""

    name = "kumitate"
    settings = "defaults, one thread, compiled before; accelerations one state a call; rk4"

    @staticmethod
    def version() -> str | None:
        return km.__version__

    def accelerations(self, task: Task) -> tuple[np.ndarray, float]:
        robot = km.Robot(task.mechanism)
        states = list(zip(task.q, task.v, task.tau, strict=True))
        robot.forward_dynamics(*states[0])
        found, seconds = timed(lambda: np.array([robot.forward_dynamics(*state) for state in states]))
        return found, seconds / len(states)

    def motion(self, task: Task) -> Motion:
        simulation, count = km.Simulation(task.mechanism, step=task.step, integrator="rk4"), round(task.duration / task.step)

        def run() -> np.ndarray:
            return np.asarray(simulation.batch(task.q[:1], task.start[None]).record(count)["q"]).reshape(count, -1)

        q, seconds = timed(run)
        return Motion(q, "rk4", seconds / count)
