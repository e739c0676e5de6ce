"""The tasks of Gymnasium's suite in MuJoCo, version 5, on the files that Gymnasium has: a row of `SUITE` each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from ...contact.scene import Contact
from ...errors import InputError, KumitateWarning
from ...model import Body, Capsule
from ...robot import Robot
from ...scalar.arrays import clip, where
from ..mjcf import MujocoRobot, task_from_mjcf
from ..task import Start, Task

#: Where Gymnasium has its MJCF files.
ASSETS = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
_ALL = (-np.inf, np.inf)


@dataclass(frozen=True)
class Suited:
    """A task, by the names that its options have in Gymnasium."""

    file: str  # of Gymnasium's
    frame_skip: int  # steps of the simulation for an action
    parts: Callable[[Suited, MujocoRobot, bool], dict[str, Any]]  # from this and its robot to keywords of `Task`
    step: float = 0.0  # of the simulation [s], the file's unless given
    surroundings: Callable[[MujocoRobot], Contact] | None = None  # its contact, if it is not `rigid` by the file
    places: int = 1  # how many coordinates of its place stand first in qpos, and are not observed
    by_center: bool = False  # whether its center of mass is what moves ahead, not its root
    stands_up: bool = False  # whether height is what is rewarded, not moving ahead
    observed: tuple[str, ...] = ()  # more than qpos and qvel, by their names in `mjData`
    fastest: float = np.inf  # at which observed velocities are cut off
    normal: bool = False
    reset_noise_scale: float = 0.1
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 0.1
    contact_cost_weight: float = 0.0
    contact_cost_range: tuple[float, float] = _ALL
    contact_force_range: tuple[float, float] = _ALL
    healthy_reward: float = 0.0
    healthy_state_range: tuple[float, float] = _ALL
    healthy_z_range: tuple[float, float] = _ALL
    healthy_angle_range: tuple[float, float] = _ALL
    terminate_when_unhealthy: bool = True
    exclude_current_positions_from_observation: bool = True
    reward_near_weight: float = 0.5
    reward_dist_weight: float = 1.0
    reward_control_weight: float = 1.0


def _runner(own: Suited, seen: MujocoRobot, touches: bool) -> dict[str, Any]:
    """Moves ahead, or stands up, for little effort, while it is healthy."""
    height, time = own.places, own.frame_skip * own.step
    hidden = own.places if own.exclude_current_positions_from_observation else 0

    def place(t: Any, q: Any, v: Any, qpos: Any) -> Any:
        return (seen.robot.center_of_mass(q) if own.by_center else qpos)[: own.places]

    def x_velocity(t: Any, q: Any, v: Any, place: Any, place_before: Any) -> Any:
        return (place[0] - place_before[0]) / time

    def cfrc_ext(t: Any, q: Any, v: Any, pushes: Any) -> Any:
        return clip(seen.cfrc_ext(q, pushes), *own.contact_force_range)

    def healthy(t: Any, q: Any, v: Any, qpos: Any, qvel: Any) -> Any:
        found, ranges = 1.0, (own.healthy_z_range, own.healthy_angle_range, own.healthy_state_range)
        state = (qpos[height : height + 1], qpos[height + 1 : height + 2], np.concatenate([qpos[2:], qvel]))
        for values, (least, most) in zip(state, ranges, strict=True):
            for x in values if (least, most) != _ALL else ():
                found = where((x > least) & (x < most), found, 0.0)
        return found

    def forward(t: Any, q: Any, v: Any, qpos: Any, x_velocity: Any) -> Any:
        return own.forward_reward_weight * (qpos[height] / own.step if own.stands_up else x_velocity)

    def contact(t: Any, q: Any, v: Any, cfrc_ext: Any) -> Any:
        return -clip(own.contact_cost_weight * np.sum(cfrc_ext**2), *own.contact_cost_range)

    def reward(t: Any, q: Any, v: Any, reward_forward: Any, reward_survive: Any, reward_ctrl: Any, reward_contact: Any) -> Any:
        return reward_forward + reward_survive + reward_ctrl + reward_contact

    def observation(t: Any, q: Any, v: Any, qpos: Any, qvel: Any, tau: Any, cfrc_ext: Any) -> Any:
        parts = [qpos[hidden:], clip(qvel, -own.fastest, own.fastest)]
        for name in own.observed:
            parts.append(more[name](q, v, tau, cfrc_ext))
        return np.concatenate(parts)

    feels = touches and (own.contact_cost_weight > 0.0 or "cfrc_ext" in own.observed)
    none = np.zeros(6 * (seen.model.nbody - 1))
    more: dict[str, Callable[..., Any]] = {
        "cinert": lambda q, v, tau, pushed: seen.cinert(q), "cvel": lambda q, v, tau, pushed: seen.cvel(q, v),
        "qfrc_actuator": lambda q, v, tau, pushed: seen.qvel(None, q, tau)[6:], "cfrc_ext": lambda q, v, tau, pushed: pushed,
    }  # fmt: skip
    outputs: dict[str, Any] = {
        **({"pushes": "contact_wrenches", "cfrc_ext": cfrc_ext} if feels else {"cfrc_ext": lambda t, q, v: none}),
        "place": place, "x_position": lambda t, q, v, qpos: qpos[0], "x_velocity": x_velocity, "healthy": healthy,
        "reward_forward": forward, "reward_survive": lambda t, q, v, healthy: own.healthy_reward * healthy,
        "reward_ctrl": lambda t, q, v, action: -own.ctrl_cost_weight * np.sum(action**2), "reward_contact": contact,
    }  # fmt: skip
    begin, draws = seen.around(own.reset_noise_scale, normal=own.normal)
    told = [name for name, weight in (("survive", own.healthy_reward), ("contact", own.contact_cost_weight)) if weight]
    ends = own.terminate_when_unhealthy and (own.healthy_z_range, own.healthy_angle_range) != (_ALL, _ALL)
    return {
        "outputs": outputs, "remembered": {"place": own.places}, "observation": observation, "reward": reward,
        "info": ("x_position", "x_velocity", "reward_forward", "reward_ctrl", *(f"reward_{name}" for name in told)),
        "terminated": (lambda t, q, v, healthy: healthy < 0.5) if ends else None, "begin": begin, "draws": draws,
    }  # fmt: skip


def _reacher(own: Suited, seen: MujocoRobot, touches: bool) -> dict[str, Any]:
    """Brings the tip of an arm of two links to a target within 0.2 m of its base."""

    def away(t: Any, q: Any, v: Any) -> Any:
        return seen.place(q, "fingertip") - seen.place(q, "target")

    def observation(t: Any, q: Any, v: Any, qpos: Any, qvel: Any, away: Any) -> Any:
        return np.concatenate([np.cos(qpos[:2]), np.sin(qpos[:2]), qpos[2:], qvel[:2], away[:2]])

    def begin(numbers: np.ndarray) -> Start:
        even = 2.0 * numbers - 1.0
        radius, angle = 0.2 * np.sqrt(numbers[:, 4]), 2.0 * np.pi * numbers[:, 5]  # evenly over a disc
        goal = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        qpos = np.concatenate([0.1 * even[:, :2], goal], axis=1)
        return seen.start(qpos, np.concatenate([0.005 * even[:, 2:4], np.zeros_like(goal)], axis=1))

    return {
        "outputs": {
            "away": away, "reward_dist": lambda t, q, v, away: -own.reward_dist_weight * _norm(away),
            "reward_ctrl": lambda t, q, v, action: -own.reward_control_weight * np.sum(action**2),
        },
        "observation": observation, "reward": lambda t, q, v, reward_dist, reward_ctrl: reward_dist + reward_ctrl,
        "info": ("reward_dist", "reward_ctrl"), "begin": begin, "draws": 6,
    }  # fmt: skip


#: So many places of Pusher's cylinder are drawn, of which the first is taken that is far enough from the goal.
_TRIES = 16


def _pusher(own: Suited, seen: MujocoRobot, touches: bool) -> dict[str, Any]:
    """Pushes a cylinder to a goal on a table."""

    def places(t: Any, q: Any, v: Any) -> Any:
        return np.concatenate([seen.place(q, name) for name in ("tips_arm", "object", "goal")])

    def observation(t: Any, q: Any, v: Any, qpos: Any, qvel: Any, places: Any) -> Any:
        return np.concatenate([qpos[:7], qvel[:7], places])

    def begin(numbers: np.ndarray) -> Start:
        drawn = numbers[:, 7:].reshape(-1, _TRIES, 2) * (0.3, 0.4) - (0.3, 0.2)
        drawn[:, -1] = -0.3, 0.0  # never needed, but for 2 of 10 million
        far = np.linalg.norm(drawn, axis=2) > 0.17
        qpos, qvel = np.tile(seen.model.qpos0, (len(numbers), 1)), np.zeros((len(numbers), seen.model.nv))
        qpos[:, 7:9], qpos[:, 9:] = drawn[np.arange(len(numbers)), far.argmax(axis=1)], 0.0
        qvel[:, :7] = 0.005 * (2.0 * numbers[:, :7] - 1.0)
        return seen.start(qpos, qvel)

    return {
        "outputs": {
            "places": places,
            "reward_near": lambda t, q, v, places: -own.reward_near_weight * _norm(places[3:6] - places[:3]),
            "reward_dist": lambda t, q, v, places: -own.reward_dist_weight * _norm(places[3:6] - places[6:]),
            "reward_ctrl": lambda t, q, v, action: -own.reward_control_weight * np.sum(action**2),
        },
        "reward": lambda t, q, v, reward_dist, reward_ctrl, reward_near: reward_dist + reward_ctrl + reward_near,
        "info": ("reward_dist", "reward_ctrl", "reward_near"), "observation": observation, "begin": begin,
        "draws": 7 + 2 * _TRIES,
    }  # fmt: skip


def _with_round_object(seen: MujocoRobot) -> Contact:
    """Lets Pusher's cylinder touch as a capsule, off the table, which it cannot leave: such pairs have code of their own."""

    def round_(body: Body) -> Body:
        if body.name != "object":
            return body
        return replace(body, collisions=tuple(replace(g, shape=Capsule(0.05, 0.1)) for g in body.collisions))

    mechanism = seen.robot.mechanism
    seen.robot = Robot(replace(mechanism, bodies=tuple(map(round_, mechanism.bodies))))
    return Contact(apart=[("object", "world_link")])


