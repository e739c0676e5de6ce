"""`task_from_mjcf`: a task of a robot in an MJCF file, whose actions are its actuators' controls in the file's order."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from ..convert import Order
from ..convert import mujoco as mujoco_order
from ..dynamics.passive import spring_force, springy
from ..loading import load
from ..model.convert import quaternion_matrix
from ..model.read.mjcf.compiled import compiled_file
from ..robot import Robot
from .task import Start, Task
from .vector import gaussian

#: The numbers of MuJoCo's methods, and its types of joints with quaternions, with the place of these in qpos.
_EULER, _RK4, _QUATERNIONS = 0, 1, {0: 3, 1: 0}
#: MuJoCo's least size of a box of inertia [m²].
_LEAST = 1e-15


class MujocoRobot:
    """A `robot` of an MJCF file, and what MuJoCo's `model` knows of its states, in the `order` and the axes of its `mjData`.

    The functions of (t, q, v) can be compiled: they are outputs of a task, or read by those.
    """

    def __init__(self, file: str | Path):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*of <option>: ")  # the step, and forces of a fluid, are used here
            self.robot = load(file)
        self.model: Any = compiled_file(file).model
        self.order: Order = mujoco_order(self.robot, self.model)
        self._bodies = [self.model.body(i).name or f"body_{i}" for i in range(self.model.nbody)]

    @property
    def touches(self) -> bool:
        """Whether masks let any two geoms touch."""
        return bool((self.model.geom_contype[:, None] & self.model.geom_conaffinity).any())

    @property
    def controls(self) -> Box:
        """The ranges of the actuators' controls, in their order."""
        low, high = np.array([[one.lower, one.upper] for one in self.robot.actuators], dtype=np.float32).reshape(-1, 2).T
        return Box(low, high, dtype=np.float32)

    # --- states -----------------------------------------------------------------------------------------------------------
    def qpos(self, t: Any, q: Any, v: Any) -> Any:
        """Coordinates."""
        return np.concatenate([joint.coordinates(q) for joint in self.order.joints])

    def qvel(self, t: Any, q: Any, v: Any) -> Any:
        """Velocities; of efforts in the place of v, the generalised forces for ours."""
        return np.concatenate([joint.velocities(q, v) for joint in self.order.joints])

    def springs(self, t: Any, q: Any, v: Any) -> Any:
        """The efforts of the joints' springs in the state."""
        links = sorted(self.robot.mechanism.tree.links, key=lambda link: link.v_start)
        return -np.stack([force for link in links for force in spring_force(link, link.coordinates(q))])  # type: ignore[arg-type]

    def place(self, q: Any, name: str) -> Any:
        """The position of a body or site (3) [m]."""
        return self.robot.pose(q, name)[:3, 3]

    def start(self, qpos: np.ndarray, qvel: np.ndarray) -> Start:
        """The start of k episodes in MuJoCo's states (k, nq) and (k, nv); quaternions are brought to unit length."""
        qpos = qpos.copy()
        for kind, at in zip(self.model.jnt_type, self.model.jnt_qposadr, strict=True):
            if kind in _QUATERNIONS:
                own = slice(at + _QUATERNIONS[kind], at + _QUATERNIONS[kind] + 4)
                qpos[:, own] /= np.linalg.norm(qpos[:, own], axis=1, keepdims=True)
        return Start(*self.order.back(qpos, qvel))

    def around(self, noise: float, *, normal: bool = False) -> tuple[Callable[[np.ndarray], Start], int]:
        """The starts at the file's posture but for uniform noise, velocities by a normal distribution if wanted, and how
        many random numbers each takes.
        """
        nq, nv, rest = self.model.nq, self.model.nv, self.model.qpos0

        def begin(numbers: np.ndarray) -> Start:
            even = noise * (2.0 * numbers - 1.0)
            rates = noise * gaussian(numbers[:, nq:]) if normal else even[:, nq:]
            return self.start(rest + even[:, :nq], rates)

        return begin, nq + (2 * nv if normal else nv)

    # --- bodies, of a file with one tree ----------------------------------------------------------------------------------
    def cinert(self, q: Any) -> Any:
        """The inertias of all bodies but the world about the center of mass (10 each), flat."""
        center, found = self.robot.center_of_mass(q), []
        for i, X in self._poses(q):
            R, m = X[:3, :3] @ self._axes[i], self.model.body_mass[i]
            x, y, z = d = X[:3, 3] + X[:3, :3] @ self.model.body_ipos[i] - center
            about = (R * self.model.body_inertia[i]) @ R.T
            across = (y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z)
            entries = [about[at] for at in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
            found += [*(own + m * far for own, far in zip(entries, across, strict=True)), *(m * d), m]
        return np.stack(found)

    def cvel(self, q: Any, v: Any) -> Any:
        """The velocities [ω; v] of all bodies but the world, at the center of mass, flat."""
        center, found = self.robot.center_of_mass(q), []
        for i, X in self._poses(q):
            rates = self.robot.velocity(q, v, self._bodies[i])
            found += [rates[:3], rates[3:] + np.cross(rates[:3], center - X[:3, 3])]
        return np.concatenate(found)

    def cfrc_ext(self, q: Any, wrenches: Any) -> Any:
        """The wrenches [n; f] of contact on all bodies but the world about the center of mass, flat, for "contact_wrenches"."""
        center, names = self.robot.center_of_mass(q), [body.name for body in self.robot.mechanism.bodies]
        pushed = [wrenches[names.index(name)] for name in self._bodies[1:]]
        return np.concatenate([part for own in pushed for part in (own[:3] - np.cross(center, own[3:]), own[3:])])

    def drag(self) -> dict[str, Callable[[Any, Any, Any], Any]]:
        """The forces of the file's fluid on bodies, by their boxes of inertia (mujoco.readthedocs.io, "Fluid forces")."""
        if not (self.model.opt.density or self.model.opt.viscosity):
            return {}
        return {self._bodies[i]: partial(self._drag, i) for i in range(1, self.model.nbody) if self.model.body_mass[i]}

    def _drag(self, body: int, t: Any, q: Any, v: Any) -> Any:
        option, inertia, mass = self.model.opt, self.model.body_inertia[body], self.model.body_mass[body]
        box = np.sqrt(np.maximum(6.0 * (inertia.sum() - 2.0 * inertia) / mass, _LEAST))
        sides, mean = np.array([box[1] * box[2], box[0] * box[2], box[0] * box[1]]), box.mean()
        fourths = box * ((box**4).sum() - box**4)
        X, rates = self.robot.pose(q, self._bodies[body]), self.robot.velocity(q, v, self._bodies[body])
        R, lever = X[:3, :3] @ self._axes[body], X[:3, :3] @ self.model.body_ipos[body]
        turning = R.T @ rates[:3]
        moving = R.T @ (rates[3:] + np.cross(rates[:3], lever) - option.wind)
        moment = -np.pi * mean**3 * option.viscosity * turning - option.density / 64.0 * fourths * np.abs(turning) * turning
        force = -3.0 * np.pi * mean * option.viscosity * moving - 0.5 * option.density * sides * np.abs(moving) * moving
        force = R @ force
        return np.concatenate([R @ moment + np.cross(lever, force), force])

    @cached_property
    def _axes(self) -> np.ndarray:
        """The principal axes of all bodies (n, 3, 3) in these."""
        return quaternion_matrix(np.roll(self.model.body_iquat, -1, axis=1))

    def _poses(self, q: Any) -> list[tuple[int, Any]]:
        return [(i, self.robot.pose(q, self._bodies[i])) for i in range(1, self.model.nbody)]


def task_from_mjcf(
    file: str | Path | MujocoRobot,
    *,
    reward: Callable[..., Any],
    observation: Callable[..., Any] | None = None,
    noise: float = 0.0,
    outputs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Task:
    """A task of a robot in an MJCF file, as the file says it.

    An action is MuJoCo's `ctrl`: in the order of the file's actuators, within their ranges, with their gears and gains. The
    step is the file's; friction and floor are those of its geoms. Where any two of these may touch, contact is `rigid`, and
    steps are of order one; else the integrator is the file's own, Runge-Kutta's or Euler's. A fluid's forces act. By Euler's,
    springs of joints act as they are before each step, as MuJoCo has them, and are part of "tau"; with an integrator, a
    controller or parameters "stiffness:…" of yours they belong to the robot, and steps are implicit in them.

    Args:
        file: its path.
        reward: as of `Task`; it may read "qpos" and "qvel", which are MuJoCo's, and all else that those functions read.
        observation: "qpos" and "qvel" unless given.
        noise: the largest deviation of qpos and qvel from the file's posture where episodes start, uniformly drawn.
        outputs: more that the functions read; options: of `Task`.

    Raises:
        InputError: if MuJoCo is not installed; if an actuator has no drive here (of tendons, muscles).

    >>> import gymnasium
    >>> from pathlib import Path
    >>> ant = Path(gymnasium.__file__).parent / "envs/mujoco/assets/inverted_pendulum.xml"
    >>> task = task_from_mjcf(ant, reward=lambda t, q, v, qpos: -abs(qpos[1]), steps=2)
    >>> task.action_space, task.observation_space.shape, task.time
    (Box(-3.0, 3.0, (1,), float32), (4,), 0.04)
    """
    given = dict(reward=reward, observation=observation, noise=noise, outputs=outputs, **options)
    seen = file if isinstance(file, MujocoRobot) else MujocoRobot(file)
    robot, begun = seen.robot, seen.around(noise)
    options.setdefault("contact", "rigid" if seen.touches else None)
    order = "rk4" if seen.model.opt.integrator == _RK4 and options["contact"] is None else "semi_implicit_euler"
    asked = {*options, *(options.get("randomised") or ()), *options.get("parameters", ())}
    free = not any(name in ("controller", "integrator") or name.startswith("stiffness:") for name in asked)
    if free and seen.model.opt.integrator == _EULER and any(map(springy, robot.mechanism.tree.links)):
        # our steps are implicit in springs, which would damp a cheetah's legs by two fifths more (h k); MuJoCo's are not
        options["controller"] = seen.springs
        robot = Robot(replace(robot.mechanism, joints=tuple(replace(one, stiffness=0.0) for one in robot.mechanism.joints)))
    for name, value in (("integrator", order), ("step", float(seen.model.opt.timestep)), ("wrenches", seen.drag() or None)):
        options.setdefault(name, value)
    inputs = {"target": lambda t, q, v, action: robot.targets(action), **options.pop("inputs", {})}
    made = Task(
        robot, actions=seen.controls, observation=observation or _whole_state, reward=reward, inputs=inputs,
        outputs={"qpos": seen.qpos, "qvel": seen.qvel, **(outputs or {})},
        **{"begin": begun[0], "draws": begun[1], **options},
    )  # fmt: skip
    if not isinstance(file, MujocoRobot):
        made._maker = partial(task_from_mjcf, file, **given)
    return made


def _whole_state(t: Any, q: Any, v: Any, qpos: Any, qvel: Any) -> Any:
    return np.concatenate([qpos, qvel])
