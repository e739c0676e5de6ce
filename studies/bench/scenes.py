"""Scenes of many free bodies: a step of ours and of MuJoCo's, and how well each keeps the laws."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from kumitate.contact.scene import ACCURACIES, Contact
from kumitate.contact.surface import Surface
from kumitate.measure.timing import Effort, Timing, thread_seconds
from kumitate.model import Body, Box, Capsule, Cylinder, Geometry, Mechanism, Plane, Shape, Sphere
from kumitate.model.convert import mujoco as mujoco_order
from kumitate.model.write.mjcf import KINDS_OF_GEOMS
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
MIXED = BRICK, Sphere(0.08), Capsule(0.06, 0.08), Cylinder(0.08, 0.12)
#: The ends of stretches of 0.25 s, then of 0.5 s [s].
QUARTERS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5)
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
        faster: the target of every stretch beside MuJoCo, at any step; at_most: targets for our seconds a step of 1 ms; None
            where there is none.
        large: whether enough bodies touch that the accuracy counts: steps are timed strict, too.
    """

    title: str
    make: Callable[[], tuple[Mechanism, Contact, np.ndarray, np.ndarray]]
    ends: tuple[float, ...]
    small: bool = False
    sleeping: bool = False
    rounds: int = 2
    solver: str = "Newton"
    faster: float | None = None
    at_most: tuple[float | None, ...] = ()
    large: bool = False


def thrown(
    count: int, seed: int = 1, half: float | None = None, shapes: Sequence[Shape] = (BRICK,)
) -> tuple[Mechanism, Contact, np.ndarray, np.ndarray]:  # fmt: skip
    """Bricks thrown into a bin, turned at random; half: of its width [m]; shapes: of the bodies in turn."""
    rng, half = np.random.default_rng(seed), half or 0.09 * max(round(math.sqrt(count)), 2) + 0.15
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
    return unconnected(*(_solid(f"brick{i}", shapes[i % len(shapes)]) for i in range(count))), contact, q, v


def _solid(name: str, shape: Shape) -> Body:
    """A body of 1 kg; other shapes than boxes and balls have the inertia of the box around them."""
    if isinstance(shape, Box | Sphere):
        return solid(name, shape)
    points, radius = shape.support()
    x, y, z = (np.ptp(points, axis=0) + 2.0 * radius) ** 2 / 12.0
    return Body(name, 1.0, inertia=(y + z, x + z, x + y), visuals=(Geometry(shape),), collisions=(Geometry(shape),))


def piled(*masses: float) -> tuple[Mechanism, Contact, np.ndarray, np.ndarray]:
    """Bricks on one another."""
    q = np.zeros((len(masses), 7))
    q[:, 3], q[:, 6] = 1.0, 0.06 + 0.12 * np.arange(len(masses))
    mechanism = unconnected(*(solid(f"brick{i}", BRICK, mass) for i, mass in enumerate(masses)))
    return mechanism, Contact(), q, np.zeros((len(masses), 6))


def cube_of_balls(side: int = 6) -> tuple[Mechanism, Contact, np.ndarray, np.ndarray]:
    """SimBenchmark's 666 test: smooth balls of 10 kg in a cube, slightly out of order, fall and spread."""
    places = 1.05 * np.array(list(np.ndindex(side, side, side)), float) + [0.0, 0.0, 1.5]
    q = np.zeros((side**3, 7))
    q[:, 3], q[:, 4:] = 1.0, places + np.random.default_rng(42).uniform(-0.01, 0.01, places.shape)
    balls = unconnected(*(solid(f"ball{k}", Sphere(0.5), 10.0) for k in range(side**3)))
    return balls, Contact(surface=Surface(0.0)), q, np.zeros((side**3, 6))


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
    Scene("100 bricks thrown into a bin", lambda: thrown(100), QUARTERS, faster=2.0, large=True),
    Scene("100 bricks thrown into a bin of 1.7 m", lambda: thrown(100, half=0.85), QUARTERS, faster=2.0, large=True),
    Scene("100 mixed shapes", lambda: thrown(100, shapes=MIXED), QUARTERS[:6], rounds=1, faster=1.5, large=True),
    Scene("300 mixed shapes", lambda: thrown(300, shapes=MIXED), QUARTERS[:4], rounds=1, faster=1.5, large=True),
    Scene("300 bricks thrown into a bin", lambda: thrown(300), QUARTERS[:4], rounds=1, faster=2.0, large=True),
    Scene("666: 216 smooth balls", cube_of_balls, (0.5, 1.0, 1.5), faster=1.5, large=True),
    Scene(
        "1000 bricks thrown into a bin", lambda: thrown(1000), (0.2, 0.4, 0.5, 0.54), rounds=1, solver="CG", faster=2.0,
        large=True,
    ),
    Scene("a wall of 1000 bricks", lambda: wall(20, 50), (0.04, 0.08), rounds=1, solver="CG", at_most=(None, 4e-3)),
)  # fmt: skip


