"""Forward dynamics by the articulated-body algorithm, O(n) (thesis 2.2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..model import Link, PerLink, Tree, inward, outward
from ..spatial import ArticulatedBody, ArticulatedInertia, Force, Motion, Release, Vector3
from .motion import link_motions
from .passive import driving_force, resisting_inertia
from .wrenches import Wrenches

__all__ = ["aba", "joint_forces"]

Scalar = Any


@dataclass(frozen=True, slots=True)
class _Handle:
    """A link with all that hangs on it, as its joint and as its parent feel it; and how to find the joint's accelerations."""

    whole: ArticulatedBody
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
    _, accelerations = _solved(tree, q, v, tau, gravity, wrenches, implicit_step)
    return [rate for link in tree.links for rate in accelerations[link][1]]


def joint_forces(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Wrenches | None = None,
) -> list[Force]:
    """The force that every joint exerts on the link it carries, in the link's frame and about its origin (2.23).

    Arguments as of `aba`. The tree must be the true one: moving inertia inwards (`Mechanism.lean_tree`) changes what joints
    transmit.
    """
    handles, accelerations = _solved(tree, q, v, tau, gravity, wrenches, 0.0)
    return [handles[link].whole.force(accelerations[link][0]) for link in tree.links]


def _solved(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    gravity: Sequence[Scalar],
    wrenches: Wrenches | None,
    implicit_step: Scalar,
) -> tuple[PerLink, PerLink]:
    """Every link's handle, and its acceleration with its joint's v̇."""
    motions = link_motions(tree, q, v)

    def assemble(link: Link, children: list[_Handle]) -> _Handle:
        motion = motions[link]
        bias = link.inertia.velocity_force(motion.omega)  # P_i of (2.25)
        if wrenches is not None:
            bias = bias - wrenches.on(link, q)
        body = ArticulatedBody(ArticulatedInertia.rigid(link.inertia), bias)
        for child in children:
            body = body + child.felt  # (2.33), (2.34): the sums
        rates = link.velocities(v)
        drive, resisting = driving_force(link, link.velocities(tau), rates), resisting_inertia(link, rates, implicit_step)
        whole, releases = body, []
        for S, force, armature in zip(motion.S, drive, resisting, strict=True):
            body, release = body.release(S, force, armature)  # (2.33), (2.34): the joint's part
            releases.append(release)
        # (2.34) prints this term before the release; after it, the columns of S are exactly zero
        at_joint = body.bias + body.inertia.times(motion.bias)
        felt = ArticulatedBody(body.inertia.to_parent(motion.X_PL), at_joint.to_parent(motion.X_PL))
        return _Handle(whole, felt, tuple(releases))

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
    return handles, outward(tree, accelerate, (falling, []))
