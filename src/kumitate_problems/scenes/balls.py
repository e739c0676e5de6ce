"""Balls: the rolling, bouncing, 666 and elastic 666 tests of SimBenchmark, a turntable, and a wall of bricks that is hit.

SimBenchmark: Kang and Hwangbo (2018), https://leggedrobotics.github.io/SimBenchmark.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kumitate.contact.surface import Surface
from kumitate.model import Body, Box, Floating, Geometry, Joint, Mechanism, Revolute, Sphere
from kumitate.records.record import Record
from kumitate.spatial import pose

from ..contact import RIGID, Trial, at, solid, unconnected, weightless
from ..contract import Measured

__all__ = ["balls_on_a_box", "bounces", "cube_of_balls", "turntable", "wall_hit"]

G = 9.81
BALL = Sphere(0.5)


def balls_on_a_box(trial: Trial = RIGID) -> list[Measured]:
    """SimBenchmark's rolling test: 25 balls on a sliding box that a force drags along the diagonal of the axes.

    Box 10 kg, balls 1 kg, 150 N, μ = 0.4 of the floor and 0.8 of the balls, which roll at 2/7 of the box's acceleration:
    a (M + 2/7 n m) = F − μ (M + n m) g.
    """
    mass, count, force, mu, t = 10.0, 25, 150.0, 0.4, 0.5
    plate = Box((8.0, 8.0, 0.5))
    balls = [solid(f"ball{k}", BALL) for k in range(count)]
    mechanism = unconnected(solid("box", plate, mass), *balls)
    places = [(1.5 * x, 1.5 * y, 1.0) for x in range(-2, 3) for y in range(-2, 3)]
    along = np.array([1.0, 1.0, 0.0]) / math.sqrt(2.0)
    surfaces = {"ground": Surface(mu), "box": Surface(0.8)}
    a, found = (force - mu * (mass + count) * G) / (mass + 2.0 / 7.0 * count), []
    # by default residuals of large islands may be 1e-3 of the speed while it is above 5 mm/s
    for accuracy, bar in (("following", 1e-3 * a * t), ("strict", 1e-6)):
        run = replace(trial, accuracy=accuracy).run(
            mechanism, at((0.0, 0.0, 0.25), *places), duration=t, surface=Surface(1.0), surfaces=surfaces,
            wrenches={"box": np.array([0.0, 0.0, 0.0, *(force * along)])},
        )  # fmt: skip
        v, moved = run.v[-1].reshape(-1, 6), (run.q[-1] - run.q[0]).reshape(-1, 7)[1:, 4:] @ along
        found += [
            Measured(f"speed of the box, {accuracy}", v[0, 3:], bar, "m/s", a * t * along),
            Measured(f"speeds of the balls, {accuracy}", np.linalg.norm(v[1:, 3:], axis=1), bar, "m/s", 2.0 / 7.0 * a * t),
            Measured(f"ways of the balls, {accuracy}", moved, 1.5 * trial.step * a * t, "m", a * t * t / 7.0),
        ]
    return found


def deepest(run: Record) -> float:
    """The largest depth of any contact of a run [m]."""
    assert run.contact is not None
    return float(run.contact.penetration.max())


def bounces(trial: Trial = RIGID) -> list[Measured]:
    """SimBenchmark's bouncing test: elastic balls of 1 kg fall from 10 m; no energy is lost in 10 s.

    A step that ends a fall is shorter or longer than the fall, by a height of up to h v: each bounce may lose m g h v.
    """
    height, t = 10.0, 10.0
    balls = unconnected(*(solid(f"ball{k}", BALL) for k in range(4)))
    places = [(2.0 * k, 0.0, BALL.radius + height - 0.3 * k) for k in range(4)]
    run = trial.run(balls, at(*places), duration=t, surface=Surface(0.0, restitution=1.0))
    fall = math.sqrt(2.0 * height / G)
    lost = math.ceil(0.5 * (t / fall + 1.0)) * trial.step * G * fall / height
    energy = 0.5 * run.v[:, 5::6] ** 2 + G * (run.q[:, 6::7] - BALL.radius)
    parts = energy / energy[0] - 1.0
    return [
        Measured("energy lost", float(-parts.min()), lost, "of the start"),
        Measured("energy gained", float(parts.max()), 1e-9, "of the start"),
        Measured("depth", deepest(run), 1e-9, "m"),
    ]


def cube_of_balls(trial: Trial = RIGID, restitution: float = 0.0, side: int = 6, duration: float = 1.5) -> list[Measured]:
    """SimBenchmark's 666 tests: 216 smooth balls of 10 kg in a cube, slightly out of order, fall and spread.

    Plastic, pairs sink in by nothing but the curvature of their way in a step, (h v)²/2R; elastic, the energy stays but for
    what the steps of impacts lose, m g h v each. Neither gains any.
    """
    rng = np.random.default_rng(42)
    places = 1.05 * np.array(list(np.ndindex(side, side, side)), float) + [0.0, 0.0, 1.5]
    places += rng.uniform(-0.01, 0.01, places.shape)
    balls = unconnected(*(solid(f"ball{k}", BALL, 10.0) for k in range(len(places))))
    run = trial.run(balls, at(*places), duration=duration, surface=Surface(0.0, restitution=restitution))
    energy, fastest = run.energy.total, float(np.abs(run.v).max())
    found = [
        Measured("depth", deepest(run), (trial.step * fastest) ** 2 / BALL.radius, "m"),
        Measured("energy gained", float((energy - energy[0]).max() / energy[0]), 1e-9, "of the start"),
    ]
    if restitution:
        found.append(Measured("energy lost", float(1.0 - energy[-1] / energy[0]), 2.0 * trial.step, "of the start"))
    return found


def turntable(trial: Trial = RIGID) -> list[Measured]:
    """A solid ball that rolls on a turntable goes round a circle at 2/7 of the turntable's rate (Weltner 1979).

    Its center moves as v = 2/7 Ω × (r − c): started at v0, it is back after 7/2 turns of the table.
    """
    rate, start, v = 2.0, 0.6, 0.3
    disk = Body(
        "table", 1e6, (0.0, 0.0, -0.05), (1e6, 1e6, 1e6), collisions=(Geometry(Box((6.0, 6.0, 0.1)), pose((0.0, 0.0, -0.05))),)
    )
    ball = solid("ball", Sphere(0.1))
    joints = (Joint("axle", Revolute(), "world", "table", axis=(0.0, 0.0, 1.0)), Joint("free", Floating(), "world", "ball"))
    slow = 2.0 / 7.0 * rate
    # rolling at the start: v + ω × (−R z) = Ω × r, so that ω = z × (v − Ω × r)/R
    slip = np.array([0.0, v - rate * start, 0.0])
    spin = np.cross([0.0, 0.0, 1.0], slip) / 0.1
    q, w = [0.0, *at((start, 0.0, 0.1))], [rate, *spin, 0.0, v, 0.0]
    t = round(2.0 * math.pi / slow / trial.step) * trial.step
    mechanism = Mechanism("turntable", (disk, ball), joints)
    run = trial.run(mechanism, q, w, duration=t, surface=Surface(0.8), ground=())
    # about c = (start − v/slow, 0)
    radius = v / slow
    phase = slow * run.time
    exact = np.column_stack([start - radius + radius * np.cos(phase), radius * np.sin(phase)])
    off = float(np.linalg.norm(run.q[:, 5:7] - exact, axis=1).max())
    fastest = rate * (start + 2.0 * radius)
    return [Measured("off the circle", off, 1.5 * trial.step * fastest, "m")]


def wall_hit(trial: Trial = RIGID, rows: int = 8, columns: int = 6) -> list[Measured]:
    """A ball flies through a wall of bricks in free space: momentum to rounding, energy never gained; and one that stands."""
    brick, heavy = Box((0.2, 0.16, 0.12)), solid("ball", Sphere(0.15), 10.0)
    bricks = [solid(f"brick{k}", brick) for k in range(rows * columns)]
    places = [(0.0, 0.2 * (column + 0.5 * (row % 2)), 0.06 + 0.12 * row) for row in range(rows) for column in range(columns)]
    turned = [x for place in places for x in (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5), *place)]
    q = [*turned, *at((-0.6, 0.1 * columns + 0.013, 0.06 * rows + 0.017))]
    v = np.zeros(6 * len(bricks) + 6)
    v[-3] = 8.0
    wall = unconnected(*bricks, heavy)
    loose = trial.run(weightless(wall), q, v, duration=0.4, surface=Surface(0.5), ground=())
    stood = trial.run(wall, q, v, duration=0.8, surface=Surface(0.5))
    # what the floor gives, and weight, is all that changes the momentum of the wall with its ball
    touched = stood.contact
    assert touched is not None
    floor = touched.force[:, ["ground" in pair for pair in touched.bodies]].sum(axis=1)
    weight = np.array([0.0, 0.0, -G * wall.tree.mass])
    given = trial.step * np.cumsum(floor + weight, axis=0)[:-1]
    balance = stood.momentum[1:, 3:] - stood.momentum[0, 3:] - given
    momentum = np.abs(loose.momentum[:, 3:] - loose.momentum[0, 3:]).max()
    kinetic = loose.energy.kinetic
    return [
        Measured("momentum, in free space", float(momentum), 1e-10, "kg m/s"),
        Measured("energy gained, in free space", max(0.0, float(np.diff(kinetic).max())), 1e-9 * kinetic[0], "J a step"),
        Measured("momentum less impulses of the floor", float(np.abs(balance).max()), 1e-9, "kg m/s"),
        Measured("energy gained, on the floor", float((stood.energy.total - stood.energy.total[0]).max()), 1e-9, "J"),
    ]
