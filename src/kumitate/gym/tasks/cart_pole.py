"""Cart-pole: a cart that is pushed left or right so that its pole stays up (Barto, Sutton and Anderson 1983)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...model import Body, Box, Capsule, Geometry, Joint, Mechanism
from ...spatial import pose
from ..task import Start, Task

#: As Gymnasium's CartPole-v1 has them: masses [kg], half of the pole's length [m], the push [N], the start's range.
CART, POLE, HALF, PUSH, RANGE = 1.0, 0.1, 0.5, 10.0, 0.05
#: Where an episode ends: the cart's place [m] and the pole's angle [rad].
PLACE, ANGLE = 2.4, math.radians(12.0)


def mechanism() -> Mechanism:
    """A cart on rails along x, and a thin pole that stands up on it at the angle zero."""
    across = POLE * HALF**2 / 3.0
    cart = Body("cart", CART, inertia=(0.1, 0.1, 0.1), visuals=(Geometry(Box((0.4, 0.2, 0.2))),))
    middle = (0.0, 0.0, HALF)
    rod = Geometry(Capsule(0.02, 2.0 * HALF), pose(middle))
    pole = Body("pole", POLE, middle, (across, across, 0.0), visuals=(rod,))
    joints = (
        Joint("rail", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0)),  # type: ignore[arg-type]
        Joint("hinge", "revolute", "cart", "pole", axis=(0.0, 1.0, 0.0)),  # type: ignore[arg-type]
    )
    return Mechanism("cart_pole", (cart, pole), joints, gravity=(0.0, 0.0, -9.8))


def task() -> Task:
    """Push 0: left, 1: right; 1 is earned each step until the cart leaves its rails or the pole leans too far.

    Semi-implicit Euler steps of 0.02 s: the motion of CartPole-v1 with `kinematics_integrator = "semi-implicit euler"`.
    """

    def observation(t: Any, q: Any, v: Any) -> Any:
        return np.stack([q[0], v[0], q[1], v[1]])

    def fallen(t: Any, q: Any, v: Any) -> Any:
        return (np.abs(q[0]) > PLACE) | (np.abs(q[1]) > ANGLE)

    def begin(numbers: np.ndarray) -> Start:
        x, x_rate, angle, angle_rate = (RANGE * (2.0 * numbers - 1.0)).T
        return Start(np.stack([x, angle], axis=1), np.stack([x_rate, angle_rate], axis=1))

    return Task(
        mechanism(), actions=[[-PUSH], [PUSH]], observation=observation, reward=lambda t, q, v: 1.0, terminated=fallen,
        begin=begin, draws=4, bounds=(2.0 * PLACE, np.inf, 2.0 * ANGLE, np.inf), step=0.02, integrator="semi_implicit_euler",
        controller=lambda t, q, v, action: np.stack([action[0], 0.0 * action[0]]),
    )  # fmt: skip
