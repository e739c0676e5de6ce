"""Cassie hanging by its pelvis and following commanded postures, or standing on a floor, with its springs and closed loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...contact.scene import Contact
from ...contact.surface import Surface
from ...examples.gallery.cassie import SIDES, cassie, standing, start
from ...model import PositionDrive
from ...scalar.arrays import clip, maximum
from ..task import Start, Task
from .walking import upward

#: The motors of a leg that hangs, with the gains of their drives [N·m/rad, N·m·s/rad].
MOTORS = {
    "roll-op": (200.0, 3.0), "yaw-op": (200.0, 3.0), "pitch-op": (200.0, 3.0), "knee-op": (200.0, 3.0),
    "tarsus-crank-joint": (50.0, 1.0),
}  # fmt: skip
#: How far targets are from the start's posture at most: those of the drives by an action of 1, hanging and standing, and
#: commanded ones [rad].
REACH, REACH_STANDING, COMMANDED = 0.4, 0.2, 0.25
#: How fast at most it begins to stand [rad/s, m/s], how far the hips are from the posture [rad], how high feet are
#: [m]. Nothing else differs from the posture, as other joints would open the loops.
SPEED, AWAY, HEIGHT = 0.05, 0.01, 0.005
HIPS = ("roll-op", "yaw-op", "pitch-op")
#: Standing ends where the pelvis is lower than this [m], or leans by more than 60°.
FALLEN = 0.7


def task(name: str, *, step: float = 2e-3, steps: int = 10, **options: Any) -> Task:
    """With position drives at the ten motors; an action lasts for `steps` steps of `step` [s], 0.02 s.

    "cassie": Observed are how far the motors are from the start's posture, their velocities, and the command. The reward is 1 a
    second where the motors are at the command, less where they are away from it; episodes end only by their length. There is no
    floor.

    "cassie_standing": Observed are, in the axes of the pelvis, its velocity, its angular velocity and the vertical; then how
    far the motors are from the posture, a tenth of their velocities, and the action. The reward is at most 1 a second, for an
    upright pelvis that does not move. The option `friction` is of the floor, 0.8 by default.
    """
    return (_hanging if name == "cassie" else _standing)(step, steps, **options)


def _hanging(step: float, steps: int) -> Task:
    gains = {f"{side}-{name}": pair for side in SIDES for name, pair in MOTORS.items()}
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


def _standing(step: float, steps: int, *, friction: float = 0.8) -> Task:
    robot, q0 = standing()
    columns_q, columns_v = (np.array([getattr(joint, part) for joint in robot.driven]) for part in "qv")
    posture, time = q0[columns_q], step * steps
    hips = [robot.q_names.index(f"{side}-{name}") for side in SIDES for name in HIPS]

    def target(t: Any, q: Any, v: Any, action: Any) -> Any:
        return posture + REACH_STANDING * clip(action, -1.0, 1.0)

    def observation(t: Any, q: Any, v: Any, vertical: Any, action: Any) -> Any:
        return np.concatenate([v[3:6], v[:3], vertical, q[columns_q] - posture, 0.1 * v[columns_v], action])

    def fallen(t: Any, q: Any, v: Any, vertical: Any) -> Any:
        return (vertical[2] < 0.5) | (q[6] < FALLEN)

    def reward(t: Any, q: Any, v: Any, vertical: Any, action: Any, last_action: Any) -> Any:
        leaning, moving = vertical[0] ** 2 + vertical[1] ** 2, np.sum(v[3:6] ** 2) + 0.1 * np.sum(v[:3] ** 2)
        return time * maximum(np.exp(-20.0 * leaning - 4.0 * moving) - 0.01 * np.sum((action - last_action) ** 2), 0.0)

    def begin(numbers: np.ndarray) -> Start:
        around = 2.0 * numbers - 1.0
        q, v = np.tile(q0, (len(numbers), 1)), np.zeros((len(numbers), robot.nv))
        q[:, 6] += HEIGHT
        q[:, hips] += AWAY * around[:, 6:]
        v[:, :6] = SPEED * around[:, :6]
        return Start(q, v)

    return Task(
        robot, actions=len(posture), observation=observation, reward=reward, terminated=fallen, begin=begin,
        draws=6 + len(hips), steps=steps, inputs={"target": target}, outputs={"vertical": upward}, step=step,
        integrator="semi_implicit_euler", contact=Contact(surface=Surface(friction=friction)),
        start=(q0, np.zeros(robot.nv)),
    )  # fmt: skip