def _pendulum(own: Suited, seen: MujocoRobot, touches: bool) -> dict[str, Any]:
    """Keeps a pole up that stands on a cart."""
    begin, draws = seen.around(own.reset_noise_scale)
    return {
        "reward": lambda t, q, v, terminated: 1.0 - terminated, "terminated": lambda t, q, v, qpos: np.abs(qpos[1]) > 0.2,
        "begin": begin, "draws": draws,
    }  # fmt: skip


def _double_pendulum(own: Suited, seen: MujocoRobot, touches: bool) -> dict[str, Any]:
    """Keeps two poles up, one on the other."""
    begin, draws = seen.around(own.reset_noise_scale, normal=True)

    def observation(t: Any, q: Any, v: Any, qpos: Any, qvel: Any, a: Any, tau: Any) -> Any:
        stop = seen.robot.inverse_dynamics(q, v, a)[0] - tau[0]  # what pushes the cart more than its motor
        cut = clip(np.concatenate([qvel, [stop]]), -10.0, 10.0)
        return np.concatenate([qpos[:1], np.sin(qpos[1:]), np.cos(qpos[1:]), cut])

    def reward(t: Any, q: Any, v: Any, qvel: Any, tip: Any, terminated: Any) -> Any:
        away, fast = 0.01 * tip[0] ** 2 + (tip[2] - 2.0) ** 2, 1e-3 * qvel[1] ** 2 + 5e-3 * qvel[2] ** 2
        return own.healthy_reward * (1.0 - terminated) - away - fast

    return {
        "outputs": {"tip": lambda t, q, v: seen.place(q, "tip")}, "observation": observation, "reward": reward,
        "terminated": lambda t, q, v, tip: tip[2] <= 1.0, "begin": begin, "draws": draws,
    }  # fmt: skip


