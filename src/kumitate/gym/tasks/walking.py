"""Walking as commanded: what the tasks of legged robots share (rewards after Rudin et al. 2022)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...contact.scene import Contact
from ...contact.surface import Surface
from ...examples.legged import Stance
from ...model import Mechanism, PositionDrive
from ...robot import Robot
from ...scalar.arrays import clip, maximum
from ..task import Start, Task

#: How fast at most an episode starts [rad/s, m/s], how far from its posture [rad], how high the feet are [m].
_SPEED, _AWAY, _HEIGHT = 0.2, 0.1, 0.02
#: Feet that are so much higher slip e times less [m].
_NEAR = 0.02


@dataclass(frozen=True)
class Walker:
    """A legged robot, free to move, its first joint being that of its base.

    Attributes:
        robot: only its feet, spheres, can touch: scenes of many meshes take long to compile and to step.
        feet: the bodies of its feet.
        angles: of the posture about which it moves, by joint [rad]; zero where nothing is said.
        kp, kd: gains of the drives of all its joints [N·m/rad, N·m·s/rad].
        reach: how far an action of 1 moves a target from the posture [rad].
        fallen: an episode ends where the base is lower than this [m], or leans by more than 60°.
        commands: the ranges of the velocities ahead, aside [m/s] and about the vertical [rad/s] that are commanded.
        armature: of the drives, where the file says nothing [kg·m²].
    """

    robot: Mechanism
    feet: Sequence[str]
    angles: Mapping[str, float]
    kp: Mapping[str, float]
    kd: Mapping[str, float]
    reach: float
    fallen: float
    commands: tuple[tuple[float, float], ...] = ((0.0, 1.0), (-0.3, 0.3), (-0.5, 0.5))
    armature: float = 0.0

    @property
    def driven(self) -> Mechanism:
        """The robot with its drives."""
        drives = {}
        for name, kp in self.kp.items():
            armature = 0.0 if self.robot.joint(name).armature[0] else self.armature  # type: ignore[index]
            drives[name] = PositionDrive(kp=kp, kd=self.kd[name], armature=armature)
        return self.robot.with_drives(drives)


def walking(walker: Walker, *, step: float, steps: int, friction: float) -> Task:
    """The task of moving over a floor with the velocities that are commanded.

    An action moves the targets of all drives. Observed are, in the axes of the base: its velocity, its angular velocity, and
    the vertical; then the command, how far the joints are from the posture, a tenth of their velocities, and the action.
    """
    robot = walker.driven
    posture = np.array([walker.angles.get(joint.name, 0.0) for joint in robot.driven])
    columns_q, columns_v = (np.array([getattr(joint, part) for joint in robot.driven]) for part in "qv")
    reach, time = walker.reach, step * steps

    def target(t: Any, q: Any, v: Any, action: Any) -> Any:
        return posture + reach * clip(action, -1.0, 1.0)

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

    start, freedoms = Stance(robot, walker.angles, 0.0, 0.0, height=_HEIGHT).q, robot.nv
    slip = _slip_of(robot, walker.feet, start)
    return Task(
        robot, actions=len(posture), observation=observation, reward=reward, terminated=fallen,
        begin=_starts(start, freedoms, columns_q, walker), draws=len(columns_q) + freedoms + 3, steps=steps,
        inputs={"command": 3, "target": target},
        outputs={"vertical": upward, "follows": _follows, "turns": _turns, "slip": slip},
        info=("follows", "turns", "slip"), step=step, integrator="semi_implicit_euler",
        contact=Contact(surface=Surface(friction=friction)), start=(start, np.zeros(freedoms)),
    )  # fmt: skip


def upward(t: Any, q: Any, v: Any) -> Any:
    """The direction up, in the axes of the base."""
    x, y, z, w = q[:4]
    return np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])


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


def _starts(start: np.ndarray, freedoms: int, columns_q: np.ndarray, walker: Walker) -> Callable[[np.ndarray], Start]:
    """Starts near a posture, with a command each: of random numbers for the joints, the velocities and the command."""
    joints = len(columns_q)
    low, high = np.array(walker.commands).T

    def begin(numbers: np.ndarray) -> Start:
        around = 2.0 * numbers - 1.0
        q = np.tile(start, (len(numbers), 1))
        q[:, columns_q] += _AWAY * around[:, :joints]
        command = low + (high - low) * numbers[:, joints + freedoms :]
        return Start(q, _SPEED * around[:, joints : joints + freedoms], {"command": command})

    return begin
