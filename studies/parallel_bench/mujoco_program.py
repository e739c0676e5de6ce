"""MuJoCo as a program of ParallelBench: loops as equality constraints between sites."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np

from kumitate.model.convert import mujoco as in_its_order

from ..work_precision.contract import timed
from ..work_precision.mujoco_runs import harden, model_of
from .contract import Motion, Program, Task

__all__ = ["MuJoCo"]


class MuJoCo(Program):
    """Constraints as hard as its documentation calls stable; its Runge-Kutta for motions."""

    name = "MuJoCo"
    settings = (
        "`mj_forward`, one state a call from Python, and `RK4` in C; loops are `connect` and `weld`, which are soft: `solref` "
        "of two steps, `solimp` 0.9999; Newton's solver to 1e-15 in at most 100 iterations"
    )

    @staticmethod
    def version() -> str | None:
        found = importlib.util.find_spec("mujoco") is not None
        return str(importlib.import_module("mujoco").__version__) if found else None

    def why_not(self, task: Task) -> str:
        return task.unlike(("revolute", "prismatic", "spherical", "floating"), ("revolute", "spherical", "fixed"))

    def accelerations(self, task: Task) -> tuple[np.ndarray, float]:
        mujoco: Any = importlib.import_module("mujoco")
        model = model_of(mujoco, task.mechanism)
        harden(model, task.step)
        order, data = in_its_order(task.mechanism, model), mujoco.MjData(model)
        states = list(zip(*order.to(task.q, task.v), order.forces_to(task.q, task.tau), strict=True))

        def run() -> list[np.ndarray]:
            found = []
            for data.qpos[:], data.qvel[:], data.qfrc_applied[:] in states:
                mujoco.mj_forward(model, data)
                found.append(data.qacc.copy())
            return found

        found, seconds = timed(run)
        q, v = (np.array([state[k] for state in states]) for k in (0, 1))
        return order.back(q, v, np.array(found))[2], seconds / len(states)

    def motion(self, task: Task) -> Motion:
        mujoco: Any = importlib.import_module("mujoco")
        model = model_of(mujoco, task.mechanism)
        harden(model, task.step)
        model.opt.integrator = int(mujoco.mjtIntegrator.mjINT_RK4)
        order, data, count = in_its_order(task.mechanism, model), mujoco.MjData(model), round(task.duration / task.step)
        q, v = order.to(task.q[0], task.start)

        def start() -> None:
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = q, v

        def run() -> None:
            start()
            mujoco.mj_step(model, data, count)

        _, seconds = timed(run)
        start()
        passed = []
        for _ in range(count):
            mujoco.mj_step(model, data)
            passed.append(data.qpos.copy())
        failed = any(warning.number for warning in data.warning)
        found = np.full((count, task.mechanism.nq), np.nan) if failed else order.back(np.array(passed))
        return Motion(found, "RK4", seconds / count)
