"""The numbers of a scene: where its free bodies stand in the state, its robots, energies and momenta."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...contact.scene import Contact
from ...contact.scenes.arrays import MovingBodies
from ...contact.scenes.building import moving_bodies, solid_names
from ...contact.scenes.parts import free_links
from ...model import Mechanism
from .pages import PAGES, ScenePage
from .robots import RobotSteps, robots_of


class FreeRows:
    """Where the coordinates and velocities of free bodies stand; rows of links of robots are not used.

    Attributes:
        links: the numbers of the free bodies; q (links, 7), v (links, 6): where theirs stand in those of the mechanism.
    """

    def __init__(self, mechanism: Mechanism):
        links, q, v = mechanism.tree.links, range(mechanism.nq), range(mechanism.nv)
        self.links, self._count = free_links(mechanism), len(links)
        self.q = np.array([links[k].coordinates(q) for k in self.links], dtype=np.int64).reshape(-1, 7)
        self.v = np.array([links[k].velocities(v) for k in self.links], dtype=np.int64).reshape(-1, 6)

    def of(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows (links of the mechanism, 7) and (…, 6) of a state (nq), (nv)."""
        rows = np.zeros((self._count, 7)), np.zeros((self._count, 6))
        self.take(q, v, *rows)
        return rows

    def take(self, q: np.ndarray, v: np.ndarray, rows_q: np.ndarray, rows_v: np.ndarray) -> None:
        """Writes a state into rows."""
        rows_q[self.links], rows_v[self.links] = q[self.q], v[self.v]

    def give(self, rows_q: np.ndarray, rows_v: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
        """Writes rows into a state."""
        q[self.q], v[self.v] = rows_q[self.links], rows_v[self.links]


class SceneModel:
    """The numbers of a scene: a mechanism and its contact, as some values of the parameters make them.

    Attributes:
        rows: where free bodies stand in q and v; names: of the solids' bodies; robots: without wrenches, drives and stops.
    """

    def __init__(self, mechanism: Mechanism, contact: Contact):
        self.mechanism, self.contact = mechanism, contact
        self.rows, self.names = FreeRows(mechanism), solid_names(mechanism, contact)

    @cached_property
    def robots(self) -> list[RobotSteps]:
        return robots_of(self.mechanism)

    @cached_property
    def quantities(self) -> Quantities:
        """Energies and momenta; only results want them."""
        return Quantities(self.mechanism, self.robots)

    def page(self) -> ScenePage:
        """The procedures of its steps, by the model of contact."""
        return PAGES[self.contact.model](self.mechanism, self.contact)


class Quantities:
    """(q, v) → kinetic and potential energy (n), center of mass (n, 3), momentum [l; p] (n, 6) of a scene."""

    def __init__(self, mechanism: Mechanism, robots: Sequence[RobotSteps]):
        self._rows = FreeRows(mechanism)
        self._bodies = _FreeBodies(
            moving_bodies(mechanism, [robot.part for robot in robots]), self._rows.links, mechanism.gravity
        )
        self._robots = robots

    def __call__(self, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        found = [self._bodies(q[:, self._rows.q], v[:, self._rows.v])]
        masses = [float(self._bodies.mass.sum())]
        for robot in self._robots:
            found.append(robot.observed(q[:, robot.part.q], v[:, robot.part.v]))
            masses.append(float(robot.part.mechanism.tree.mass))
        kinetic, potential, centers, momenta = zip(*found, strict=True)
        center = sum(mass * center for mass, center in zip(masses, centers, strict=True)) / sum(masses)
        return [np.sum(kinetic, axis=0), np.sum(potential, axis=0), np.asarray(center), np.sum(momenta, axis=0)]


class _FreeBodies:
    """The same of the free bodies alone, from their q (n, bodies, 7) and v (n, bodies, 6)."""

    def __init__(self, every: MovingBodies, free: Sequence[int], gravity: Sequence[float]):
        self.mass, self._center, self._central = every.mass[free], every.center[free], every.central[free]
        self._base_turn, self._base_place = every.base_turn[free], every.base_place[free]
        self._gravity = np.array([float(part) for part in gravity])

    def __call__(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        turn = self._base_turn @ _rotations(q[:, :, :4])
        place = np.einsum("bij,nbj->nbi", self._base_turn, q[:, :, 4:]) + self._base_place
        place = place + np.einsum("nbij,bj->nbi", turn, self._center)
        spin = v[:, :, :3]
        speed = np.einsum("nbij,nbj->nbi", turn, v[:, :, 3:] + np.cross(spin, self._center))
        about = np.einsum("bij,nbj->nbi", self._central, spin)
        kinetic = 0.5 * (np.einsum("nbi,nbi->n", spin, about) + np.einsum("b,nbi,nbi->n", self.mass, speed, speed))
        linear = self.mass[:, None] * speed
        angular = np.einsum("nbij,nbj->nbi", turn, about) + np.cross(place, linear)
        moment = np.einsum("b,nbi->ni", self.mass, place)
        momentum = np.concatenate([angular.sum(axis=1), linear.sum(axis=1)], axis=1)
        return kinetic, -moment @ self._gravity, moment / max(float(self.mass.sum()), 1e-300), momentum


def _rotations(q: np.ndarray) -> np.ndarray:
    """R (..., 3, 3) of unit quaternions (..., 4), as `spatial.quaternion_rotation`."""
    x, y, z, w = np.moveaxis(q, -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
