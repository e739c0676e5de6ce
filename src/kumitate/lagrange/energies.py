"""The energies of a tree for Lagrange's equations, also of base-parameter trees.

The masses of a base-parameter tree may be zero where its first moments are not, so there may not be a center of mass.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..kinematics import link_poses, link_twists
from ..model import Tree
from ..scalar import Scalar, is_zero


def tree_kinetic(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """T = ½ Σ V·I V of the links [J], without the armatures of the drives."""
    twists = link_twists(tree, q, v)
    return 0.5 * sum((twists[link].dot(link.inertia.times(twists[link])) for link in tree.links), 0.0)


def tree_potential(tree: Tree, q: Sequence[Scalar], gravity: Sequence[Scalar]) -> Scalar:
    """U = −Σ g·(m p + R h) of the links' masses m, origins p and first moments h, and ½ k (q − rest)² of springs [J]."""
    poses = link_poses(tree, q)
    energy: Scalar = 0.0
    for link in tree.links:
        place = poses[link].rotation.rotate(link.inertia.first_moment) + poses[link].translation * link.inertia.mass
        energy = energy - sum((g * x for g, x in zip(gravity, place, strict=True)), 0.0)
        if all(is_zero(stiffness) for stiffness in link.stiffness):
            continue  # joints with quaternions do not have springs
        for stiffness, rest, x in zip(link.stiffness, link.rest, link.coordinates(q), strict=True):
            energy = energy + 0.5 * stiffness * (x - rest) * (x - rest)
    return energy


def applied_power(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], forces: Sequence[Sequence[Scalar]]) -> Scalar:
    """The power [W] of a force [n; f] on each link, in the link's frame and about its origin: linear in v."""
    twists = link_twists(tree, q, v)
    power: Scalar = 0.0
    for link, force in zip(tree.links, forces, strict=True):
        power = power + sum((x * f for x, f in zip(twists[link], force, strict=True)), 0.0)
    return power
