"""Inverse dynamics by the recursive Newton-Euler algorithm, O(n) (N eq. 2-10; thesis eq. 7.2)."""

from __future__ import annotations

from ..model import Link, PerLink, Tree, inward, outward
from ..scalar import Scalar, Scalars
from ..spatial import Force, Motion
from .acting import Applied
from .motion import LinkMotion, acceleration, falling, link_motions
from .passive import passive_force, spring_force


def rnea(
    tree: Tree, q: Scalars, v: Scalars, vdot: Scalars, *, gravity: Scalars, wrenches: Applied | None = None
) -> list[Scalar]:
    """The generalised forces of the drives that produce the accelerations v̇: INV(q, v, v̇, g, f) of N.

    Args:
        tree: of the mechanism.
        q, v, vdot: coordinates (nq), velocities (nv), accelerations (nv).
        gravity: acceleration of free fall in the world [m/s²].
        wrenches: external forces on links.

    Returns:
        tau (nv) [N·m or N], the forces of the drives in addition to springs, damping, friction and external forces.
    """
    motions = link_motions(tree, q, v)
    forces = supports(tree, motions, q, vdot, gravity=gravity, wrenches=wrenches)
    tau: list[Scalar] = []
    for link in tree.links:
        force, _ = forces[link]
        along = [S.dot(force) for S in motions[link].S]  # (2.10), N (10)
        spring = spring_force(link, link.coordinates(q))
        passive = [a + b for a, b in zip(spring, passive_force(link, link.velocities(v)), strict=True)]
        rotor = [j * a for j, a in zip(link.armature, link.velocities(vdot), strict=True)]
        tau += [a + b + c for a, b, c in zip(along, passive, rotor, strict=True)]
    return tau


def supports(
    tree: Tree, motions: PerLink[LinkMotion], q: Scalars, vdot: Scalars, *, gravity: Scalars, wrenches: Applied | None
) -> PerLink[tuple[Force, Force]]:
    """The force of the joint on every link: in the link's frame about its origin, and in the parent's frame about its own."""

    def accelerate(link: Link, parent: Motion) -> Motion:
        return acceleration(motions[link], parent, link.velocities(vdot))  # N (3), (4)

    accelerations = outward(tree, accelerate, falling(gravity))

    def support(link: Link, children: list[tuple[Force, Force]]) -> tuple[Force, Force]:
        motion = motions[link]
        force = link.inertia.times(accelerations[link]) + link.inertia.velocity_force(motion.omega)  # N (5), and of (7), (8)
        if wrenches is not None:
            force = force - wrenches.on(link, q)  # N (6)
        for _, from_child in children:
            force = force + from_child  # N (7), (8)
        return force, force.to_parent(motion.X_PL)

    return inward(tree, support)
