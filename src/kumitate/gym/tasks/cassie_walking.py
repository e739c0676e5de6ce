"""Cassie walking as commanded: its legs, with their springs and closed loops, step by a clock, and actions change the steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...contact.scene import Contact
from ...contact.surface import Surface
from ...examples.gallery.cassie import SIDES, cassie, freed, standing
from ...model import Mechanism, PositionDrive
from ...robot import Robot
from ...scalar.arrays import clip, maximum
from ..task import Start, Task
from .walking import turned, upward

#: The motors of a leg: gains [N·m/rad, N·m·s/rad], inertia of the rotor behind its gear [kg·m²], largest effort [N·m]. The last
#: two are those of the model that the robot's manufacturer gives for MuJoCo.
MOTORS = {
    "roll-op": (200.0, 12.0, 0.0381, 112.5), "yaw-op": (200.0, 12.0, 0.0381, 112.5), "pitch-op": (300.0, 15.0, 0.0934, 195.2),
    "knee-op": (400.0, 15.0, 0.0934, 195.2), "tarsus-crank-joint": (150.0, 6.0, 0.0122, 45.0),
}  # fmt: skip
#: How far an action of 1 moves a target from that of the clock's steps [rad].
REACH = 0.35
#: A leg as two links from hip to ankle: their lengths [m], their angles from straight down where motors are at zero [rad]; the
#: sole's middle ahead of the ankle and below it [m], and the sum of the angles of pitch and crank where it is level [rad].
THIGH, SHIN, AHEAD, BEHIND, TOE, ANKLE, LEVEL = 0.52916, 0.50001, 0.09992, -0.65012, 0.02113, 0.04097, -1.10269
#: How long two steps take [s]; how far soles are below the hips, how much further the drives press them, against springs and
#: weight, how far they are ahead of the hips, and how high they are lifted [m].
PERIOD, BELOW, PRESSED, FORWARD, LIFT = 0.7, 0.81, 0.06, 0.022, 0.12
#: An episode ends where the pelvis is lower than this [m], or leans by more than 45°.
FALLEN = 0.65
#: A foot that is so much higher slips e times less, and one that is away from its height so far is worth e times less [m].
NEAR, MISSED = 0.02, 0.04


def task(*, step: float = 2.5e-3, steps: int = 8, friction: float = 0.8) -> Task:
    """With position drives at the ten motors; an action lasts for `steps` steps of `step` [s], 0.02 s.

    The clock lifts one foot after the other, and moves it ahead at the commanded speed; an action is added to these targets.
    Observed are, in the axes of the pelvis, its velocity, its angular velocity and the vertical; how far it has turned from the
    direction x; sine and cosine of the clock; the command, the speed along x [m/s]; how far the motors are from the stance, a
    tenth of their velocities, and the action. The pelvis is pushed at random, every 3 s on average, with up to 12 N·s.
    """
    robot, q0 = walker()
    columns_q, columns_v = (np.array([getattr(joint, part) for joint in robot.driven]) for part in "qv")
    time, stance = step * steps, q0[columns_q]

    def target(t: Any, q: Any, v: Any, action: Any, command: Any, phase: Any) -> Any:
        sine, cosine = clock(t, q, v, phase)
        found = []
        for way in (1.0, -1.0):
            ahead = FORWARD - 0.25 * PERIOD * command[0] * way * cosine
            found += [0.0, 0.0, *bent(ahead, BELOW + PRESSED - LIFT * maximum(way * sine, 0.0) ** 2)]
        return np.stack(found) + REACH * clip(action, -1.0, 1.0)

    def observation(t: Any, q: Any, v: Any, vertical: Any, turned: Any, clock: Any, command: Any, action: Any) -> Any:
        away = q[columns_q] - stance
        return np.concatenate([v[3:6], v[:3], vertical, turned, clock, command, away, 0.1 * v[columns_v], action])

    def fallen(t: Any, q: Any, v: Any, vertical: Any) -> Any:
        return (vertical[2] < 0.7) | (q[6] < FALLEN)

    def follows(t: Any, q: Any, v: Any, going: Any, command: Any) -> Any:
        return np.exp(-6.0 * (going[0] - command[0]) ** 2 - 4.0 * going[1] ** 2)

    def steady(t: Any, q: Any, v: Any, vertical: Any, turned: Any) -> Any:
        straight = np.exp(-10.0 * turned[0] ** 2 - v[2] ** 2)
        return straight + np.exp(-15.0 * (vertical[0] ** 2 + vertical[1] ** 2) - 0.1 * (v[0] ** 2 + v[1] ** 2))

    def reward(
        t: Any, q: Any, v: Any, follows: Any, steady: Any, stepping: Any, action: Any, last_action: Any, tau: Any
    ) -> Any:
        effort = 1e-5 * np.sum(tau[columns_v] ** 2) + 0.02 * np.sum((action - last_action) ** 2) + 0.01 * np.sum(action**2)
        return time * maximum(follows + 0.4 * steady + 0.6 * stepping - effort, 0.0)

    def begin(numbers: np.ndarray) -> Start:
        """At the stance, one of the feet about to be lifted, and going at up to 0.8 of the command."""
        command, first = numbers[:, :1], 0.5 * np.round(numbers[:, 1:2])
        q, v = np.tile(q0, (len(numbers), 1)), np.zeros((len(numbers), robot.nv))
        q[:, 6] += 0.005
        v[:, :6] = 0.2 * numbers[:, 2:8] - 0.1
        v[:, 3] += 0.8 * command[:, 0] * numbers[:, 8]
        return Start(q, v, {"command": command, "phase": first})

    return Task(
        robot, actions=len(stance), observation=observation, reward=reward, terminated=fallen, begin=begin,
        draws=9, steps=steps, inputs={"command": 1, "phase": 1, "target": target},
        outputs={
            "vertical": upward, "turned": turned, "clock": clock, "going": _going, "follows": follows, "steady": steady,
            "stepping": _stepping_of(robot, q0),
        },
        info=("going", "follows", "steady", "stepping"), step=step, integrator="semi_implicit_euler",
        contact=Contact(surface=Surface(friction=friction)), start=(q0, np.zeros(robot.nv)),
        randomised={"push:pelvis": (0.0, 12.0)}, push_every=3.0,
    )  # fmt: skip


def walker() -> tuple[Mechanism, np.ndarray]:
    """The robot with its drives, and the coordinates (nq) of its stance on the floor."""
    pitch, knee, crank = bent(FORWARD, BELOW)
    bends = {"knee-op": 2.0 * knee, "shin-tarsus-joint": -2.0 * knee}  # the nearest posture with closed loops has half of it
    angles = {"pitch-op": pitch, **bends, "tarsus-crank-joint": crank, "crank-rod-joint": -crank, "foot-op": crank}
    robot, q = standing(freed(cassie()), angles)
    drives = {
        f"{side}-{name}": PositionDrive(kp=kp, kd=kd, armature=armature, limit=limit)
        for side in SIDES for name, (kp, kd, armature, limit) in MOTORS.items()
    }  # fmt: skip
    return replace(robot, name="cassie_walking").with_drives(drives), q


def bent(ahead: Any, below: Any) -> tuple[Any, Any, Any]:
    """The angles of a leg's pitch, knee and crank [rad] where its sole is level, so far ahead of the hip and below it [m]."""
    x, z = ahead - TOE, below - ANKLE
    between = np.arccos((x**2 + z**2 - THIGH**2 - SHIN**2) / (2.0 * THIGH * SHIN))
    pitch = np.arctan2(x, z) + np.arctan2(SHIN * np.sin(between), THIGH + SHIN * np.cos(between)) - AHEAD
    return pitch, AHEAD - BEHIND - between, LEVEL - pitch


