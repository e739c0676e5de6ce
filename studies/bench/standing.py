"""Robots that stand on a floor by position drives: steps of a batch, beside MuJoCo's batches of the same robot."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import kumitate as km
from kumitate.contact import Contact, Surface
from kumitate.errors import KumitateWarning
from kumitate.examples.gallery import cassie
from kumitate.gym import named_task
from kumitate.measure.timing import Contender, Effort, by_turns, thread_seconds
from kumitate.model import Mechanism
from kumitate.model.convert import mujoco as mujoco_order

from .contract import Case
from .mujoco_peer import MuJoCo
from .report import Row
from .simulation import threads
from .subjects import robots_folder

__all__ = ["CassieStanding", "Standing"]

FRICTION, STEP = 0.8, 2e-3
#: Steps until all is at rest, and steps that are timed at once.
SETTLING, COUNT = 500, 20


@dataclass(frozen=True)
class Standing(Case):
    """A robot of an environment, standing by the drives of its joints, only its feet touching.

    Attributes:
        robot: the environment's name.
        faster: the target beside MuJoCo's batch; `at_most`: for our seconds a step.
        runs: states side by side; `why`: the bases come to rest at other heights than MuJoCo's.
    """

    robot: str
    faster: float
    at_most: float
    runs: int = 256
    why: str = ""
    peer = "MuJoCo"

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"standing_{self.robot}"

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.robot} stands on a floor by position drives, {self.runs} states side by side"

    @property
    def missing(self) -> str:  # type: ignore[override]
        return "" if robots_folder() else "example-robot-data"

    def rows(self, effort: Effort) -> Iterator[Row]:
        task = named_task(self.robot).simulation
        (q,), (v,) = task.starts(None, None, 1)
        sim = km.Simulation(
            task.robot,
            step=STEP,
            integrator="semi_implicit_euler",
            contact=Contact(surface=Surface(friction=FRICTION)),
            start=(q, v),
        )
        runs = effort.share(self.runs)
        batch = sim.batch(runs)
        contenders = {"ours": Contender(lambda: batch.step(COUNT), runs * COUNT)}
        remarks = "per state and step"
        with threads(1):
            batch.step(SETTLING)
            if MuJoCo.installed():
                peer = _MuJoCoStanding(task.mechanism, q, runs)
                peer.step(SETTLING)
                apart = 1e3 * abs(peer.height() - batch.q[0, 6])
                remarks += f"; after {SETTLING * STEP:g} s the heights of the bases differ by {apart:.1f} mm{self.why}"
                contenders["peer"] = Contender(lambda: peer.step(COUNT), runs * COUNT)
            timings = by_turns(contenders, effort.rounds, clock=thread_seconds)
        what = f"step of {1e3 * STEP:g} ms, {runs} states"
        yield Row(self.name, what, timings["ours"], at_most=self.at_most, remarks=remarks)
        if "peer" in timings:
            yield Row(
                self.name, what, timings["ours"], "mujoco.batch, one thread", timings["peer"], self.faster, remarks=remarks
            )


@dataclass(frozen=True)
class CassieStanding(Case):
    """Cassie, whose legs close four loops, standing on its feet by the drives of its motors.

    There is no row beside MuJoCo: its loops are soft constraints, which open under the weight.
    """

    at_most: float
    runs: int = 256
    name: str = "standing_cassie"
    title: str = "Cassie stands on a floor by position drives, 256 states side by side"

    @property
    def missing(self) -> str:  # type: ignore[override]
        folder = robots_folder()
        return "" if folder is not None and (folder / cassie.FILE).exists() else "example-robot-data"

    def rows(self, effort: Effort) -> Iterator[Row]:
        robot, q = cassie.standing()
        runs, contact = effort.share(self.runs), Contact(surface=Surface(friction=FRICTION))
        start = q, np.zeros(robot.nv)
        sim = km.Simulation(robot, step=STEP, integrator="semi_implicit_euler", contact=contact, start=start)
        batch = sim.batch(runs)
        with threads(1):
            batch.step(SETTLING)
            timed = {"ours": Contender(lambda: batch.step(COUNT), runs * COUNT)}
            timings = by_turns(timed, effort.rounds, clock=thread_seconds)
        gap = max(gap.distance for gap in km.Robot(robot).constraint_residual(batch.q))
        what = f"step of {1e3 * STEP:g} ms, {runs} states"
        fastest = np.abs(batch.v).max()
        told = f"per state and step; none moves faster than {fastest:.0e} rad/s, loops open by {gap:.0e} m; README: its parts"
        yield Row(self.name, what, timings["ours"], at_most=self.at_most, remarks=told)


class _MuJoCoStanding:
    """The same robot, drives and floor by `mujoco.batch`; its contact is soft, as it comes.

    Its friction is, too, so that loaded feet creep: ANYmal's legs spread, and its base sinks by 30 mm in 1 s and by 60 mm in
    4 s, where ours rests. With its elliptic cone and `impratio` 100 the feet stay, and the heights differ by 6 mm.
    """

    def __init__(self, mechanism: Mechanism, q: np.ndarray, runs: int):
        mujoco, batches = (importlib.import_module(name) for name in ("mujoco", "mujoco.batch"))
        bare = replace(mechanism, bodies=tuple(replace(body, visuals=()) for body in mechanism.bodies))
        with TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", KumitateWarning)  # of what MJCF cannot say
            path = Path(folder) / "peer.xml"
            km.Robot(bare).save(path)
            spec = mujoco.MjSpec.from_file(str(path))
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], friction=[FRICTION, 0.005, 0.0001])
        spec.option.timestep, spec.option.integrator = STEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        model = spec.compile()
        order = mujoco_order(bare, model)
        self._batch: Any = batches.Batch(model, runs, nthread=1)
        self._batch.bind("qpos")[:] = order.to(q)
        joints = model.actuator_trnid[:, 0]
        self._batch.bind("ctrl")[:] = order.to(q)[model.jnt_qposadr[joints]]

    def step(self, count: int) -> None:
        """So many steps of all states."""
        self._batch.step(nstep=count)

    def height(self) -> float:
        """Of the base of the first state [m]."""
        return float(self._batch.bind("qpos")[0, 2])
