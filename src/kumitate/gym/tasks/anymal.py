"""The quadruped ANYmal on a floor, walking as commanded."""

from __future__ import annotations

from ...examples.gallery.quadruped_standing import ANGLES, FEET, FILE
from ...examples.legged import legged
from ..task import Task
from .walking import Walker, walking


def task(*, step: float = 5e-3, steps: int = 4, friction: float = 0.8) -> Task:
    """With position drives of 80 N·m/rad; an action lasts for `steps` steps of `step` [s], 0.02 s.

    Raises:
        InputError: if the robot's files are not installed.
    """
    robot = legged(FILE, FEET)
    walker = Walker(
        robot, FEET, ANGLES, kp=dict.fromkeys(ANGLES, 80.0), kd=dict.fromkeys(ANGLES, 2.0), reach=0.5, fallen=0.25,
    )  # fmt: skip
    return walking(walker, step=step, steps=steps, friction=friction)
