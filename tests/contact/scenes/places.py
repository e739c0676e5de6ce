"""Scenes of free bodies for the tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import Box, Geometry, Mechanism, Plane, Sphere
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose
from kumitate_problems.contact import solid, unconnected

G = 9.81
BRICK = Box((0.2, 0.16, 0.12))


def upright(*places: Sequence[float]) -> np.ndarray:
    """q of free bodies that stand upright at these places."""
    return np.array([x for place in places for x in (0.0, 0.0, 0.0, 1.0, *place)])


def at_random(rng: np.random.Generator, count: int, spacing: float = 0.27) -> tuple[np.ndarray, np.ndarray]:
    """q and v of a column of bodies that do not touch, turned and thrown at random."""
    q, v = np.zeros((count, 7)), rng.normal(size=(count, 6)) * 0.5
    q[:, :4] = rng.normal(size=(count, 4))
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    q[:, 4:6] = 0.05 * rng.normal(size=(count, 2))
    q[:, 6] = 0.2 + spacing * np.arange(count)
    return q.ravel(), v.ravel()


def mixed(count: int, **shapes: Any) -> Mechanism:
    """Free bricks, every third one a ball."""
    return unconnected(*(solid(f"body{k}", Sphere(0.08) if k % 3 == 2 else BRICK) for k in range(count)))


def bin_of(half: float, surface: Surface | None = None) -> Contact:
    """A floor and four walls at ±half [m]."""
    walls = [pose((half, 0.0, 0.0), rpy=(0.0, -np.pi / 2, 0.0)), pose((-half, 0.0, 0.0), rpy=(0.0, np.pi / 2, 0.0))]
    walls += [pose((0.0, half, 0.0), rpy=(np.pi / 2, 0.0, 0.0)), pose((0.0, -half, 0.0), rpy=(-np.pi / 2, 0.0, 0.0))]
    ground = [Geometry(Plane()), *(Geometry(Plane(), wall) for wall in walls)]
    return Contact(ground=ground, surface=surface or Surface())


def simulation(mechanism: Mechanism, contact: Contact | str = "rigid", **options: Any) -> MechanismSimulation:
    """A simulation of a scene of many bodies, from a start (q, v) if one is given."""
    q, v = options.pop("start", (None, None))
    made = MechanismSimulation(Setup(mechanism, q, v, contact=contact, **options))
    assert made.interaction.of_many_bodies
    return made