@dataclass(frozen=True)
class Scenes(Case):
    """Steps of scenes of many bodies with rigid contact, beside MuJoCo's with soft contact as it comes.

    The motions are not the same: MuJoCo's contact is soft, and piles are chaotic. Each side goes its own way from one start.
    Neither records anything while it is timed; residuals are of the same motion, made once more with records.
    """

    settings: Settings = DEFAULT
    steps: tuple[float, ...] = (STEP, 2e-3, 5e-3, 1e-2)

    name = "scenes"
    title = "scenes of many bodies"
    peer = "MuJoCo"

    def rows(self, effort: Effort) -> Iterator[Row]:
        quick = effort.scale < 1.0
        for scene in SCENES:
            for step in self.steps if scene.small or not quick else ():
                yield from self._rows(scene, step, 1 if quick else scene.rounds, effort.scale)

    def _rows(self, scene: Scene, step: float, rounds: int, scale: float) -> Iterator[Row]:
        mechanism, contact, q, v = scene.make()
        ends = scene.ends if scale == 1.0 else scene.ends[:1]
        counts = [round((end - start) / step * min(1.0, 2.0 * scale)) for start, end in zip((0.0, *ends), ends, strict=False)]
        contact = replace(contact, options={"sleeping": 1.0} if scene.sleeping else {})
        sides: dict[str, _Ours | _Theirs] = {
            accuracy: _Ours(mechanism, replace(contact, accuracy=accuracy), q, v, step, counts)
            for accuracy in ACCURACIES[: 2 if scene.large else 1]
        }
        settings = replace(self.settings, solver=scene.solver)
        if MuJoCo.installed():
            sides["peer"] = _Theirs(mechanism, contact, settings, q, v, step, counts)
        for side in sides.values():
            if isinstance(side, _Ours):
                side.remarks()  # calls, and so compiles, all that the motion needs
        seconds: dict[str, list[list[float]]] = {name: [] for name in sides}
        for _ in range(rounds):
            for name, side in sides.items():
                seconds[name].append(side.run())
        timings = {
            name: [Timing.of(list(some), count) for some, count in zip(zip(*found, strict=True), counts, strict=True)]
            for name, found in seconds.items()
        }
        beside = f"MuJoCo's {scene.solver}, {self.settings.name}"
        for accuracy, side in sides.items():
            for k, (begin, end) in enumerate(zip((0.0, *ends), ends, strict=False) if isinstance(side, _Ours) else ()):
                what = f"a step of {1e3 * step:g} ms, {begin:g} to {end:g} s{', strict' if accuracy == 'strict' else ''}"
                (left, remarks), peer = side.remarks()[k], None
                what += f": leaves {left}"
                if "peer" in sides:
                    theirs = sides["peer"].remarks()[k]
                    what, peer, remarks = f"{what}, MuJoCo {theirs[0]}", timings["peer"][k], f"{remarks}; {theirs[1]}"
                at_most = scene.at_most[k] if scene.at_most and step == STEP and accuracy != "strict" else None
                faster = scene.faster if accuracy != "strict" else None
                yield Row(
                    scene.title, what, timings[accuracy][k], beside, peer, at_least=faster, at_most=at_most, remarks=remarks
                )


class _Ours:
    """Steps of ours; once more with records, for how well the laws are kept."""

    def __init__(
        self, mechanism: Mechanism, contact: Contact, q: np.ndarray, v: np.ndarray, step: float, counts: Sequence[int]
    ):
        self.simulation = MechanismSimulation(Setup(mechanism, contact=contact, step=step))
        self.start, self.counts = (q.ravel(), v.ravel()), counts
        simulation = MechanismSimulation(Setup(mechanism, contact=contact, step=step))
        assert isinstance(simulation.compiled, ManyBodies)
        self.stepper = simulation.compiled.stepper(simulation.actuation, step, *self.start)
        self.stepper.run({}, 1, 1)  # compiles, and makes the scene

    def run(self) -> list[float]:
        """The seconds of every stretch."""
        self.stepper.begin(*self.start)
        seconds = []
        for count in self.counts:
            begin = thread_seconds()
            self.stepper.run({}, 1, count)
            seconds.append(thread_seconds() - begin)
        return seconds

    @cache  # noqa: B019
    def remarks(self) -> list[tuple[str, str]]:
        """Of every stretch the largest residual, and what else is worth saying."""
        self.stepper.begin(*self.start)
        stepper, found = self.stepper, []
        for count in self.counts:
            stepper.run({}, count, 1)
            left, depth = stepper.logged[-1].sums[:, 0], stepper.logged[-1].sums[:, 2]
            rounds, newton = stepper.logged[-1].sums[:, 5:7].mean(axis=0)
            points = stepper.scene.counts[5]
            more = f"residual's median {np.median(left):.0e} m/s, above 1e-6 in {(left > 1e-6).mean():.1%} of steps"
            more += f", {rounds:.1f} rounds and {newton:.1f} Newton steps; {points} points in the end, {depth.max():.0e} m deep"
            found.append((f"{left.max():.0e} m/s", f"{more}; {_bytes(stepper.scene) / 1e6:.2g} MB"))
        return found


