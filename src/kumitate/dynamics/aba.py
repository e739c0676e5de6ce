"""Forward dynamics by the articulated-body algorithm, O(n) (thesis 2.2.2), and the force at every joint (2.23)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..model import Link, PerLink, Tree, inward, outward
from ..scalar import Scalar, Scalars
from ..spatial import ArticulatedBody, ArticulatedInertia, Force, Motion, Release
from .acting import Acting
from .motion import LinkMotion, falling, link_motions
from .passive import driving_force, resisting_inertia


def aba(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> list[Scalar]:
    """The joint accelerations v̇ of a tree.

    Args:
        tree: of the mechanism.
        q, v, tau: coordinates (nq), velocities (nv), generalised forces of the drives (nv).
        acting: everything that acts apart from the drives; its settings for loops have no effect.

    Returns:
        v̇ (nv) [rad/s² or m/s²].
    """
    motions = link_motions(tree, q, v)
    handles = articulated(tree, motions, q, v, tau, acting)
    moved = accelerations(tree, motions, lambda link: handles[link].releases, acting.gravity)
    return [rate for link in tree.links for rate in moved[link][1]]


@dataclass(frozen=True, slots=True)
class Handle:
    """The articulated body of a link and everything it carries, and how to find the accelerations of its joint.

    `whole`: with the joint locked, in the link's frame; `felt`: with the joint free, in the parent's frame."""

    whole: ArticulatedBody
    felt: ArticulatedBody
    releases: tuple[Release, ...]


def articulated(
    tree: Tree, motions: PerLink[LinkMotion], q: Scalars, v: Scalars, tau: Scalars, acting: Acting
) -> PerLink[Handle]:
    """The `Handle` of every link, from the tips to the root."""

    def assemble(link: Link, children: list[Handle]) -> Handle:
        motion = motions[link]
        bias = link.inertia.velocity_force(motion.omega) - acting.on(link, q)  # P_i of (2.25)
        body = ArticulatedBody(ArticulatedInertia.rigid(link.inertia), bias)
        for child in children:
            body = body + child.felt  # (2.33), (2.34): the sums
        rates = link.velocities(v)
        drive = driving_force(link, link.velocities(tau), link.coordinates(q), rates, acting.implicit_step)
        resisting = resisting_inertia(link, rates, acting.implicit_step)
        if len(acting.resisting):
            resisting = [a + b for a, b in zip(resisting, link.velocities(acting.resisting), strict=True)]
        whole, releases = body, []
        for offset, (S, force, armature) in enumerate(zip(motion.S, drive, resisting, strict=True)):
            k = link.v_start + offset  # not a number within a loop over limbs, where nothing is prescribed
            if acting.prescribed and k in acting.prescribed:
                body, release = body.carried_along(S, acting.prescribed[k])
            else:
                body, release = body.release(S, force, armature)  # (2.33), (2.34): the joint's part
            releases.append(release)
        # (2.34) prints this term before the release; after it, the columns of S are exactly zero
        at_joint = body.bias + body.inertia.times(motion.bias)
        felt = ArticulatedBody(body.inertia.to_parent(motion.X_PL), at_joint.to_parent(motion.X_PL))
        return Handle(whole, felt, tuple(releases))

    return inward(tree, assemble)


def accelerations(
    tree: Tree, motions: PerLink[LinkMotion], releases: Callable[[Link], Sequence[Release]], gravity: Scalars
) -> PerLink[tuple[Motion, list[Scalar]]]:
    """[α; a] of every link and v̇ of its joint, from the root to the tips; `releases` gives those of each link's joint."""

    def accelerate(link: Link, parent: tuple[Motion, list[Scalar]]) -> tuple[Motion, list[Scalar]]:
        motion = motions[link]
        return accelerated(motion, releases(link), parent[0].to_child(motion.X_PL) + motion.bias)

    return outward(tree, accelerate, (falling(gravity), []))


def accelerated(motion: LinkMotion, releases: Sequence[Release], A: Motion) -> tuple[Motion, list[Scalar]]:
    """[α; a] of a link and v̇ of its joint; A: [α; a] of the link with its joint locked."""
    vdot: list[Scalar] = []
    for S, release in reversed(list(zip(motion.S, releases, strict=True))):
        rate = release.acceleration(A)  # (2.30)
        A = A + S * rate
        vdot.insert(0, rate)
    return A, vdot


def joint_forces(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> list[Force]:
    """The force that every joint exerts on the link it carries, in the link's frame and about its origin (2.23).

    Arguments as for `aba`.

    Raises:
        InputError: for a base-parameter tree, in which joints transmit other forces; or as for `Acting.at_an_instant`.
    """
    tree.check_physical("joint_forces")
    motions = link_motions(tree, q, v)
    handles = articulated(tree, motions, q, v, tau, acting.at_an_instant("joint_forces"))
    moved = accelerations(tree, motions, lambda link: handles[link].releases, acting.gravity)
    return [handles[link].whole.force(moved[link][0]) for link in tree.links]
