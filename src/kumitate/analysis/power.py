"""The power of everything that acts on a mechanism: the sources and sinks of its energy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..dynamics import chord_closings, passive_force, pulls, spring_force
from ..kinematics import link_poses, link_twists, place_pose, place_twist
from ..model import Chord, Link, Tree
from ..scalar import Scalar
from ..spatial import Motion, dot
from .momentum import momentum


def powers(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Mapping[str, Sequence[Scalar]] | None = None,
    loop_tau: Mapping[str, Sequence[Scalar]] | None = None,
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

    def add(
        joint: Link | Chord, efforts: Sequence[Scalar], coordinates: Sequence[Scalar], rates: Sequence[Scalar],
        own: Sequence[Scalar],
    ) -> None:  # fmt: skip
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


def _springs(joint: Link | Chord, coordinates: Sequence[Scalar]) -> list[Scalar]:
    """The spring forces, one per degree of freedom; zero for joints whose coordinates are not angles or lengths."""
    freedoms = len(joint.stiffness)
    return spring_force(joint, coordinates) if len(coordinates) == freedoms else [0.0] * freedoms
