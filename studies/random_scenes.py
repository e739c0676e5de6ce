"""Random scenes: bodies of mixed shapes and robots with limits, thrown into a bin; how well the laws of contact are kept.

A seed gives a scene: three to twenty bodies, of which some are links of robots, with random shapes, masses over two decades,
friction, restitution and walls. For every step: the residual of the contact laws, the momentum that bodies gave each other, and
the energy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kumitate.contact.impulse.step import RESTING
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import (
    KINDS,
    Body,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Floating,
    Geometry,
    Hull,
    Joint,
    Limits,
    Mechanism,
    Plane,
    Shape,
    Sphere,
)
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose

__all__ = ["Kept", "random_scene", "run_scene", "run_scenes", "summary"]

G, STEP = 9.81, 1e-3
#: Robots are drawn from so many, which are compiled once each.
ROBOTS = 16
#: The bound of a step's residual, in m/s, and as a part of the fastest velocity of a contact point before the solve.
BOUND = 1e-8


@dataclass(frozen=True)
class Kept:
    """What a scene kept.

    Attributes:
        seed, bodies, robots: which scene it is.
        steps: made; missed: the numbers of those whose residual is above the bound.
        worst: residual [m/s]; warned: steps above 1e-3 of the speeds.
        momentum: the largest change of the linear momentum of all in a step beyond the impulses of the ground and weight, as a
            part of the momentum that moves (NaN with robots, whose steps keep momentum to order h).
        gained: the largest rise of the energy beyond what the audit reports: what contact gained, and twice the largest error
            of the integration, which may fall and rise [J]; scale: the largest kinetic energy [J].
        touching: contact points of the worst step, by the kinds of their shapes.
    """

    seed: int
    bodies: int
    robots: int
    steps: int
    missed: tuple[int, ...]
    worst: float
    warned: int
    momentum: float
    gained: float
    scale: float
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


def random_robot(number: int, name: str) -> tuple[tuple[Body, ...], tuple[Joint, ...], list[float]]:
    """The bodies and joints of one of the robots, a floating chain or star of two to four links, and its q without the base."""
    rng = np.random.default_rng([7, number])
    count = int(rng.integers(2, 5))
    bodies = tuple(random_body(rng, f"{name}_{k}") for k in range(count))
    joints, q = [Joint(f"{name}_base", Floating(), "world", bodies[0].name)], []
    for k in range(1, count):
        kind = str(rng.choice(["revolute", "prismatic", "spherical"]))
        axis = tuple(rng.normal(size=3)) if kind != "spherical" else (0.0, 0.0, 1.0)
        limits = (Limits(-0.4, 0.6) if kind == "revolute" else Limits(-0.05, 0.1),) if kind != "spherical" else ()
        at = pose(tuple(rng.uniform(-1.0, 1.0, 3) * [0.05, 0.05, 0.0] + [0.0, 0.0, 0.24]))
        joints.append(
            Joint(
                f"{name}_{k}", KINDS[kind], bodies[k - 1].name, bodies[k].name, axis=axis, pose=at, limits=limits,
                damping=float(rng.choice([0.0, 0.1])),
            )
        )  # fmt: skip
        q += [0.0, 0.0, 0.0, 1.0] if kind == "spherical" else [0.0]
    return bodies, tuple(joints), q


def random_scene(seed: int) -> tuple[Mechanism, Contact, np.ndarray, np.ndarray, int]:
    """A scene: its mechanism, contact, start, and how many robots are in it."""
    rng = np.random.default_rng([3, seed])
    total, robots = int(rng.integers(3, 21)), int(rng.choice([0, 0, 0, 1, 2]))
    bodies: list[Body] = []
    joints: list[Joint] = []
    starts: list[tuple[bool, list[float]]] = []
    for k in range(robots):
        found = random_robot(int(rng.integers(ROBOTS)), f"robot{k}")
        bodies += found[0]
        joints += found[1]
        starts.append((True, found[2]))
    for k in range(max(3, total - len(bodies))):
        bodies.append(random_body(rng, f"body{k}"))
        joints.append(Joint(f"free{k}", Floating(), "world", f"body{k}"))
        starts.append((False, []))
    mechanism = Mechanism("scene", tuple(bodies), tuple(joints))
    q: list[float] = []
    heights, side = [0.35, 0.35, 0.35, 0.35], 0.45
    for robot, rest in starts:
        corner = int(rng.integers(4))
        turn = rng.normal(size=4) if not robot else np.array([0.0, 0.0, 0.0, 1.0])
        x, y = side * (corner % 2 - 0.5), side * (corner // 2 - 0.5)
        q += [*(turn / np.linalg.norm(turn)), x, y, heights[corner] - (0.15 if robot else 0.0), *rest]
        heights[corner] += 1.2 if robot else 0.42
    half = float(rng.uniform(0.46, 0.8))
    walls = [(half, 0.0, -1.0), (-half, 0.0, 1.0)]
    ground = [Geometry(Plane())]
    ground += [Geometry(Plane(), pose((x, 0.0, 0.0), rpy=(0.0, s * 0.5 * math.pi, 0.0))) for x, _, s in walls]
    ground += [Geometry(Plane(), pose((0.0, x, 0.0), rpy=(-s * 0.5 * math.pi, 0.0, 0.0))) for x, _, s in walls]
    surface = Surface(float(rng.choice([0.0, 0.2, 0.5, 0.9])), restitution=float(rng.choice([0.0, 0.0, 0.3, 0.8])))
    v = rng.normal(size=mechanism.nv) * rng.choice([0.3, 1.0])
    return mechanism, Contact(ground=ground, surface=surface), np.array(q), v, robots


def run_scene(seed: int, duration: float = 1.2) -> Kept:
    """Runs the scene of a seed."""
    mechanism, contact, q, v, robots = random_scene(seed)
    simulation = MechanismSimulation(mechanism, contact=contact, step=STEP)
    run = simulation.run(q, v, duration=duration)
    stepper: Any = simulation.interaction.stepper(simulation.actuation, simulation.integrator, STEP, q, v, simulation.bounds)
    stepper.run({}, len(run) - 1, 1)
    sums = np.concatenate([part.log.sums for part in stepper.logged])
    residual, part = sums[:, 0], sums[:, 1]
    # the speed of the island with the largest part is at most that of the one with the largest residual
    fastest = np.maximum(np.divide(residual, part, out=np.zeros_like(part), where=part > 0.0) - RESTING, 0.0)
    missed = np.flatnonzero(residual > BOUND * (1.0 + fastest))
    touched = run.contact
    assert touched is not None
    worst = int(np.argmax(residual))
    kinds = {body.name: body.collisions[0].shape.kind for body in mechanism.bodies}
    touching = tuple(
        sorted("-".join(sorted(kinds.get(name, "plane") for name in pair)) for k, pair in enumerate(touched.bodies)
               if np.any(touched.force[worst, k]))
    )  # fmt: skip
    return Kept(
        seed, len(mechanism.bodies), robots, len(residual), tuple(int(k) for k in missed), float(residual.max()),
        int((part > 1e-3).sum()), _momentum(run, mechanism) if not robots else math.nan,
        _gained(run), float(run.energy.kinetic.max()), touching,
    )  # fmt: skip


def _momentum(run: Any, mechanism: Mechanism) -> float:
    touched = run.contact
    ground = [k for k, pair in enumerate(touched.bodies) if "ground" in pair]
    given = touched.force[:, ground].sum(axis=1) + np.array([0.0, 0.0, -G * mechanism.tree.mass])
    change = np.diff(run.momentum[:, 3:], axis=0) - STEP * given[:-1]
    moving = float(np.abs(touched.force).sum(axis=1).max() * STEP + np.abs(run.momentum[:, 3:]).max())
    return float(np.abs(change).max()) / moving


def _gained(run: Any) -> float:
    """The rise of the energy above the least before, less what the audit reports [J]."""
    energy = run.energy.total
    rise = float((energy - np.minimum.accumulate(energy)).max())
    return max(0.0, rise - run.audit.contact.gained - 2.0 * run.audit.energy_drift)


def run_scenes(seeds: Iterable[int], progress: Callable[[int], None] | None = None) -> list[Kept]:
    """Runs scenes one after another; `progress`: called with the number of scenes done."""
    found: list[Kept] = []
    for seed in seeds:
        found.append(run_scene(seed))
        if progress is not None:
            progress(len(found))
    return found


def summary(found: list[Kept]) -> dict[str, Any]:
    """The figures of all scenes together, by name."""
    steps, missed = sum(one.steps for one in found), sum(len(one.missed) for one in found)
    return {
        "scenes": len(found),
        "steps": steps,
        "steps within the bound": f"{1.0 - missed / steps:.3%}",
        "steps that miss it": missed,
        "in scenes": sum(bool(one.missed) for one in found),
        "largest residual [m/s]": max(one.worst for one in found),
        "steps above 1e-3 of the speeds": sum(one.warned for one in found),
        "momentum, as a part": max((one.momentum for one in found if not one.robots), default=0.0),
        "rise of energy beyond the audit [J]": max(one.gained for one in found),
    }
