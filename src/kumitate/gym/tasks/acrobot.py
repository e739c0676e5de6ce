"""Acrobot: two hanging links that swing up by a motor between them (Sutton 1996)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model import Body, Capsule, Geometry, Joint, Mechanism
from ...spatial import pose
from ..task import Start, Task

#: As Gymnasium's Acrobot-v1 has them: length [m], mass [kg], moment of inertia about the middle of a link [kg·m²], the start's
#: range [rad, rad/s], and the torques to choose from [N·m].
LENGTH, MASS, INERTIA, RANGE, TORQUES = 1.0, 1.0, 1.0, 0.1, (-1.0, 0.0, 1.0)


def mechanism() -> Mechanism:
    """Two equal links in the plane of x and z, hanging straight down at the angles zero."""
    middle = (0.0, 0.0, -0.5 * LENGTH)
    rod = Geometry(Capsule(0.05, LENGTH), pose(middle))
    links = [Body(name, MASS, middle, (INERTIA, INERTIA, 0.0), visuals=(rod,)) for name in ("upper", "lower")]
    axis, end = (0.0, 1.0, 0.0), pose((0.0, 0.0, -LENGTH))
    joints = (
        Joint("shoulder", "revolute", "world", "upper", axis=axis),  # type: ignore[arg-type]
        Joint("elbow", "revolute", "upper", "lower", end, axis=axis),  # type: ignore[arg-type]
    )
    return Mechanism("acrobot", tuple(links), joints, gravity=(0.0, 0.0, -9.8))


def task() -> Task:
    """Torque −1, 0 or 1 at the elbow; −1 is earned each step until the end of the lower link is a link above the shoulder.

    Runge-Kutta steps of 0.2 s, as of Acrobot-v1; other than there, speeds are not cut off.
    """

    def observation(t: Any, q: Any, v: Any) -> Any:
        return np.stack([np.cos(q[0]), np.sin(q[0]), np.cos(q[1]), np.sin(q[1]), v[0], v[1]])

    def up(t: Any, q: Any, v: Any) -> Any:
        return -np.cos(q[0]) - np.cos(q[0] + q[1]) > 1.0

    def begin(numbers: np.ndarray) -> Start:
        drawn = RANGE * (2.0 * numbers - 1.0)
        return Start(drawn[:, :2], drawn[:, 2:])

    return Task(
        mechanism(), actions=[[torque] for torque in TORQUES], observation=observation,
        reward=lambda t, q, v, terminated: terminated - 1.0, terminated=up, begin=begin, draws=4,
        bounds=(1.0, 1.0, 1.0, 1.0, np.inf, np.inf), step=0.2, integrator="rk4",
        controller=lambda t, q, v, action: np.stack([0.0 * action[0], action[0]]),
    )  # fmt: skip
