"""Energies of a mechanism (thesis 5.2, mechanicalEnergy)."""

from __future__ import annotations

from collections.abc import Sequence

from ..dynamics import free_springs, spring_force
from ..kinematics import center_of_mass, chord_closing, link_twists, total_mass
from ..model import Chord, Link, Tree
from ..scalar import Scalar, is_zero


def kinetic_energy(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """½ Σ V·I V of all links, and ½ Σ armature·v² of the drives [J]."""
    twists = link_twists(tree, q, v)
    total: Scalar = 0.0
    for link in tree.links:
        twist = twists[link]
        total = total + twist.dot(link.inertia.times(twist))
        for armature, rate in zip(link.armature, link.velocities(v), strict=True):
            total = total + armature * rate * rate
    for chord in tree.chords:
        for armature, rate in zip(chord.armature, chord_closing(tree, q, v, chord).rates, strict=True):
            total = total + armature * rate * rate
    return 0.5 * total


def potential_energy(tree: Tree, q: Sequence[Scalar], gravity: Sequence[Scalar]) -> Scalar:
    """−m g·c (center of mass c, field `gravity` g [m/s²], 0 at the world's origin) plus ½k(q − rest)² of springs [J]."""
    weight = [total_mass(tree) * g for g in gravity]
    energy = -sum((w * c for w, c in zip(weight, center_of_mass(tree, q), strict=True)), 0.0)
    for link in tree.links:
        energy = energy + _strain(link, link.coordinates(q))
    for chord in tree.chords:
        still = [0.0] * tree.nv
        closing = chord_closing(tree, q, still, chord)
        for _, k, x in (springs := free_springs(chord, closing)):
            energy = energy + 0.5 * k * x * x
        energy = energy if springs else energy + _strain(chord, closing.coordinates)
    return energy


def _strain(joint: Link | Chord, coordinates: Sequence[Scalar]) -> Scalar:
    """½ k (q − rest)² of a joint's springs."""
    forces = spring_force(joint, coordinates)
    if all(is_zero(force) for force in forces):
        return 0.0
    return sum((0.5 * f * (x - rest) for f, x, rest in zip(forces, coordinates, joint.rest, strict=True)), 0.0)
