"""Robots that fall onto a floor with all shapes of their files, their own links touching: steps beside MuJoCo's."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import kumitate as km
from kumitate.contact.scene import Contact
from kumitate.errors import KumitateWarning
from kumitate.examples.legged import robots_folder
from kumitate.measure.timing import Effort, Timing, thread_seconds
from kumitate.model import Mechanism
from kumitate.model.convert import mujoco as mujoco_order
from kumitate.model.read import read_urdf
from kumitate.simulate.integrators import TimeStepping
from kumitate.simulate.interactions import StepDesign
from kumitate.simulate.interactions.scene import SceneContact
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.simulate.stepping.interaction import Stabilisation

from .contract import Case
from .mujoco_peer import MuJoCo
from .report import Row
from .scenes import STEP, missed_by

__all__ = ["RobotsWithShapes"]

#: Files below the robots' folder, and how high the base begins [m].
ROBOTS = {
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", 0.6),
    "solo12": ("solo_description/robots/solo12.urdf", 0.35),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", 0.9),
}


@dataclass(frozen=True)
class RobotsWithShapes(Case):
    """Limp robots, all joints at zero, fall and come to lie; links that no joint connects, and that begin apart, may touch.

    Both sides go their own ways from one start. Ours are steps of a scene, as all pairs of a robot's shapes traced, as for a
    robot on its feet, take minutes to compile (ANYmal: 85 s with the floor alone; solo12: over 2 minutes). Rows of a batch
    of a scene are advanced one after the other, so that there is no row of several runs at a time.
    """

    count: int = 600
    faster: float = 2.0
    name: str = "robots_with_shapes"
    title: str = "robots with all their shapes, falling onto a floor"
    peer = "MuJoCo"

    @property
    def missing(self) -> str:  # type: ignore[override]
        return "" if robots_folder() else "example-robot-data"

    def rows(self, effort: Effort) -> Iterator[Row]:
        count = effort.share(self.count)
        for name, (file, height) in ROBOTS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", KumitateWarning)
                robot = read_urdf(robots_folder() / file, floating_base=True)  # type: ignore[operator]
            q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, height, *np.zeros(robot.nq - 7)])
            between = _apart(robot, q)
            spent, residual, depth = _ours(robot, q, between, count)
            said = f"{len(between)} pairs of links; residual at most {residual:.0e} m/s, {depth:.0e} m deep"
            other = None
            if MuJoCo.installed():
                other, sunk, missed = _theirs(robot, q, count)
                said += f"; MuJoCo {sunk:.0e} m deep, residual {missed:.0e} m/s at the end"
            what = f"{name} falls and lies, a step of {1e3 * STEP:g} ms"
            yield Row(self.name, what, spent, "MuJoCo's mj_step, as it comes", other, at_least=self.faster, remarks=said)


def _apart(robot: Mechanism, q: np.ndarray) -> list[tuple[str, str]]:
    """Bodies with shapes that no joint connects, nor are fixed to each other, and that do not overlap at q."""
    tree, model = robot.tree, km.Robot(robot)
    link = {body.name: tree.places[body.name].link for body in robot.bodies if body.collisions}

    def joined(a: int, b: int) -> bool:
        return a == b or tree.links[a].parent == b or tree.links[b].parent == a

    pairs = (pair for pair in combinations(link, 2) if not joined(link[pair[0]], link[pair[1]]))
    return [pair for pair in pairs if float(model.distance(q, *pair).distance) > 0.0]


def _ours(robot: Mechanism, q: np.ndarray, between: list[tuple[str, str]], count: int) -> tuple[Timing, float, float]:
    """Seconds a step, the largest residual [m/s], and the depth [m]."""
    simulation = MechanismSimulation(Setup(robot, step=STEP))
    contact = SceneContact(robot, Contact(between=between))
    design = StepDesign(TimeStepping(), simulation.actuation, Stabilisation())
    advance = contact.advance(design)
    # the same motion twice: routines of two kinds of shapes are compiled when such first come near each other
    for stepper in (advance.stepper(simulation.actuation, STEP, q, np.zeros(robot.nv)) for _ in range(2)):
        begin = thread_seconds()
        stepper.run({}, 1, count)
        spent = thread_seconds() - begin
    sums = stepper.logged[-1].sums
    return Timing.of([spent], count), float(sums[:, 0].max()), float(sums[:, 2].max())


def _theirs(robot: Mechanism, q: np.ndarray, count: int) -> tuple[Timing, float, float]:
    """Seconds a step of MuJoCo, and at the end the depth [m] and the residual of the laws [m/s]."""
    mujoco: Any = importlib.import_module("mujoco")
    bare = replace(robot, bodies=tuple(replace(body, visuals=()) for body in robot.bodies))
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", KumitateWarning)
        path = Path(folder) / "peer.xml"
        km.Robot(bare).save(path)
        spec = mujoco.MjSpec.from_file(str(path))
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], friction=[0.5, 0.0, 0.0])
        spec.option.timestep = STEP
        model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = mujoco_order(bare, model).to(q)
    begin = thread_seconds()
    mujoco.mj_step(model, data, count)
    spent = thread_seconds() - begin
    depth = -float(min(data.contact.dist, default=0.0))
    return Timing.of([spent], count), max(depth, 0.0), missed_by(mujoco, model, data)