def clock(t: Any, q: Any, v: Any, phase: Any) -> Any:
    """Sine and cosine of the steps: the left foot is lifted while the sine is positive, the right one while it is negative."""
    angle = 2.0 * np.pi * (t / PERIOD + phase[0])
    return np.stack([np.sin(angle), np.cos(angle)])


def _going(t: Any, q: Any, v: Any) -> Any:
    """The velocity of the pelvis along the world's x and y [m/s]."""
    x, y, z, w = q[:4]
    ahead = np.stack([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)])
    aside = np.stack([2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)])
    return np.stack([np.sum(ahead * v[3:6]), np.sum(aside * v[3:6])])


def _stepping_of(mechanism: Mechanism, stance: np.ndarray) -> Callable[..., Any]:
    """How well the feet are lifted by the clock, at most 1, less what they slip while they stand and how far they tilt."""
    robot, soles = Robot(mechanism), {}
    for side in SIDES:
        heel, toe = (np.array([*shape.pose.translation]) for shape in mechanism.body(f"{side}-foot").collisions)
        middle, along = 0.5 * (heel + toe), (toe - heel) / np.linalg.norm(toe - heel)
        soles[f"{side}-foot"] = middle, along, robot.pose(stance, f"{side}-foot")[2] @ [*middle, 1.0]

    def stepping(t: Any, q: Any, v: Any, clock: Any) -> Any:
        total = 0.0
        for way, (foot, (middle, along, level)) in zip((1.0, -1.0), soles.items(), strict=True):
            pose, rates = robot.pose(q, foot), robot.velocity(q, v, foot)
            arm, lifted = pose[:3, :3] @ middle, maximum(way * clock[0], 0.0) ** 2
            height = pose[2, 3] + arm[2] - level
            ahead, aside = rates[3] + rates[1] * arm[2] - rates[2] * arm[1], rates[4] + rates[2] * arm[0] - rates[0] * arm[2]
            total = total + 0.5 * np.exp(-(((height - LIFT * lifted) / MISSED) ** 2))
            total = total - 0.2 * (1.0 - lifted) * np.exp(-maximum(height, 0.0) / NEAR) * (ahead**2 + aside**2)
            total = total - 0.5 * np.sum(pose[2, :3] * along) ** 2
        return total

    return stepping
