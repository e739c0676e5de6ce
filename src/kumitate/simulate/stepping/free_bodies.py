"""Energies, center of mass and momentum of free bodies along a run, for all of them at once."""

from __future__ import annotations

import numpy as np

from ...contact.scenes.building import free_bodies
from ...model import Mechanism

__all__ = ["FreeBodyQuantities"]


class FreeBodyQuantities:
    """(q, v) → kinetic and potential energy (n), center of mass (n, 3), momentum [l; p] (n, 6) of free bodies."""

    def __init__(self, mechanism: Mechanism):
        self._bodies = free_bodies(mechanism)
        self._gravity = np.array([float(part) for part in mechanism.gravity])

    def __call__(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        bodies, rows = self._bodies, len(q)
        q, v = q.reshape(rows, -1, 7), v.reshape(rows, -1, 6)
        turn = bodies.base_turn @ _rotations(q[:, :, :4])
        place = np.einsum("bij,nbj->nbi", bodies.base_turn, q[:, :, 4:]) + bodies.base_place
        place = place + np.einsum("nbij,bj->nbi", turn, bodies.center)
        spin = v[:, :, :3]
        speed = np.einsum("nbij,nbj->nbi", turn, v[:, :, 3:] + np.cross(spin, bodies.center))
        about = np.einsum("bij,nbj->nbi", bodies.central, spin)
        kinetic = 0.5 * (np.einsum("nbi,nbi->n", spin, about) + np.einsum("b,nbi,nbi->n", bodies.mass, speed, speed))
        linear = bodies.mass[:, None] * speed
        angular = np.einsum("nbij,nbj->nbi", turn, about) + np.cross(place, linear)
        moment = np.einsum("b,nbi->ni", bodies.mass, place)
        momentum = np.concatenate([angular.sum(axis=1), linear.sum(axis=1)], axis=1)
        return kinetic, -moment @ self._gravity, moment / bodies.mass.sum(), momentum


def _rotations(q: np.ndarray) -> np.ndarray:
    """R (..., 3, 3) of unit quaternions (..., 4), as `spatial.quaternion_rotation`."""
    x, y, z, w = np.moveaxis(q, -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
