"""ANYmal on rough terrain, sensed around it: a trot by a clock, actions that change it, and strips that get rougher."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ...contact.scene import Contact
from ...contact.surface import Surface
from ...examples.legged import Stance
from ...model import Geometry, HeightField
from ...robot import Robot
from ...scalar.arrays import clip, maximum
from ..task import Start, Task
from .walking import WALKERS, turned, upward

#: Strips of terrain side by side, each rougher than the one before; their length and width, and the grid of heights [m].
STRIPS, LENGTH, WIDTH, GRID = 10, 14.0, 3.0, 0.2
#: How long two steps of a diagonal pair take [s], how high feet are lifted [m], how far an action of 1 moves a target [rad].
PERIOD, LIFT, REACH = 0.6, 0.12, 0.35
#: Where the ground is sensed, ahead of the base and aside of it [m]; the fourth place is below the base.
AHEAD, ASIDE = (-0.5, -0.25, 0.0, 0.25, 0.5, 0.75), (0.0, 0.25, -0.25)
_BELOW = AHEAD.index(0.0)
#: The feet that are lifted together, and by which part of a period later than the first.
_LATER = {"LF_FOOT": 0.0, "RH_FOOT": 0.0, "RF_FOOT": 0.5, "LH_FOOT": 0.5}
#: An episode ends where the base is nearer to the ground below it than this [m], or leans by more than 50°.
_FALLEN = 0.25


def task(*, roughness: float = 0.2, step: float = 5e-3, steps: int = 4, friction: float = 0.8) -> Task:
    """The task of walking straight ahead at the commanded speed [m/s] over ground of random heights, by position drives.

    Observed are, in the axes of the base, its velocity, its angular velocity and the vertical; how far it has turned from the
    direction x; sine and cosine of the clock; the command; how far the joints are from the posture, a tenth of their
    velocities, and the action; and by how much more than in the posture the base is above the ground at 18 places around it.

    Args:
        roughness: the largest height of the roughest strip, whose grid of 0.2 m is drawn uniformly; the first is flat. Zero is
            a plane, on which steps are many times cheaper than on triangles: to begin learning there pays.
        step: of the simulation [s], of which an action lasts for `steps`.
    """
    walker, robot = WALKERS["anymal"], WALKERS["anymal"].driven
    posture = np.array([walker.angles.get(joint.name, 0.0) for joint in robot.driven])
    columns_q, columns_v = (np.array([getattr(joint, part) for joint in robot.driven]) for part in "qv")
    standing = Stance(robot, walker.angles, 0.0, 0.0).q
    # how angles change by lifting each foot, and by moving it ahead [rad/m]: (joints, feet) each, about the posture
    legs = Robot(robot)
    turning = np.linalg.pinv(np.stack([legs.jacobian(standing, foot)[3:, columns_v] for foot in _LATER]))
    lifting, striding = turning[:, :, 2].T, turning[:, :, 0].T
    later = np.array(list(_LATER.values()))
    ground, height, time = terrain(roughness), standing[6], step * steps

    def sensed(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        x, y, z, w = q[:, :4].T
        way = np.arctan2(2.0 * (x * y + w * z), 1.0 - 2.0 * (y * y + z * z))[:, None]
        ahead, aside = np.tile(AHEAD, len(ASIDE)), np.repeat(ASIDE, len(AHEAD))
        there = np.cos(way) * ahead - np.sin(way) * aside, np.sin(way) * ahead + np.cos(way) * aside
        return np.clip(q[:, 6:7] - height - ground.height(q[:, 4:5] + there[0], q[:, 5:6] + there[1]), -0.5, 0.5)

    def clock(t: Any, q: Any, v: Any, phase: Any) -> Any:
        angle = 2.0 * np.pi * (t / PERIOD + phase[0])
        return np.stack([np.sin(angle), np.cos(angle)])

    def target(t: Any, q: Any, v: Any, action: Any, command: Any, phase: Any) -> Any:
        angle = 2.0 * np.pi * (t / PERIOD + phase[0] + later)
        stride = 0.25 * PERIOD * command[0] * np.cos(angle)
        found = posture + lifting @ (LIFT * maximum(np.sin(angle), 0.0) ** 2) - striding @ stride
        return found + REACH * clip(action, -1.0, 1.0)

    def observation(
        t: Any, q: Any, v: Any, vertical: Any, turned: Any, clock: Any, command: Any, action: Any, around: Any
    ) -> Any:
        away = q[columns_q] - posture
        return np.concatenate([v[3:6], v[:3], vertical, turned, clock, command, away, 0.1 * v[columns_v], action, 4.0 * around])

    def fallen(t: Any, q: Any, v: Any, vertical: Any, around: Any) -> Any:
        return (vertical[2] < 0.64) | (around[_BELOW] + height < _FALLEN)

    def follows(t: Any, q: Any, v: Any, command: Any) -> Any:
        return np.exp(-6.0 * (v[3] - command[0]) ** 2 - 4.0 * v[4] ** 2)

    def reward(
        t: Any, q: Any, v: Any, follows: Any, turned: Any, vertical: Any, action: Any, last_action: Any, tau: Any
    ) -> Any:
        steady = np.exp(-8.0 * turned[0] ** 2 - v[2] ** 2) - 0.03 * (v[0] ** 2 + v[1] ** 2) - 0.3 * v[5] ** 2
        effort = 1e-5 * np.sum(tau[6:] ** 2) + 0.01 * np.sum((action - last_action) ** 2) + 0.01 * np.sum(action**2)
        return time * maximum(follows + 0.4 * steady + 0.2 * vertical[2] - effort, 0.0)

    def begin(numbers: np.ndarray, levels: np.ndarray) -> Start:
        """Near the posture at the near end of the level's strip, going at up to 0.8 of the command."""
        around = 2.0 * numbers - 1.0
        q, v = np.tile(standing, (len(numbers), 1)), np.zeros((len(numbers), robot.nv))
        q[:, columns_q] += 0.1 * around[:, : len(columns_q)]
        command = 0.3 + 0.5 * numbers[:, -1:]
        v[:, 3], phase = 0.8 * command[:, 0] * numbers[:, -2], 0.5 * np.round(numbers[:, -3:-2])
        q[:, 4] = 1.0 - 0.5 * LENGTH + 0.5 * numbers[:, -4]
        q[:, 5] = (levels + 0.5 - 0.5 * STRIPS) * WIDTH + 0.5 * around[:, -5]
        near = np.linspace(-0.4, 0.4, 5)
        x, y = (part[..., None] for part in np.meshgrid(near, near))
        q[:, 6] += 0.02 + ground.height(x + q[:, 4], y + q[:, 5]).max(axis=(0, 1))
        return Start(q, v, {"command": command, "phase": phase, "origin": q[:, 4:5].copy()})

    def curriculum(levels: np.ndarray, outputs: Mapping[str, np.ndarray]) -> np.ndarray:
        """A strip further for who has gone most of the way, one back for who has not gone half (Rudin et al. 2022)."""
        made = outputs["made"]
        moved = levels + (made > 0.8) * (outputs["terminated"] < 0.5) - (made < 0.5)
        # who masters the last begins at a strip that differs from row to row
        return np.where(moved >= STRIPS, np.floor(STRIPS * (7.0 * np.abs(outputs["going"]) % 1.0)), np.maximum(moved, 0.0))

    def going(t: Any, q: Any, v: Any, origin: Any) -> Any:
        return q[4] - origin[0]

    def made(t: Any, q: Any, v: Any, going: Any, command: Any) -> Any:
        return going / maximum(command[0] * t, 0.3)

    shape = None if roughness == 0.0 else (Geometry(ground, color=(0.66, 0.6, 0.5, 1.0)),)
    return Task(
        robot, actions=len(posture), observation=observation, reward=reward, terminated=fallen, begin=begin,
        draws=len(columns_q) + 5, steps=steps, inputs={"command": 1, "phase": 1, "origin": 1, "target": target},
        outputs={"vertical": upward, "turned": turned, "clock": clock, "follows": follows, "going": going, "made": made},
        sensed={"around": (len(AHEAD) * len(ASIDE), sensed)}, curriculum=curriculum, info=("follows", "going", "made"),
        step=step, integrator="semi_implicit_euler", contact=Contact(surface=Surface(friction=friction), ground=shape),
        start=(standing, np.zeros(robot.nv)), randomised={"push:base": (0.0, 10.0)}, push_every=3.0,
    )  # fmt: skip


@cache
def terrain(roughness: float) -> HeightField:
    """Strips of random heights, each rougher than the one before, up to the `roughness` [m]; the same each time."""
    lines, columns = round(STRIPS * WIDTH / GRID) + 1, round(LENGTH / GRID) + 1
    strip = np.minimum(np.arange(lines) * GRID // WIDTH, STRIPS - 1)
    drawn = np.random.default_rng(1).random((lines, columns)) * (roughness * strip / (STRIPS - 1))[:, None]
    return HeightField(tuple(map(tuple, drawn.tolist())), (LENGTH, STRIPS * WIDTH))
