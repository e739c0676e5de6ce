"""Cassie hanging by its pelvis: its legs, with their springs and closed loops, follow commanded postures of the motors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...examples.gallery.cassie import cassie, start
from ...model import PositionDrive
from ...scalar.arrays import clip
from ..task import Start, Task

#: The motors of a leg, with the gains of their drives [N·m/rad, N·m·s/rad].
MOTORS = {
    "roll-op": (200.0, 3.0), "yaw-op": (200.0, 3.0), "pitch-op": (200.0, 3.0), "knee-op": (200.0, 3.0),
    "tarsus-crank-joint": (50.0, 1.0),
}  # fmt: skip
#: How far targets are from the start's posture at most: those of the drives by an action of 1, and commanded ones [rad].
REACH, COMMANDED = 0.4, 0.25


def task(*, step: float = 2e-3, steps: int = 10) -> Task:
    """With position drives at the ten motors; an action lasts for `steps` steps of `step` [s], 0.02 s.

    Observed are how far the motors are from the start's posture, their velocities, and the command. The reward is 1 a second
    where the motors are at the command, less where they are away from it; episodes end only by their length. There is no floor.

    Raises:
        InputError: if the robot's files, or what reads their meshes, are not installed.
    """
    gains = {f"{side}-{name}": pair for side in ("left", "right") for name, pair in MOTORS.items()}
    hanging = cassie().with_drives({name: PositionDrive(kp=kp, kd=kd) for name, (kp, kd) in gains.items()})
    columns_q, columns_v = (np.array([getattr(joint, part) for joint in hanging.driven]) for part in "qv")
    q0, time = start(hanging), step * steps
    posture = q0[columns_q]

    def target(t: Any, q: Any, v: Any, action: Any) -> Any:
        return posture + REACH * clip(action, -1.0, 1.0)

    def observation(t: Any, q: Any, v: Any, command: Any) -> Any:
        return np.concatenate([q[columns_q] - posture, 0.1 * v[columns_v], command])

    def reward(t: Any, q: Any, v: Any, command: Any, action: Any, last_action: Any) -> Any:
        away = q[columns_q] - posture - command
        return time * (np.exp(-5.0 * np.sum(away**2)) - 0.01 * np.sum((action - last_action) ** 2))

    def begin(numbers: np.ndarray) -> Start:
        command = COMMANDED * (2.0 * numbers - 1.0)
        return Start(np.tile(q0, (len(numbers), 1)), np.zeros((len(numbers), hanging.nv)), {"command": command})

    return Task(
        hanging, actions=len(gains), observation=observation, reward=reward, begin=begin,
        draws=len(gains), steps=steps, inputs={"command": len(gains), "target": target}, step=step,
        integrator="semi_implicit_euler", start=(q0, np.zeros(hanging.nv)),
    )  # fmt: skip
