"""Articulated bodies by their handles, as ADA and DCA know them: V̇_i = Σ Φ_ij F_j + B_i (thesis eq. 2.4).

All quantities at the handle of a joint are in the frame of the link that the joint carries and at its origin, on either side of
the joint; B includes what the velocities add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError
from ..model import Link, PerLink, Tree
from ..spatial import Dense, Inertia, Motion, Transform, Vector3
from .passive import driving_force
from .wrenches import Wrenches

__all__ = ["WORLD", "Body", "Joint", "joint_of", "rigid_body", "world_body"]

Scalar = Any
#: The index of the world.
WORLD = -1


@dataclass(frozen=True)
class Joint:
    """What a joint law works with: the subspaces in the link's frame, the drive's force, the armature along each freedom."""

    S: Dense
    T_a: Dense
    T: Dense
    tau: Dense
    armature: tuple[Scalar, ...]


@dataclass(frozen=True)
class Body:
    """An articulated body: its links, Φ by pairs of handles, B by handle (2.4)."""

    links: frozenset[int]
    Phi: dict[tuple[int, int], Dense]
    B: dict[int, Dense]

    def acceleration(self, handle: int, forces: dict[int, Dense]) -> Dense:
        """V̇ at a handle under the forces at all of them (2.4)."""
        total = self.B[handle]
        for other, force in forces.items():
            total = total + self.Phi[handle, other] @ force
        return total


def rigid_body(tree: Tree, link: Link, q: Sequence[Scalar], motions: PerLink, wrenches: Wrenches | None) -> Body:
    """A single link, with handles at its own joint and at its children's (thesis A.7)."""
    inverse = _inverse_inertia(link.inertia, link.name)
    push = link.inertia.velocity_force(motions[link].omega)
    if wrenches is not None:
        push = push - wrenches.on(link, q)
    own = -(inverse @ Dense.column(push))
    shifts = {link.index: Dense.columns([list(axis) for axis in _AXES])}
    bias = {link.index: own}
    for child in tree.children(link.index):
        shifts[child.index] = _shift(motions[child].X_PL)
        bias[child.index] = shifts[child.index] @ own + Dense.column(motions[child].bias)
    Phi = {(i, k): X_i @ inverse @ X_k.T for i, X_i in shifts.items() for k, X_k in shifts.items()}
    return Body(frozenset({link.index}), Phi, bias)


def world_body(tree: Tree, motions: PerLink, gravity: Sequence[Scalar]) -> Body:
    """The world: no force moves it; it is accelerated upwards in place of gravity."""
    falling = Motion(Vector3(), -Vector3.of(gravity))
    children = tree.children(WORLD)
    zero = Dense.zero(6, 6)
    bias = {link.index: Dense.column(falling.to_child(motions[link].X_PL) + motions[link].bias) for link in children}
    return Body(frozenset(), {(a.index, b.index): zero for a in children for b in children}, bias)


_AXES = tuple(Motion.of([1.0 if i == axis else 0.0 for i in range(6)]) for axis in range(6))


def _shift(X: Transform) -> Dense:
    """The matrix that takes a motion of the parent to the child's frame (A.14)."""
    return Dense.columns([list(axis.to_child(X)) for axis in _AXES])


def _inverse_inertia(inertia: Inertia, name: str) -> Dense:
    """Φ = I⁻¹ of a rigid body (A.30)."""
    matrix = Dense.columns([list(inertia.times(axis)) for axis in _AXES])
    size = np.sqrt(np.diag(np.array(matrix.rows, dtype=float)))
    # measured by its own diagonal, so that kilograms and metres do not matter
    if size.min() == 0.0 or np.linalg.eigvalsh(np.array(matrix.rows) / np.outer(size, size)).min() < 1e-12:
        raise ModelError(
            f"joint {name!r} carries a link whose inertia has no inverse (a point, a thin rod, or no mass), which assembling "
            "by inverse inertias starts from; use method='aba', or give the link a small inertia about every axis"
        )
    return matrix.inverse()


def joint_of(link: Link, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar]) -> Joint:
    own, drive = link.coordinates(q), driving_force(link, link.velocities(tau), link.velocities(v))
    S, T_a, T = (
        Dense.columns([list(column) for column in part(own)])
        for part in (link.kind.subspace, link.kind.active, link.kind.constraint)
    )
    return Joint(S, T_a, T, Dense.column(drive), link.armature)
