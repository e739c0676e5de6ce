"""Energies, center of mass and momentum along a run of a scene: of all free bodies at once, and of its robots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...contact.scenes.arrays import MovingBodies
from ...contact.scenes.building import moving_bodies
from ...model import Mechanism
from .free_rows import FreeRows
from .robots import RobotSteps

__all__ = ["Quantities"]


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
