"""Energies, and the powers of all that acts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dynamics import chord_closings, free_springs, passive_force, pulls, spring_force
from ..kinematics import center_of_mass, chord_closing, link_poses, link_twists, place_pose, place_twist, total_mass
from ..model import Chord, Link, Tree
from ..scalar import Scalar, Scalars, is_zero
from ..spatial import Motion, dot
from .momentum import momentum


def kinetic_energy(tree: Tree, q: Scalars, v: Scalars) -> Scalar:
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


def potential_energy(tree: Tree, q: Scalars, gravity: Scalars) -> Scalar:
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


def _strain(joint: Link | Chord, coordinates: Scalars) -> Scalar:
    """½ k (q − rest)² of a joint's springs."""
    forces = spring_force(joint, coordinates)
    if all(is_zero(force) for force in forces):
        return 0.0
    return sum((0.5 * f * (x - rest) for f, x, rest in zip(forces, coordinates, joint.rest, strict=True)), 0.0)


def powers(
    tree: Tree,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *,
    gravity: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    loop_tau: Mapping[str, Scalars] | None = None,
) -> dict[str, Any]:
    """The power of each source [W], negative where it removes energy; constraint forces of joints do no work.

    Their sum is the rate of the kinetic energy; without "gravity" and "springs" it is the rate of the total energy, which
    includes the potential energy of these two.

    Args:
        tau: the drives' forces (nv) [N·m, N].
        gravity: acceleration of free fall in the world [m/s²].
        wrenches: [n; f] (6) by name of the body or frame they act on: axes of the world, about its origin.
        loop_tau: forces of drives along the degrees of freedom of loop joints, by the loop's name.

    Returns:
        "drives", "damping" (with dry friction and the forces of nonlinear lines) and "springs" by degree of freedom, first
        those of the tree in the order of v, then those of loop joints; "wrenches", one per place, in the order given;
        "gravity".
    """
    found: dict[str, list[Scalar]] = {"drives": [], "damping": [], "springs": []}

    def add(joint: Link | Chord, efforts: Scalars, coordinates: Scalars, rates: Scalars, own: Scalars) -> None:
        lost = (passive + pull for passive, pull in zip(passive_force(joint, rates), own, strict=True))
        found["drives"] += [force * rate for force, rate in zip(efforts, rates, strict=True)]
        found["damping"] += [-force * rate for force, rate in zip(lost, rates, strict=True)]
        found["springs"] += [-force * rate for force, rate in zip(_springs(joint, coordinates), rates, strict=True)]

    for link in tree.links:
        add(link, link.velocities(tau), link.coordinates(q), link.velocities(v), (0.0,) * link.kind.nv)
    for chord, closing in zip(tree.chords, chord_closings(tree, q, v), strict=True):
        efforts = (loop_tau or {}).get(chord.name, (0.0,) * len(closing.rates))
        add(chord, efforts, closing.coordinates, closing.rates, pulls(chord, closing))

    poses, twists = link_poses(tree, q), link_twists(tree, q, v)
    pushed = []
    for name, wrench in (wrenches or {}).items():
        R = place_pose(tree, poses, tree.places[name]).rotation
        twist = place_twist(tree, twists, tree.places[name])
        pushed.append(dot(Motion(R.rotate(twist.angular), R.rotate(twist.linear)), wrench))
    return {**found, "wrenches": pushed, "gravity": dot(gravity, momentum(tree, q, v)[3:])}


def _springs(joint: Link | Chord, coordinates: Scalars) -> list[Scalar]:
    """The spring forces, one per degree of freedom; zero for joints whose coordinates are not angles or lengths."""
    freedoms = len(joint.stiffness)
    return spring_force(joint, coordinates) if len(coordinates) == freedoms else [0.0] * freedoms