def _norm(x: Any) -> Any:
    return np.sqrt(np.sum(x**2))


_SEEN = ("cinert", "cvel", "qfrc_actuator", "cfrc_ext")
#: By name; the numbers are those of Gymnasium 1.
SUITE: Mapping[str, Suited] = {
    "half_cheetah": Suited("half_cheetah.xml", 5, _runner, normal=True),
    "hopper": Suited(
        "hopper.xml", 4, _runner, fastest=10.0, reset_noise_scale=5e-3, ctrl_cost_weight=1e-3, healthy_reward=1.0,
        healthy_state_range=(-100.0, 100.0), healthy_z_range=(0.7, np.inf), healthy_angle_range=(-0.2, 0.2),
    ),
    "walker2d": Suited(
        "walker2d_v5.xml", 4, _runner, fastest=10.0, reset_noise_scale=5e-3, ctrl_cost_weight=1e-3, healthy_reward=1.0,
        healthy_z_range=(0.8, 2.0), healthy_angle_range=(-1.0, 1.0),
    ),
    "swimmer": Suited("swimmer.xml", 4, _runner, places=2, ctrl_cost_weight=1e-4),
    "ant": Suited(
        "ant.xml", 5, _runner, places=2, normal=True, observed=("cfrc_ext",), ctrl_cost_weight=0.5, contact_cost_weight=5e-4,
        contact_force_range=(-1.0, 1.0), healthy_reward=1.0, healthy_z_range=(0.2, 1.0),
    ),
    "humanoid": Suited(
        "humanoid.xml", 5, _runner, places=2, by_center=True, observed=_SEEN, reset_noise_scale=1e-2,
        forward_reward_weight=1.25, contact_cost_weight=5e-7, contact_cost_range=(-np.inf, 10.0), healthy_reward=5.0,
        healthy_z_range=(1.0, 2.0),
    ),
    "humanoid_standup": Suited(
        "humanoidstandup.xml", 5, _runner, places=2, stands_up=True, observed=_SEEN, reset_noise_scale=1e-2,
        contact_cost_weight=5e-7, contact_cost_range=(-np.inf, 10.0), healthy_reward=1.0,
    ),
    "reacher": Suited("reacher.xml", 2, _reacher),
    "pusher": Suited("pusher_v5.xml", 5, _pusher, surroundings=_with_round_object, reward_control_weight=0.1),
    "inverted_pendulum": Suited("inverted_pendulum.xml", 2, _pendulum, reset_noise_scale=0.01),
    "inverted_double_pendulum": Suited("inverted_double_pendulum.xml", 5, _double_pendulum, healthy_reward=10.0),
}  # fmt: skip


def task(name: str, **options: Any) -> Task:
    """A task of the suite; options are those of Gymnasium's, such as `ctrl_cost_weight`, and of `kumitate.Simulation`.

    Raises:
        InputError: if MuJoCo, which reads the file, is not installed, or Gymnasium has no such file.
    """
    own, known = SUITE[name], {field.name for field in fields(Suited)} - {"file", "parts", "places", "observed"}
    observed = tuple(part for part in own.observed if options.pop(f"include_{part}_in_observation", True))
    own = replace(own, observed=observed, **{key: options.pop(key) for key in [*options] if key in known})
    if not (ASSETS / own.file).is_file():
        raise InputError(f"{own.file} of Gymnasium is not in {ASSETS}; install Gymnasium again by pip")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KumitateWarning)  # docs/learning.md says what of the files is not used
        seen = MujocoRobot(ASSETS / own.file)
    own = replace(own, step=own.step or float(seen.model.opt.timestep))
    if own.surroundings and "contact" not in options:
        options["contact"] = own.surroundings(seen)
    touches = options.get("contact", "rigid" if seen.touches else None) is not None
    parts = own.parts(own, seen, touches)
    return task_from_mjcf(seen, step=own.step, steps=own.frame_skip, dtype=np.float64, **parts, **options)
