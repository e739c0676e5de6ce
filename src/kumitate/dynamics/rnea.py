"""Inverse dynamics by the recursive Newton-Euler algorithm, O(n) (N eq. 2-10; thesis eq. 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import Link, Tree, inward, outward
from ..spatial import Force, Motion, Vector3
from .motion import acceleration, link_motions
from .passive import passive_force
from .wrenches import Wrenches

__all__ = ["rnea"]

Scalar = Any


def rnea(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    vdot: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Wrenches | None = None,
) -> list[Scalar]:
    """The generalised forces of the drives that give the accelerations v̇: INV(q, v, v̇, g, f) of N.

    Args:
        tree: the mechanism's.
        q, v, vdot: coordinates (nq), velocities (nv), accelerations (nv).
        gravity: acceleration of free fall in the world [m/s²].
        wrenches: external forces on links.

    Returns:
        tau (nv) [N·m or N], what the drives must do besides damping, friction and external forces.
    """
    motions = link_motions(tree, q, v)

    def accelerate(link: Link, parent: Motion) -> Motion:
        return acceleration(motions[link], parent, link.velocities(vdot))  # N (3), (4)

    falling = Motion(Vector3(), -Vector3.of(gravity))  # the world accelerated upwards replaces gravity
    accelerations = outward(tree, accelerate, falling)

    def support(link: Link, children: list[tuple[Force, Force]]) -> tuple[Force, Force]:
        motion = motions[link]
        force = link.inertia.times(accelerations[link]) + link.inertia.velocity_force(motion.omega)  # N (5), and of (7), (8)
        if wrenches is not None:
            force = force - wrenches.on(link, q)  # N (6)
        for _, from_child in children:
            force = force + from_child  # N (7), (8)
        return force, force.to_parent(motion.X_PL)

    forces = inward(tree, support)
    tau: list[Scalar] = []
    for link in tree.links:
        force, _ = forces[link]
        along = [S.dot(force) for S in motions[link].S]  # (2.10), N (10)
        passive = passive_force(link, link.velocities(v))
        rotor = [j * a for j, a in zip(link.armature, link.velocities(vdot), strict=True)]
        tau += [a + b + c for a, b, c in zip(along, passive, rotor, strict=True)]
    return tau
