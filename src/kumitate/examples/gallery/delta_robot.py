"""A delta robot that goes there and back between two places, a way in a quarter of a second."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...control.paths import blend
from ...records.record import Record
from ...simulate.run import simulate
from ..catalogue import Example, texts
from ..machines.delta_robot import angles_of, delta_robot, posture, rates_of

#: Where parts are taken and put [m], the height that they are lifted, and the time of one way [s].
PICK, PUT, LIFT, TIME = np.array([-0.15, 0.05, -0.72]), np.array([0.15, -0.05, -0.72]), 0.06, 0.25


def place(t: Any) -> list[Any]:
    """Where the gripper should be (3) [m]: two ways there and back, each from rest to rest along an arch."""
    done = sum((-1) ** k * blend(t, k * TIME, (k + 1) * TIME) for k in range(4))
    arch = LIFT * 16.0 * (done * (1.0 - done)) ** 2
    start = [a + (b - a) * done for a, b in zip(PICK, PUT, strict=True)]
    return [start[0], start[1], start[2] + arch]


def speed(t: Any) -> list[Any]:
    """Its velocity (3) [m/s], by differences: an error of 1e-7 m/s."""
    step = 1e-5
    return [(b - a) / (2.0 * step) for a, b in zip(place(t - step), place(t + step), strict=True)]


def run() -> Record:
    """One second: there and back twice; the drives of the motors follow the angles of the path in closed form."""
    machine = delta_robot()
    inputs = {
        "target": lambda t, q, v: np.array(angles_of(place(t))),
        "target_velocity": lambda t, q, v: np.array(rates_of(place(t), speed(t))),
    }
    return simulate(machine, posture(machine, PICK.tolist()), duration=1.0, step=1e-3, integrator="rk4", inputs=inputs)


EXAMPLE = Example(**texts("delta_robot"), run=run)
