"""The configuration manifold: coordinates are not a vector space if orientations are quaternions."""

from __future__ import annotations

import numpy as np

from ..model import JointKind, Tree
from ..scalar import Scalar, Scalars
from ..spatial import dot


def neutral(tree: Tree) -> list[float]:
    """The coordinates (nq) at which every joint's frames coincide: angles zero, quaternions (0, 0, 0, 1)."""
    return [part for link in tree.links for part in link.kind.neutral()]


def random_coordinates(tree: Tree, rng: np.random.Generator) -> list[float]:
    """Random coordinates (nq) over the whole manifold, lengths within ±1 m. Joint limits are ignored."""
    return [part for link in tree.links for part in link.kind.random(rng)]


def rate(tree: Tree, q: Scalars, v: Scalars) -> list[Scalar]:
    """q̇ (nq) for the velocities v (thesis eq. 3.34 for quaternions)."""
    return [part for link in tree.links for part in link.kind.rate(link.coordinates(q), link.velocities(v))]


def integrate(tree: Tree, q: Scalars, dv: Scalars) -> list[Scalar]:
    """The coordinates (nq) after a displacement `dv` (nv) from q, a velocity times a time."""
    return [part for link in tree.links for part in link.kind.integrate(link.coordinates(q), link.velocities(dv))]


def difference(tree: Tree, q0: Scalars, q1: Scalars) -> list[Scalar]:
    """The displacement `dv` (nv) from q0 to q1: integrate(q0, difference(q0, q1)) is q1."""
    return [part for link in tree.links for part in link.kind.difference(link.coordinates(q0), link.coordinates(q1))]


def turning(tree: Tree, v: Scalars) -> list[Scalar]:
    """The rate of v (nv) due to the rotation of the body axes in which a free body's velocity is given: −ω × v."""
    return [part for link in tree.links for part in link.kind.turning(link.velocities(v))]


def carried(tree: Tree, v: Scalars, dv: Scalars) -> list[Scalar]:
    """Transforms velocities v (nv) from the axes before a displacement `dv` (nv) to the axes after it."""
    pairs = ((link, link.velocities(v), link.velocities(dv)) for link in tree.links)
    return [part for link, own, move in pairs for part in link.kind.carried(own, move)]


def normalized(tree: Tree, q: Scalars) -> list[Scalar]:
    """q (nq) with its quaternions normalised to unit length."""
    return [part for link in tree.links for part in link.kind.normalized(link.coordinates(q))]


# --- Small motions along the degrees of freedom and changes of coordinates: q̇ = E v, with a block of E for each joint -------
# The columns of E are at right angles to each other for all kinds of joints.


def motion_of(tree: Tree, q: Scalars, dq: Scalars) -> list[Scalar]:
    """The small motion (nv) by which q moves at the rate dq (nq): (EᵀE)⁻¹Eᵀ dq, of which `rate` gives dq."""
    return [part for link in tree.links for part in joint_motion_of(link.kind, link.coordinates(q), link.coordinates(dq))]


def joint_motion_of(kind: JointKind, q: Scalars, dq: Scalars) -> list[Scalar]:
    """The small motion of one joint, as `motion_of`."""
    return [dot(column, dq) / dot(column, column) for column in _rates(kind, q)]


def gathered(tree: Tree, q: Scalars, by_q: Scalars) -> list[Scalar]:
    """The gradient along the degrees of freedom (nv), of one by the coordinates (nq): Eᵀ ∂L/∂q."""
    return [dot(column, link.coordinates(by_q)) for link in tree.links for column in _rates(link.kind, link.coordinates(q))]


def spread(tree: Tree, q: Scalars, by_motion: Scalars) -> list[Scalar]:
    """The least gradient by the coordinates (nq) with this one along the degrees of freedom (nv): E (EᵀE)⁻¹ ∂L/∂ξ."""
    sizes = [dot(column, column) for link in tree.links for column in _rates(link.kind, link.coordinates(q))]
    return rate(tree, q, [value / size for value, size in zip(by_motion, sizes, strict=True)])


def _rates(kind: JointKind, q: Scalars) -> list[list[Scalar]]:
    """The columns of E of a joint: q̇ for each velocity alone."""
    return [kind.rate(q, [1.0 if i == k else 0.0 for i in range(kind.nv)]) for k in range(kind.nv)]
