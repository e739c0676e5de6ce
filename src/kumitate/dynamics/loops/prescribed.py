"""Forward dynamics of joints that follow a given motion: their accelerations are known, and their efforts are found.

Such joints are not released in the articulated-body algorithm, which then gives the accelerations of all others; the effort
follows from the force on the articulated body that the joint carries (Featherstone 2008, section 9.2: hybrid dynamics).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...model import PerLink, Tree, outward
from ...scalar import Scalar, Scalars
from ..aba import Handle, accelerations, articulated
from ..acting import Acting
from ..motion import LinkMotion, acceleration, falling, link_motions
from ..passive import driving_force
from .articulated_loops import ArticulatedLoops, articulated_loops


class Moving(NamedTuple):
    """Coordinates, velocities, accelerations and efforts of all joints."""

    q: Scalars
    v: Scalars
    vdot: Scalars
    tau: Scalars


def prescribed_dynamics(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> tuple[list[Scalar], list[Scalar]]:
    """v̇ (nv), and the efforts of the joints in `acting.prescribed`, in its order, in addition to those in tau [N·m or N].

    Arguments as for `aba_with_loops`.
    """
    if tree.closed:
        loops, decay = articulated_loops(tree, q, v, tau, acting), acting.baumgarte
        wanted = [-decay * (2.0 * row.rate + decay * row.error) for row in loops.rows]
        vdot = loops.accelerations(wanted)
        return vdot, efforts_in_loops(loops, wanted, Moving(q, v, vdot, tau), acting)
    motions = link_motions(tree, q, v)
    handles = articulated(tree, motions, q, v, tau, acting)
    moved = accelerations(tree, motions, lambda link: handles[link].releases, acting.gravity)
    vdot = [rate for link in tree.links for rate in moved[link][1]]
    return vdot, efforts_of_motion(tree, motions, handles, {}, Moving(q, v, vdot, tau), acting)


def efforts_in_loops(loops: ArticulatedLoops, wanted: Scalars, moving: Moving, acting: Acting) -> list[Scalar]:
    """As `efforts_of_motion`, while the loops' rows have the accelerations `wanted`."""
    if not acting.prescribed:
        return []
    pushes: dict[int, Scalar] = {}  # of the rows on each joint, with every joint further in locked
    for reach, force in zip(loops.reached, loops.forces(wanted), strict=True):
        for k, push in reach.push.items():
            pushes[k] = pushes.get(k, 0.0) + push * force
    return efforts_of_motion(loops.tree, loops.motions, loops.handles, pushes, moving, acting)


def efforts_of_motion(
    tree: Tree, motions: PerLink[LinkMotion], handles: PerLink[Handle], pushes: Mapping[int, Scalar], moving: Moving,
    acting: Acting,
) -> list[Scalar]:  # fmt: skip
    """The efforts of the joints in `acting.prescribed` while all joints move like this.

    `pushes`: of the loops' rows on joints, by index in v.
    """
    q, v, vdot, tau = moving
    A = outward(tree, lambda link, P: acceleration(motions[link], P, link.velocities(vdot)), falling(acting.gravity))
    found = {}
    for link in tree.links:
        k = link.v_start
        if k not in acting.prescribed:
            continue
        ((S,), (armature,)) = motions[link].S, link.armature
        (given,) = driving_force(link, link.velocities(tau), link.coordinates(q), link.velocities(v))
        carried = S.dot(handles[link].whole.force(A[link])) + armature * vdot[k]
        found[k] = carried - given - pushes.get(k, 0.0)
    return [found[k] for k in acting.prescribed]
