"""Accelerations and joint forces by assembling articulated bodies and taking them apart again (thesis 2.2, 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..model import Tree
from ..spatial import Dense, Force, Motion, Vector3
from .motion import link_motions
from .order import WORLD, assembly_order
from .prepared import Prepared, prepared
from .steps import JointLaw, assembled, disassembled
from .unassembled import Joint, joint_of, rigid_body, world_body
from .wrenches import Applied

__all__ = ["Accelerations", "assembled_accelerations"]

Scalar = Any


@dataclass(frozen=True)
class Accelerations:
    """v̇ (nv), and the force [n; f] of each joint on its link, in the link's frame and about its origin, by the link's index."""

    vdot: list[Scalar]
    forces: dict[int, list[Scalar]]


def assembled_accelerations(
    law: JointLaw,
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Applied | None = None,
    order: str | Sequence[int] = "both_ends",
) -> Accelerations:
    """Accelerations and joint forces of a tree by assembly and disassembly.

    Args:
        law: how a joint is closed; `ada` and `dca` have theirs.
        order: in which joints are assembled: a name of `order.ORDERS`, or the links' indices.

    Raises:
        ModelError: if a link's inertia has no inverse and no joint can lend it what it lacks, or the order does not name
            every joint once; InputError: for an unknown order.
    """
    ready, turns = prepared(tree), assembly_order(tree, order)
    motions = link_motions(ready.tree, q, v)
    when = {index: turn for turn, index in enumerate(turns)}
    joints, bodies = {}, {WORLD: world_body(gravity)}
    for link in ready.tree.links:
        carrier = ready.carriers[link.index]
        at_carrier = [carrier] * (carrier != WORLD) + [child.index for child in tree.children(carrier)]
        # as long as the carrying link is single, its Φ is numbers in its own frame: those are not turned
        single = carrier != WORLD and when[link.index] == min(when[index] for index in at_carrier)
        joints[link.index] = joint_of(ready, link, q, v, tau, motions[link].bias, in_carrier=single)
    for link, before in zip(ready.tree.links, tree.links, strict=True):
        pushed = Force() if wrenches is None else wrenches.on(before, q).to_child(ready.moved[link.index])
        at_center = pushed.to_child(ready.to_center(link.index))
        bodies[link.index] = rigid_body(ready, link, motions[link].omega, joints, at_center)
    forces, pulls = disassembled(assembled(law, joints, ready.carriers, bodies, turns))
    V = {index: body.B[index] + body.response(index, pulls) for index, body in bodies.items()}
    vdot: list[Scalar] = [0.0] * tree.nv
    for link in ready.tree.links:
        joint, carrier = joints[link.index], ready.carriers[link.index]
        relative = joint.inner.outward(V[link.index]) - joint.outer.inward(V[carrier]) - joint.bias
        for k, rate in enumerate((joint.T_a.T @ Dense.column(relative)).entries()):  # (2.22)
            vdot[link.v_start + k] = rate
    true = {
        link.index: _true_force(ready, link.index, joints[link.index], forces[link.index], V[link.index], motions[link].omega)
        for link in ready.tree.links
    }
    return Accelerations(vdot, {index: list(force) for index, force in true.items()})


def _true_force(ready: Prepared, index: int, joint: Joint, force: Force, V: Motion, omega: Vector3) -> Force:
    """What a joint exerts on a link, in its frame as it was; less what moves the piece that the link carries for another."""
    X_LC = ready.to_center(index)
    whole = joint.inner.inward(force + joint.drive).to_parent(X_LC)
    if index in ready.lent:
        piece = ready.lent[index]
        whole = whole - piece.times(V.to_parent(X_LC)) - piece.velocity_force(omega)
    return whole.to_parent(ready.moved[index])
