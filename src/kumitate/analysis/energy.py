"""Energies of a mechanism (thesis 5.2, mechanicalEnergy)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..kinematics import center_of_mass, link_twists, total_mass
from ..model import Tree

__all__ = ["kinetic_energy", "potential_energy"]

Scalar = Any


def kinetic_energy(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """½ Σ V·I V of all links, and ½ Σ armature·v² of the drives [J]."""
    twists = link_twists(tree, q, v)
    total: Scalar = 0.0
    for link in tree.links:
        twist = twists[link]
        total = total + twist.dot(link.inertia.times(twist))
        for armature, rate in zip(link.armature, link.velocities(v), strict=True):
            total = total + armature * rate * rate
    return 0.5 * total


def potential_energy(tree: Tree, q: Sequence[Scalar], gravity: Sequence[Scalar]) -> Scalar:
    """−m g·c of the mass centre c in the field `gravity` [m/s²]: zero at the world's origin [J]."""
    weight = [total_mass(tree) * g for g in gravity]
    return -sum((w * c for w, c in zip(weight, center_of_mass(tree, q), strict=True)), 0.0)
