"""Forward dynamics by the articulated-body algorithm, O(n) (thesis 2.2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..model import Link, Tree, inward, outward
from ..spatial import ArticulatedBody, ArticulatedInertia, Motion, Release, Vector3
from .motion import link_motions
from .passive import passive_force, passive_slope
from .wrenches import Wrenches

__all__ = ["aba"]

Scalar = Any


@dataclass(frozen=True, slots=True)
class _Handle:
    """A link with all that hangs on it, felt by its parent; and how to find its joint's accelerations later."""

    felt: ArticulatedBody
    releases: tuple[Release, ...]


def aba(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Wrenches | None = None,
    implicit_step: Scalar = 0.0,
) -> list[Scalar]:
    """The joint accelerations v̇ of a tree.

    Args:
        tree: the mechanism's.
        q, v, tau: coordinates (nq), velocities (nv), generalised forces of the drives (nv).
        gravity: acceleration of free fall in the world [m/s²].
        wrenches: external forces on links.
        implicit_step: a step h > 0 [s] makes v̇ what an integration step that is implicit in the joints' damping needs: the
            damping then acts like the armature h·∂f/∂v.

    Returns:
        v̇ (nv) [rad/s² or m/s²].
    """
    motions = link_motions(tree, q, v)

    def assemble(link: Link, children: list[_Handle]) -> _Handle:
        motion = motions[link]
        bias = link.inertia.velocity_force(motion.omega)  # P_i of (2.25)
        if wrenches is not None:
            bias = bias - wrenches.on(link, q)
        body = ArticulatedBody(ArticulatedInertia.rigid(link.inertia), bias)
        for child in children:
            body = body + child.felt  # (2.33), (2.34): the sums
        drive = [t - f for t, f in zip(link.velocities(tau), passive_force(link, link.velocities(v)), strict=True)]
        resisting = [
            armature + implicit_step * slope
            for armature, slope in zip(link.armature, passive_slope(link, link.velocities(v)), strict=True)
        ]
        releases = []
        for S, force, armature in zip(motion.S, drive, resisting, strict=True):
            body, release = body.release(S, force, armature)  # (2.33), (2.34): the joint's part
            releases.append(release)
        # (2.34) prints this term before the release; after it, the columns of S are exactly zero
        at_joint = body.bias + body.inertia.times(motion.bias)
        felt = ArticulatedBody(body.inertia.to_parent(motion.X_PL), at_joint.to_parent(motion.X_PL))
        return _Handle(felt, tuple(releases))

    handles = inward(tree, assemble)

    def accelerate(link: Link, parent: tuple[Motion, list[Scalar]]) -> tuple[Motion, list[Scalar]]:
        motion, releases = motions[link], handles[link].releases
        A = parent[0].to_child(motion.X_PL) + motion.bias
        vdot: list[Scalar] = []
        for S, release in reversed(list(zip(motion.S, releases, strict=True))):
            rate = release.acceleration(A)  # (2.30)
            A = A + S * rate
            vdot.insert(0, rate)
        return A, vdot

    falling = Motion(Vector3(), -Vector3.of(gravity))  # the world accelerated upwards replaces gravity
    accelerations = outward(tree, accelerate, (falling, []))
    return [rate for link in tree.links for rate in accelerations[link][1]]
