"""The quadruped ANYmal and the humanoid G1 on a floor, walking as commanded (rewards after Rudin et al. 2022)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...contact.scene import Contact
from ...contact.surface import Surface
from ...examples.gallery import humanoid_standing, quadruped_standing
from ...examples.legged import Stance, legged
from ...model import Mechanism, PositionDrive
from ...robot import Robot
from ...scalar.arrays import clip, maximum
from ..task import Start, Task

#: How fast at most an episode starts [rad/s, m/s], how far from its posture [rad], how high the feet are [m].
_SPEED, _AWAY, _HEIGHT = 0.2, 0.1, 0.02
#: Feet that are so much higher slip e times less [m].
_NEAR = 0.02
#: The ranges of the velocities ahead, aside [m/s] and about the vertical [rad/s] that are commanded.
_COMMANDS = np.array([(0.0, 1.0), (-0.3, 0.3), (-0.5, 0.5)])


@dataclass(frozen=True)
class Walker:
    """A legged robot, free to move, its first joint being that of its base."""

    file: str  # below example-robot-data's folder of robots
    feet: Sequence[str]  # spheres, which alone can touch: scenes of many meshes take long to compile and to step
    angles: Mapping[str, float]  # of the posture about which it moves, by joint [rad]; zero where nothing is said
    gains: Mapping[str, tuple[float, float]]  # [N·m/rad, N·m·s/rad], by what a joint's name holds; the first that fits
    reach: float  # how far an action of 1 moves a target from the posture [rad]
    fallen: float  # an episode ends where the base is lower than this [m], or leans by more than 60°
    armature: float = 0.0  # of the drives, where the file says nothing [kg·m²]

    @property
    def driven(self) -> Mechanism:
        """The robot with its drives."""
        drives, robot = {}, legged(self.file, self.feet)
        for joint in (one for one in robot.joints if one.kind.nv == 1):
            kp, kd = next(pair for part, pair in self.gains.items() if part in joint.name)
            armature = 0.0 if joint.armature[0] else self.armature  # type: ignore[index]
            drives[joint.name] = PositionDrive(kp=kp, kd=kd, armature=armature)
        return robot.with_drives(drives)


_G1 = {
    "hip": (100.0, 2.5), "knee": (150.0, 4.0), "ankle": (40.0, 2.0), "waist": (150.0, 4.0), "shoulder": (40.0, 1.5),
    "elbow": (40.0, 1.5), "wrist": (10.0, 0.5),
}  # fmt: skip
#: By the names of their tasks.
WALKERS = {
    name: Walker(of.FILE, of.FEET, of.ANGLES, gains, reach=reach, fallen=fallen, armature=armature)
    for name, of, gains, reach, fallen, armature in (
        ("anymal", quadruped_standing, {"": (80.0, 2.0)}, 0.5, 0.25, 0.0), ("g1", humanoid_standing, _G1, 0.25, 0.4, 0.01),
    )
}  # fmt: skip


def task(name: str, *, step: float = 5e-3, steps: int = 4, friction: float = 0.8) -> Task:
    """The task of moving over a floor with the velocities that are commanded, by position drives in all joints.

    An action moves their targets, for `steps` steps of `step` [s], 0.02 s. Observed are, in the axes of the base: its
    velocity, its angular velocity, and the vertical; then the command, how far the joints are from the posture, a tenth of
    their velocities, and the action.
    """
    walker, robot, time = WALKERS[name], WALKERS[name].driven, step * steps
    posture = np.array([walker.angles.get(joint.name, 0.0) for joint in robot.driven])
    columns_q, columns_v = (np.array([getattr(joint, part) for joint in robot.driven]) for part in "qv")

    def target(t: Any, q: Any, v: Any, action: Any) -> Any:
        return posture + walker.reach * clip(action, -1.0, 1.0)

    def observation(t: Any, q: Any, v: Any, vertical: Any, command: Any, action: Any) -> Any:
        away = q[columns_q] - posture
        return np.concatenate([v[3:6], v[:3], vertical, command, away, 0.1 * v[columns_v], action])

    def fallen(t: Any, q: Any, v: Any, vertical: Any) -> Any:
        return (vertical[2] < 0.5) | (q[6] < walker.fallen)

    def reward(t: Any, q: Any, v: Any, follows: Any, turns: Any, slip: Any, action: Any, last_action: Any, tau: Any) -> Any:
        shaken = 2.0 * v[5] ** 2 + 0.05 * (v[0] ** 2 + v[1] ** 2)
        effort = 2e-5 * np.sum(tau[6:] ** 2) + 0.01 * np.sum((action - last_action) ** 2)
        # never negative: an episode that ends early must not pay
        return time * maximum(follows + 0.5 * turns - 0.1 * slip - shaken - effort, 0.0)

    def begin(numbers: np.ndarray) -> Start:
        """Near the posture: random numbers are for the joints, the velocities and the command."""
        around, joints = 2.0 * numbers - 1.0, len(columns_q)
        q = np.tile(start, (len(numbers), 1))
        q[:, columns_q] += _AWAY * around[:, :joints]
        command = _COMMANDS[:, 0] + (_COMMANDS[:, 1] - _COMMANDS[:, 0]) * numbers[:, joints + freedoms :]
        return Start(q, _SPEED * around[:, joints : joints + freedoms], {"command": command})

    start, freedoms = Stance(robot, walker.angles, 0.0, 0.0, height=_HEIGHT).q, robot.nv
    slip = _slip_of(robot, walker.feet, start)
    return Task(
        robot, actions=len(posture), observation=observation, reward=reward, terminated=fallen, begin=begin,
        draws=len(columns_q) + freedoms + 3, steps=steps, inputs={"command": 3, "target": target},
        outputs={"vertical": upward, "follows": _follows, "turns": _turns, "slip": slip},
        info=("follows", "turns", "slip"), step=step, integrator="semi_implicit_euler",
        contact=Contact(surface=Surface(friction=friction)), start=(start, np.zeros(freedoms)),
    )  # fmt: skip


def upward(t: Any, q: Any, v: Any) -> Any:
    """The direction up, in the axes of the base."""
    x, y, z, w = q[:4]
    return np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])


def turned(t: Any, q: Any, v: Any) -> Any:
    """How far the base looks aside: y of its direction ahead (1)."""
    x, y, z, w = q[:4]
    return np.stack([2.0 * (x * y + w * z)])


def _follows(t: Any, q: Any, v: Any, command: Any) -> Any:
    """How well the base moves ahead and aside as commanded, 0…1."""
    return np.exp(-4.0 * ((v[3] - command[0]) ** 2 + (v[4] - command[1]) ** 2))


def _turns(t: Any, q: Any, v: Any, command: Any) -> Any:
    """How well it turns as commanded, 0…1."""
    return np.exp(-4.0 * (v[2] - command[2]) ** 2)


def _slip_of(mechanism: Mechanism, feet: Sequence[str], start: np.ndarray) -> Callable[[Any, Any, Any], Any]:
    """How fast feet move along the floor while they are near it: the sum of their squared speeds [m²/s²].

    Without a price on it, feet are dragged.
    """
    robot = Robot(mechanism)
    down = [float(robot.pose(start, foot)[2, 3]) - _HEIGHT for foot in feet]

    def slip(t: Any, q: Any, v: Any) -> Any:
        total = 0.0
        for foot, floor in zip(feet, down, strict=True):
            rates, height = robot.velocity(q, v, foot), robot.pose(q, foot)[2, 3] - floor
            total = total + np.exp(-maximum(height, 0.0) / _NEAR) * (rates[3] ** 2 + rates[4] ** 2)
        return total

    return slip
