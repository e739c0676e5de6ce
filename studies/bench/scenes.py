"""Scenes of many free bodies: a step of ours and of MuJoCo's, and how well each keeps the laws."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kumitate.contact.scene import Contact
from kumitate.measure.timing import Effort, Timing, thread_seconds
from kumitate.model import Box, Geometry, Mechanism, Plane, Sphere
from kumitate.model.convert import mujoco as mujoco_order
from kumitate.simulate.scenes.many_bodies import ManyBodies
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose
from kumitate_problems.contact import solid, unconnected

from .contract import Case
from .mujoco_floor import DEFAULT, Settings
from .mujoco_peer import MuJoCo, inertial, listed, placed
from .report import Row

__all__ = ["STEP", "Scene", "Scenes", "missed_by", "mjcf", "piled", "thrown"]

BRICK = Box((0.2, 0.16, 0.12))
STEP = 1e-3


@dataclass(frozen=True)
class Scene:
    """A scene, and the stretches of it that are timed.

    Attributes:
        make: gives the mechanism, its contact, and the start q (n, 7) and v (n, 6).
        ends: of the stretches [s].
        small: whether it is quick enough for a trial.
        sleeping: whether bodies may sleep.
        rounds: how often it is run at full effort.
        solver: of MuJoCo.
        faster: targets of the stretches beside MuJoCo; `at_most`: for our seconds a step; None where there is none.
    """

    title: str
    make: Callable[[], tuple[Mechanism, Contact, np.ndarray, np.ndarray]]
    ends: tuple[float, ...]
    small: bool = False
    sleeping: bool = False
    rounds: int = 2
    solver: str = "Newton"
    faster: tuple[float | None, ...] = ()
    at_most: tuple[float | None, ...] = ()


def thrown(count: int, seed: int = 1) -> tuple[Mechanism, Contact, np.ndarray, np.ndarray]:
    """Bricks thrown into a bin, turned at random."""
    rng, half = np.random.default_rng(seed), 0.09 * max(round(math.sqrt(count)), 2) + 0.15
    walls = [pose((half, 0.0, 0.0), rpy=(0.0, -math.pi / 2, 0.0)), pose((-half, 0.0, 0.0), rpy=(0.0, math.pi / 2, 0.0))]
    walls += [pose((0.0, half, 0.0), rpy=(math.pi / 2, 0.0, 0.0)), pose((0.0, -half, 0.0), rpy=(-math.pi / 2, 0.0, 0.0))]
    contact = Contact(ground=[Geometry(Plane()), *(Geometry(Plane(), wall) for wall in walls)])
    v, q = rng.normal(size=(count, 6)) * 0.5, np.zeros((count, 7))
    q[:, :4] = rng.normal(size=(count, 4))
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    side = max(int(2.0 * (half - 0.16) / 0.27), 1)
    k = np.arange(count)
    columns = [(k % side - 0.5 * (side - 1)) * 0.27, (k // side % side - 0.5 * (side - 1)) * 0.27, 0.2 + 0.27 * (k // side**2)]
    q[:, 4:] = np.column_stack(columns)
    return unconnected(*(solid(f"brick{i}", BRICK) for i in range(count))), contact, q, v


def piled(*masses: float) -> tuple[Mechanism, Contact, np.ndarray, np.ndarray]:
    """Bricks on one another."""
    q = np.zeros((len(masses), 7))
    q[:, 3], q[:, 6] = 1.0, 0.06 + 0.12 * np.arange(len(masses))
    mechanism = unconnected(*(solid(f"brick{i}", BRICK, mass) for i, mass in enumerate(masses)))
    return mechanism, Contact(), q, np.zeros((len(masses), 6))


def wall(rows: int, columns: int) -> tuple[Mechanism, Contact, np.ndarray, np.ndarray]:
    """A wall of bricks, every other row moved by a quarter of a brick, so that its ends stand firmly."""
    q = []
    for row in range(rows):
        for column in range(columns):
            q.append([0.0, 0.0, 0.0, 1.0, 0.2 * (column + 0.25 * (row % 2)), 0.0, 0.06 + 0.12 * row])
    mechanism = unconnected(*(solid(f"brick{i}", BRICK) for i in range(len(q))))
    return mechanism, Contact(), np.array(q), np.zeros((len(q), 6))


SCENES = (
    # one of these ten spins on its edge until 2 s: only the last stretch is at rest
    Scene(
        "10 bricks thrown into a bin", lambda: thrown(10), (0.5, 1.0, 2.5, 3.0), small=True, at_most=(20e-6, 20e-6, None, 8e-6)
    ),
    Scene("a stack of 20 bricks", lambda: piled(*(1.0,) * 20), (0.5,), small=True, at_most=(15e-6,)),
    Scene("1000 kg on 1 kg on 1 kg", lambda: piled(1.0, 1.0, 1000.0), (0.5,), small=True, at_most=(4e-6,)),
    Scene("a wall of 100 bricks", lambda: wall(10, 10), (0.2, 0.4), at_most=(None, 150e-6)),
    Scene("a wall of 100 bricks, sleeping", lambda: wall(10, 10), (0.2, 0.4), sleeping=True, at_most=(None, 10e-6)),
    Scene(
        "100 bricks thrown into a bin", lambda: thrown(100), (0.5, 1.0, 1.5, 2.0, 2.5), faster=(1.25, 1.25, 1.25, 7.7, 7.7)
    ),
    Scene("1000 bricks thrown into a bin", lambda: thrown(1000), (0.4, 0.5, 0.54), rounds=1, solver="CG", faster=(1.0,) * 3),
    Scene("a wall of 1000 bricks", lambda: wall(20, 50), (0.04, 0.08), rounds=1, solver="CG", at_most=(None, 4e-3)),
)  # fmt: skip


@dataclass(frozen=True)
class Scenes(Case):
    """Steps of 1 ms of scenes of many bodies with rigid contact, beside MuJoCo's with soft contact as it comes.

    The motions are not the same: MuJoCo's contact is soft, and piles are chaotic. Each side goes its own way from one start.
    Neither records anything while it is timed; residuals are of the same motion, made once more with records.
    """

    settings: Settings = DEFAULT

    name = "scenes"
    title = "scenes of many bodies"
    peer = "MuJoCo"

    def rows(self, effort: Effort) -> Iterator[Row]:
        quick = effort.scale < 1.0
        for scene in SCENES:
            if scene.small or not quick:
                yield from self._rows(scene, 1 if quick else scene.rounds, effort.scale)

    def _rows(self, scene: Scene, rounds: int, scale: float) -> Iterator[Row]:
        mechanism, contact, q, v = scene.make()
        ends = scene.ends if scale == 1.0 else scene.ends[:1]
        counts = [round((end - start) / STEP * min(1.0, 2.0 * scale)) for start, end in zip((0.0, *ends), ends, strict=False)]
        contact = Contact(ground=contact.ground, options={"sleeping": 1.0} if scene.sleeping else {})
        ours = _ours(mechanism, contact, q, v, counts, rounds)
        settings = replace(self.settings, solver=scene.solver)
        theirs = _theirs(mechanism, contact, settings, q, v, counts, rounds) if MuJoCo.installed() else None
        for k, (begin, end) in enumerate(zip((0.0, *ends), ends, strict=False)):
            timing, facts = ours[k]
            remarks = (
                f"residual at most {facts.residual:.0e} m/s, its median {facts.median:.0e}, above 1e-8 in {facts.fine:.1%} "
                f"and above 1e-6 in {facts.coarse:.1%} of steps, {facts.depth:.0e} m deep; {facts.bytes / 1e6:.2g} MB"
            )
            other = None
            if theirs is not None:
                other, sunk, missed = theirs[k]
                remarks += f"; MuJoCo {sunk:.0e} m deep, residual {missed:.0e} m/s at the end"
            what, beside = f"a step, {begin:g} to {end:g} s", f"MuJoCo's {scene.solver}, {self.settings.name}"
            faster, at_most = ((some[k] if some else None) for some in (scene.faster, scene.at_most))
            yield Row(scene.title, what, timing, beside, other, at_least=faster, at_most=at_most, remarks=remarks)


class Facts(NamedTuple):
    """Of a stretch: the largest residual and its median [m/s], the parts of steps above 1e-8 and 1e-6 m/s, depth [m], bytes."""

    residual: float
    median: float
    fine: float
    coarse: float
    depth: float
    bytes: int


def _ours(
    mechanism: Mechanism, contact: Contact, q: np.ndarray, v: np.ndarray, counts: list[int], rounds: int
) -> list[tuple[Timing, Facts]]:
    """For every stretch: seconds per step, and how well the laws are kept."""
    simulation = MechanismSimulation(Setup(mechanism, contact=contact, step=STEP))
    steps = simulation.compiled
    assert isinstance(steps, ManyBodies)
    simulation.step(simulation.start(q.ravel(), v.ravel()))  # compiles
    seconds: list[list[float]] = [[] for _ in counts]
    for _ in range(rounds):
        stepper = steps.stepper(simulation.actuation, STEP, q.ravel(), v.ravel())
        for k, count in enumerate(counts):
            begin = thread_seconds()
            stepper.run({}, 1, count)
            seconds[k].append(thread_seconds() - begin)
    stepper, facts = steps.stepper(simulation.actuation, STEP, q.ravel(), v.ravel()), []
    for count in counts:
        stepper.run({}, count, 1)
        left, depth = stepper.logged[-1].sums[:, 0], stepper.logged[-1].sums[:, 2]
        facts.append(
            Facts(
                float(left.max()), float(np.median(left)), float((left > 1e-8).mean()), float((left > 1e-6).mean()),
                float(depth.max()), _bytes(stepper.scene),
            )
        )  # fmt: skip
    return [(Timing.of(some, count), fact) for some, count, fact in zip(seconds, counts, facts, strict=True)]


def _bytes(arrays: Any) -> int:
    """The memory of the arrays of a scene, which is all that grows with its bodies."""
    if isinstance(arrays, tuple):
        return sum(map(_bytes, arrays))
    return int(getattr(arrays, "nbytes", 0))


def _theirs(
    mechanism: Mechanism, contact: Contact, settings: Settings, q: np.ndarray, v: np.ndarray, counts: list[int], rounds: int
) -> list[tuple[Timing, float, float]]:
    """For every stretch: seconds per step of MuJoCo, and at its end the depth [m] and the residual of the laws [m/s]."""
    mujoco: Any = importlib.import_module("mujoco")
    model = mujoco.MjModel.from_xml_string(mjcf(mechanism, contact, settings))
    data = mujoco.MjData(model)
    start = mujoco_order(mechanism, model).to(q.ravel(), v.ravel())
    seconds: list[list[float]] = [[] for _ in counts]
    depths, missed = [0.0 for _ in counts], [0.0 for _ in counts]
    for _ in range(rounds):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = start[:2]
        for k, count in enumerate(counts):
            begin = thread_seconds()
            mujoco.mj_step(model, data, count)
            seconds[k].append(thread_seconds() - begin)
            depths[k] = max(depths[k], -float(min(data.contact.dist, default=0.0)))
            missed[k] = max(missed[k], missed_by(mujoco, model, data))
    times = (Timing.of(some, count) for some, count in zip(seconds, counts, strict=True))
    return list(zip(times, depths, missed, strict=True))


def missed_by(mujoco: Any, model: Any, data: Any) -> float:
    """The largest |λ − cone(λ − m u)| / m of MuJoCo's contacts [m/s], m being the mass of the lighter body.

    λ is the impulse of the last step, u the velocity after it, by how much it exceeds what closes a gap.
    """
    worst = 0.0
    for k in range(data.ncon):
        contact, force, u = data.contact[k], np.zeros(6), np.zeros(3)
        mujoco.mj_contactForce(model, data, k, force)
        bodies = [int(model.geom_bodyid[geom]) for geom in contact.geom]
        for body, sign in zip(bodies, (-1.0, 1.0), strict=True):
            jacobian = np.zeros((3, model.nv))
            mujoco.mj_jac(model, data, jacobian, None, contact.pos, body)
            u += sign * (contact.frame.reshape(3, 3) @ (jacobian @ data.qvel))
        u[0] += max(contact.dist, 0.0) / STEP
        mass = min(float(model.body_mass[body]) for body in bodies if body > 0)
        impulse = STEP * force[:3]
        aim = impulse - mass * u
        aim[0] = max(aim[0], 0.0)
        aim[1:] *= min(1.0, float(contact.friction[0]) * aim[0] / max(float(np.linalg.norm(aim[1:])), 1e-300))
        worst = max(worst, float(np.abs(impulse - aim).max()) / mass)
    return worst


def mjcf(mechanism: Mechanism, contact: Contact, settings: Settings) -> str:
    tree = mechanism.tree
    ground = "".join(f'<geom type="plane" size="0 0 1" {placed(item.pose)}/>' for item in contact.on(mechanism).ground or ())
    bodies = ""
    for body in mechanism.bodies:
        link = tree.links[tree.places[body.name].link]
        geometry = body.collisions[0]
        sizes = [geometry.shape.radius] if isinstance(geometry.shape, Sphere) else [0.5 * x for x in geometry.shape.size]  # type: ignore[attr-defined]
        geom = f'<geom type="{geometry.shape.kind}" size="{listed(sizes)}"/>'
        bodies += f'<body name="{link.name}"><freejoint name="{link.name}"/>{inertial(link)}{geom}</body>'
    friction = contact.of("ground").friction
    return (
        f'<mujoco><size memory="200M"/><option timestep="{STEP!r}" gravity="{listed(mechanism.gravity)}" '
        f'solver="{settings.solver}" cone="{settings.cone}" tolerance="{settings.tolerance!r}" '
        f'impratio="{settings.impratio!r}"/>'
        f'<default><geom friction="{friction!r} 0 0" solref="{listed(settings.solref)}" solimp="{listed(settings.solimp)}" '
        f'condim="3"/></default><worldbody>{ground}{bodies}</worldbody></mujoco>'
    )
