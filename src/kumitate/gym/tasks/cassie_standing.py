"""Cassie on a floor: its legs, with their springs and closed loops, keep it standing, moved by the motors' drives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...contact.scene import Contact
from ...contact.surface import Surface
from ...examples.gallery.cassie import SIDES, standing
from ...scalar.arrays import clip, maximum
from ..task import Start, Task
from .walking import upward

#: How far an action of 1 moves a target from the posture [rad].
REACH = 0.2
#: How fast at most an episode starts [rad/s, m/s], how far the joints of the hips are from the posture [rad], how high the feet
#: are [m]. Nothing else differs from the posture, as other joints would open the loops.
SPEED, AWAY, HEIGHT = 0.05, 0.01, 0.005
HIPS = ("roll-op", "yaw-op", "pitch-op")
#: An episode ends where the pelvis is lower than this [m], or leans by more than 60°.
FALLEN = 0.7


def task(*, step: float = 2e-3, steps: int = 10, friction: float = 0.8) -> Task:
    """With position drives at the ten motors; an action lasts for `steps` steps of `step` [s], 0.02 s.

    Observed are, in the axes of the pelvis, its velocity, its angular velocity and the vertical; then how far the motors are
    from the posture, a tenth of their velocities, and the action. The reward is at most 1 a second, for an upright pelvis that
    does not move.

    Raises:
        InputError: if the robot's files, or what reads their meshes, are not installed.
    """
    robot, q0 = standing()
    columns_q, columns_v = (np.array([getattr(joint, part) for joint in robot.driven]) for part in "qv")
    posture, time = q0[columns_q], step * steps
    hips = [robot.q_names.index(f"{side}-{name}") for side in SIDES for name in HIPS]

    def target(t: Any, q: Any, v: Any, action: Any) -> Any:
        return posture + REACH * clip(action, -1.0, 1.0)

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
