"""Random scenes: bodies of mixed shapes, robots with limits and loops, thrown into a bin; how well contact keeps its laws.

A seed gives a scene: three to twenty bodies, of which some are links of robots, with random shapes, masses over two decades,
friction, restitution and walls. Every second robot has a closed loop; crowded scenes have four times as many bodies. For
every step: the residual of the contact laws, the momentum that bodies gave each other, and the energy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kumitate.analysis import assemble, loop_equations
from kumitate.contact.impulse.step import RESTING
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import (
    KINDS,
    Body,
    Box,
    Capsule,
    Coupling,
    Cylinder,
    Distance,
    Ellipsoid,
    Floating,
    Geometry,
    Hull,
    Joint,
    Limits,
    Loop,
    Mechanism,
    Plane,
    Shape,
    Sphere,
)
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose

__all__ = ["Kept", "random_scene", "run_scene", "run_scenes", "summary"]

G, STEP = 9.81, 1e-3
#: Robots are drawn from so many, which are compiled once each.
ROBOTS = 16
#: The bound of a step's residual, in m/s, and as a part of the fastest velocity of a contact point before the solve; and at
#: steps above 1 ms as a part of the speed that gravity gives in one.
BOUND, OF_FALL = 1e-8, 1e-6
#: The same in piles of more than `tuned.SMALL` bodies, whose accuracy follows the motion.
CROWDED = 2e-6, 1e-3


@dataclass(frozen=True)
class Kept:
    """What a scene kept.

    Attributes:
        seed, bodies, robots, loops: which scene it is.
        steps: made; missed: the numbers of those whose residual is above the bound.
        worst: residual [m/s]; warned: steps above 1e-3 of the speeds.
        momentum: the largest change of the linear momentum of all in a step beyond the impulses of the ground and weight, as a
            part of the momentum that moves (NaN with robots, whose steps keep momentum to order h).
        gained: the largest rise of the energy beyond what the audit reports: what contact gained, and twice the largest error
            of the integration, which may fall and rise [J]; scale: the largest kinetic energy [J].
        apart: how far loops ever were open [m].
        overlap: the deepest of the last twentieth of the time [m], where what began in a wall has been pushed out, beyond the
            way of the fastest point in a step: impacts within a step are not searched for.
        touching: contact points of the worst step, by the kinds of their shapes.
    """

    seed: int
    bodies: int
    robots: int
    loops: int
    steps: int
    missed: tuple[int, ...]
    worst: float
    warned: int
    momentum: float
    gained: float
    scale: float
    apart: float
    overlap: float
    touching: tuple[str, ...]


def random_shape(rng: np.random.Generator) -> Shape:
    """A shape of 5 to 25 cm."""
    a, b, c = (float(x) for x in rng.uniform(0.04, 0.12, 3))
    return [
        Box((2 * a, 2 * b, 2 * c)), Sphere(a), Capsule(0.6 * a, 2 * b), Cylinder(a, 1.5 * b), Ellipsoid((a, b, c)),
        Hull(tuple(map(tuple, rng.uniform(-1.0, 1.0, (10, 3)) * [a, b, c]))),
    ][rng.integers(6)]  # fmt: skip


def random_body(rng: np.random.Generator, name: str) -> Body:
    """A body of 0.1 to 10 kg with the inertia of the box around its shape."""
    shape, mass = random_shape(rng), float(10.0 ** rng.uniform(-1.0, 1.0))
    points, radius = shape.support()
    x, y, z = (np.ptp(points, axis=0) + 2.0 * radius) ** 2 / 12.0 * mass
    geometry = (Geometry(shape),)
    return Body(name, mass, inertia=(y + z, x + z, x + y), visuals=geometry, collisions=geometry)


def random_robot(number: int, name: str, *, loops: bool = True) -> Mechanism:
    """One of the robots: a floating chain of two to four links, every second one with a loop; without `loops` none."""
    rng = np.random.default_rng([7, number])
    kinds, count = ["revolute", "prismatic", "spherical"], int(rng.integers(2, 5))
    closed = str(rng.choice(["four-bar", "rod", "gear"])) if loops and number % 2 else ""
    if closed == "four-bar":
        return _four_bar(rng, name)
    if closed:
        kinds, count = (["revolute"] if closed == "gear" else kinds), max(count, 3)
    bodies = tuple(random_body(rng, f"{name}_{k}") for k in range(count))
    joints, reach = [Joint(f"{name}_base", Floating(), "world", bodies[0].name)], np.zeros(3)
    for k in range(1, count):
        kind = str(rng.choice(kinds))
        axis = tuple(rng.normal(size=3)) if kind != "spherical" else (0.0, 0.0, 1.0)
        limits = (Limits(-0.4, 0.6) if kind == "revolute" else Limits(-0.05, 0.1),) if kind != "spherical" else ()
        at = rng.uniform(-1.0, 1.0, 3) * [0.05, 0.05, 0.0] + [0.0, 0.0, 0.24]
        reach += at
        joints.append(
            Joint(
                f"{name}_{k}", KINDS[kind], bodies[k - 1].name, bodies[k].name, axis=axis, pose=pose(tuple(at)),
                limits=limits, damping=float(rng.choice([0.0, 0.1])),
            )
        )  # fmt: skip
    rod = Loop(f"{name}_rod", Distance(float(np.linalg.norm(reach))), bodies[0].name, bodies[-1].name)
    gear = Coupling(f"{name}_gear", joints[-1].name, joints[-2].name, ratio=-0.5)
    return Mechanism(
        name, bodies, tuple(joints), (rod,) if closed == "rod" else (), couplings=(gear,) if closed == "gear" else ()
    )


def _four_bar(rng: np.random.Generator, name: str) -> Mechanism:
    """Four links with hinges about one axis, in a kite: half of the rows of the loop depend on others."""
    bodies = tuple(random_body(rng, f"{name}_{k}") for k in range(4))
    corners = np.array([[0.0, 0.0, 0.0], [0.08, 0.0, 0.2], [0.0, 0.0, 0.4], [-0.08, 0.0, 0.2]])
    corners[1:, 0::2] += rng.uniform(-0.02, 0.02, (3, 2))
    about = (0.0, 1.0, 0.0)
    joints = [Joint(f"{name}_base", Floating(), "world", bodies[0].name)]
    for k in range(1, 4):
        at, damping = pose(tuple(corners[k] - corners[k - 1])), float(rng.choice([0.0, 0.1]))
        one, other = bodies[k - 1].name, bodies[k].name
        joints.append(Joint(f"{name}_{k}", KINDS["revolute"], one, other, axis=about, pose=at, damping=damping))
    last = Loop(f"{name}_last", KINDS["revolute"], bodies[3].name, bodies[0].name, pose(tuple(-corners[3])), axis=about)
    return Mechanism(name, bodies, tuple(joints), (last,))


def random_scene(
    seed: int, *, loops: bool = True, turning: bool = False, crowded: bool = False
) -> tuple[Mechanism, Contact, np.ndarray, np.ndarray, int]:  # fmt: skip
    """A scene: its mechanism, contact, start, and how many robots are in it; `turning`: with torsional and rolling friction."""
    rng = np.random.default_rng([3, seed])
    total, robots = int(rng.integers(3, 21)) * (4 if crowded else 1), int(rng.choice([0, 0, 0, 1, 2]))
    found = [random_robot(int(rng.integers(ROBOTS)), f"robot{k}", loops=loops) for k in range(robots)]
    starts = [(True, [x for joint in robot.joints[1:] for x in joint.kind.neutral()]) for robot in found]
    count = max(3, total - sum(len(robot.bodies) for robot in found))
    bodies = [random_body(rng, f"body{k}") for k in range(count)]
    joints = [Joint(f"free{k}", Floating(), "world", f"body{k}") for k in range(count)]
    starts += [(False, [])] * count
    mechanism = Mechanism(
        "scene",
        (*(body for robot in found for body in robot.bodies), *bodies),
        (*(joint for robot in found for joint in robot.joints), *joints),
        tuple(loop for robot in found for loop in robot.loops),
        couplings=tuple(coupling for robot in found for coupling in robot.couplings),
    )
    q: list[float] = []
    columns, side = 3 if crowded else 2, 0.45
    heights = [0.35] * columns**2
    for robot, rest in starts:
        corner = int(rng.integers(columns**2))
        turn = rng.normal(size=4) if not robot else np.array([0.0, 0.0, 0.0, 1.0])
        x, y = side * (corner % columns - 0.5 * (columns - 1)), side * (corner // columns - 0.5 * (columns - 1))
        q += [*(turn / np.linalg.norm(turn)), x, y, heights[corner] - (0.15 if robot else 0.0), *rest]
        heights[corner] += 1.2 if robot else 0.42
    half = float(rng.uniform(0.46, 0.8)) + (0.225 if crowded else 0.0)
    walls = [(half, 0.0, -1.0), (-half, 0.0, 1.0)]
    ground = [Geometry(Plane())]
    ground += [Geometry(Plane(), pose((x, 0.0, 0.0), rpy=(0.0, s * 0.5 * math.pi, 0.0))) for x, _, s in walls]
    ground += [Geometry(Plane(), pose((0.0, x, 0.0), rpy=(-s * 0.5 * math.pi, 0.0, 0.0))) for x, _, s in walls]
    surface = Surface(float(rng.choice([0.0, 0.2, 0.5, 0.9])), restitution=float(rng.choice([0.0, 0.0, 0.3, 0.8])))
    surface = replace(surface, torsional=0.004, rolling=0.002) if turning else surface
    v = rng.normal(size=mechanism.nv) * rng.choice([0.3, 1.0])
    closed_q, closed_v = assemble(loop_equations(mechanism), np.array(q), v)
    return mechanism, Contact(ground=ground, surface=surface), closed_q, closed_v, robots


def run_scene(seed: int, duration: float = 1.2, *, step: float = STEP, turning: bool = False, crowded: bool = False) -> Kept:
    """Runs the scene of a seed; `turning` and `crowded` as of `random_scene`."""
    mechanism, contact, q, v, robots = random_scene(seed, turning=turning, crowded=crowded)
    simulation = MechanismSimulation(Setup(mechanism, contact=contact, step=step, q=q, v=v))
    run = simulation.run(duration=duration)
    start = run.q[0], run.v[0]  # closed to the last bit: others lead to other motions
    stepper: Any = simulation.compiled.stepper(simulation.actuation, step, *start)
    stepper.run({}, len(run) - 1, 1)
    sums = np.concatenate([part.sums for part in stepper.logged])
    residual, part, small, large = sums[:, 0], sums[:, 1], sums[:, 9], sums[:, 10]
    # the speed of the island with the largest part is at most that of the one with the largest residual
    fastest = np.maximum(np.divide(residual, part, out=np.zeros_like(part), where=part > 0.0) - RESTING, 0.0)
    bound = max(BOUND, OF_FALL * G * step)
    missed = np.flatnonzero((small > bound * (1.0 + fastest)) | (large > CROWDED[0] + CROWDED[1] * fastest))
    touched = run.contact
    assert touched is not None
    worst = int(np.argmax(residual))
    kinds = {body.name: body.collisions[0].shape.kind for body in mechanism.bodies}
    touching = tuple(
        sorted("-".join(sorted(kinds.get(name, "plane") for name in pair)) for k, pair in enumerate(touched.bodies)
               if np.any(touched.force[worst, k]))
    )  # fmt: skip
    late = slice(-len(residual) // 20, None)
    way = step * float(np.linalg.norm(touched.velocity[late], axis=2).max(initial=0.0))
    overlap = max(0.0, float(touched.penetration[late].max()) - way)
    return Kept(
        seed, len(mechanism.bodies), robots, len(mechanism.loops) + len(mechanism.couplings), len(residual),
        tuple(int(k) for k in missed), float(residual.max()), int((part > 1e-3).sum()),
        _momentum(run, mechanism, step) if not robots else math.nan, _gained(run), float(run.energy.kinetic.max()),
        max((gap.distance for gap in run.audit.loop_gaps), default=0.0), overlap, touching,
    )  # fmt: skip


def _momentum(run: Any, mechanism: Mechanism, step: float) -> float:
    touched = run.contact
    ground = [k for k, pair in enumerate(touched.bodies) if "ground" in pair]
    given = touched.force[:, ground].sum(axis=1) + np.array([0.0, 0.0, -G * mechanism.tree.mass])
    change = np.diff(run.momentum[:, 3:], axis=0) - step * given[:-1]
    moving = float(np.abs(touched.force).sum(axis=1).max() * step + np.abs(run.momentum[:, 3:]).max())
    return float(np.abs(change).max()) / moving


def _gained(run: Any) -> float:
    """The rise of the energy above the least before, less what the audit reports [J]."""
    energy = run.energy.total
    rise = float((energy - np.minimum.accumulate(energy)).max())
    return max(0.0, rise - run.audit.contact.gained - 2.0 * run.audit.energy_drift)


def run_scenes(seeds: Iterable[int], progress: Callable[[int], None] | None = None, **how: Any) -> list[Kept]:
    """Runs scenes one after another, `how`: as of `run_scene`; `progress`: called with the number of scenes done."""
    found: list[Kept] = []
    for seed in seeds:
        found.append(run_scene(seed, **how))
        if progress is not None:
            progress(len(found))
    return found


def summary(found: list[Kept]) -> dict[str, Any]:
    """The figures of all scenes together, by name."""
    steps, missed = sum(one.steps for one in found), sum(len(one.missed) for one in found)
    return {
        "scenes": len(found),
        "with robots": sum(bool(one.robots) for one in found),
        "with loops": sum(bool(one.loops) for one in found),
        "steps": steps,
        "steps within the bound": f"{1.0 - missed / steps:.3%}",
        "steps that miss it": missed,
        "in scenes": sum(bool(one.missed) for one in found),
        "largest residual [m/s]": max(one.worst for one in found),
        "steps above 1e-3 of the speeds": sum(one.warned for one in found),
        "momentum, as a part": max((one.momentum for one in found if not one.robots), default=0.0),
        "loops open by [m]": max(one.apart for one in found),
        "scenes that end 1 cm deep": sum(one.overlap > 0.01 for one in found),
        "rise of energy beyond the audit [J]": max(one.gained for one in found),
    }