def _bytes(arrays: Any) -> int:
    """The memory of the arrays of a scene, which is all that grows with its bodies."""
    if isinstance(arrays, tuple):
        return sum(map(_bytes, arrays))
    return int(getattr(arrays, "nbytes", 0))


class _Theirs:
    """Steps of MuJoCo."""

    def __init__(
        self, mechanism: Mechanism, contact: Contact, settings: Settings, q: np.ndarray, v: np.ndarray, step: float,
        counts: Sequence[int],
    ):  # fmt: skip
        self.mujoco: Any = importlib.import_module("mujoco")
        self.model = self.mujoco.MjModel.from_xml_string(mjcf(mechanism, contact, settings, step))
        self.start, self.counts = mujoco_order(mechanism, self.model).to(q.ravel(), v.ravel()), counts
        self.depths, self.missed = [0.0] * len(counts), [0.0] * len(counts)

    def run(self) -> list[float]:
        """The seconds of every stretch."""
        data, seconds = self.mujoco.MjData(self.model), []
        data.qpos[:], data.qvel[:] = self.start[:2]
        for k, count in enumerate(self.counts):
            begin = thread_seconds()
            self.mujoco.mj_step(self.model, data, count)
            seconds.append(thread_seconds() - begin)
            self.depths[k] = max(self.depths[k], -float(min(data.contact.dist, default=0.0)))
            self.missed[k] = max(self.missed[k], missed_by(self.mujoco, self.model, data))
        return seconds

    def remarks(self) -> list[tuple[str, str]]:
        """How well the laws are kept at the end of every stretch."""
        pairs = zip(self.depths, self.missed, strict=True)
        return [(f"{missed:.0e} m/s", f"MuJoCo {sunk:.0e} m deep at the end") for sunk, missed in pairs]


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
        u[0] += max(contact.dist, 0.0) / model.opt.timestep
        mass = min(float(model.body_mass[body]) for body in bodies if body > 0)
        impulse = model.opt.timestep * force[:3]
        aim = impulse - mass * u
        aim[0] = max(aim[0], 0.0)
        aim[1:] *= min(1.0, float(contact.friction[0]) * aim[0] / max(float(np.linalg.norm(aim[1:])), 1e-300))
        worst = max(worst, float(np.abs(impulse - aim).max()) / mass)
    return worst


def mjcf(mechanism: Mechanism, contact: Contact, settings: Settings, step: float = STEP) -> str:
    tree = mechanism.tree
    ground = "".join(f'<geom type="plane" size="0 0 1" {placed(item.pose)}/>' for item in contact.on(mechanism).ground or ())
    bodies = ""
    for body in mechanism.bodies:
        link = tree.links[tree.places[body.name].link]
        geometry = body.collisions[0]
        geom = f'<geom type="{geometry.shape.kind}" size="{listed(KINDS_OF_GEOMS[geometry.shape.kind](geometry.shape))}"/>'
        bodies += f'<body name="{link.name}"><freejoint name="{link.name}"/>{inertial(link)}{geom}</body>'
    friction = contact.of("ground").friction
    return (
        f'<mujoco><size memory="200M"/><option timestep="{step!r}" gravity="{listed(mechanism.gravity)}" '
        f'solver="{settings.solver}" cone="{settings.cone}" tolerance="{settings.tolerance!r}" '
        f'impratio="{settings.impratio!r}"/>'
        f'<default><geom friction="{friction!r} 0 0" solref="{listed(settings.solref)}" solimp="{listed(settings.solimp)}" '
        f'condim="3"/></default><worldbody>{ground}{bodies}</worldbody></mujoco>'
    )
