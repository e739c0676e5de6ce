"""The humanoid G1 on a floor, walking as commanded."""

from __future__ import annotations

from ...examples.gallery.humanoid_standing import ANGLES, FEET, FILE
from ...examples.legged import legged
from ..task import Task
from .walking import Walker, walking

#: Gains of the drives [N·m/rad, N·m·s/rad], by what the joint's name holds; the first that fits.
GAINS = {
    "hip": (100.0, 2.5), "knee": (150.0, 4.0), "ankle": (40.0, 2.0), "waist": (150.0, 4.0), "shoulder": (40.0, 1.5),
    "elbow": (40.0, 1.5), "wrist": (10.0, 0.5),
}  # fmt: skip


def task(*, step: float = 5e-3, steps: int = 4, friction: float = 0.8) -> Task:
    """With position drives in all 29 joints; an action lasts for `steps` steps of `step` [s], 0.02 s.

    Raises:
        InputError: if the robot's files are not installed.
    """
    robot = legged(FILE, FEET)
    gains = {
        joint.name: next(pair for part, pair in GAINS.items() if part in joint.name)
        for joint in robot.joints
        if joint.kind.nv == 1
    }
    walker = Walker(
        robot, FEET, ANGLES, kp={name: kp for name, (kp, _) in gains.items()}, kd={name: kd for name, (_, kd) in gains.items()},
        reach=0.25, fallen=0.4, armature=0.01,
    )  # fmt: skip
    return walking(walker, step=step, steps=steps, friction=friction)
