"""Assembling articulated bodies joint by joint and taking them apart again: what ADA and DCA share (thesis 2.2, 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ModelError
from ..model import Link, Tree
from ..spatial import Dense
from .handles import Body, Joint, joint_of, rigid_body, world_body
from .motion import link_motions
from .wrenches import Wrenches

__all__ = ["Accelerations", "JointLaw", "assembled_accelerations"]

Scalar = Any


#: How a joint is closed: from the joint, Φ_A + Φ_B and B_A − B_B, the W and γ of F_j = W (Σ Φ_ji F_i − Σ Φ_jk F_k) + γ,
#: with i the other handles of A and k those of B (2.41; 2.15 with 2.18).
JointLaw = Callable[[Joint, Dense, Dense], tuple[Dense, Dense]]


@dataclass(frozen=True)
class Accelerations:
    """v̇ (nv), and the force [n; f] of each joint on its link, in the link's frame and about its origin, by the link's index."""

    vdot: list[Scalar]
    forces: dict[int, list[Scalar]]


@dataclass(frozen=True)
class Step:
    """One assembly: joint j between A, on the side of the world, and B."""

    link: Link
    joint: Joint
    A: Body
    B: Body
    W: Dense
    gamma: Dense


def assembled_accelerations(
    law: JointLaw,
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Wrenches | None = None,
    order: Sequence[int] | None = None,
) -> Accelerations:
    """Accelerations and joint forces of a tree by assembly and disassembly.

    Args:
        law: how a joint is closed; `ada` and `dca` have theirs.
        order: the links' indices in the order in which their joints are assembled; from the tips inwards by default.

    Raises:
        ModelError: if a link's inertia has no inverse, or the order does not name every joint once.
    """
    order = list(reversed(range(len(tree.links)))) if order is None else list(order)
    if sorted(order) != list(range(len(tree.links))):
        raise ModelError(f"the order of assembly {order} must name each of the joints 0 … {len(tree.links) - 1} once")
    motions = link_motions(tree, q, v)
    bodies = [world_body(tree, motions, gravity), *(rigid_body(tree, link, q, motions, wrenches) for link in tree.links)]
    steps = []
    for j in order:
        link = tree.links[j]
        joint = joint_of(link, q, v, tau)
        A, B = sorted((body for body in bodies if j in body.B), key=lambda body: j in body.links)  # B has the child
        W, gamma = law(joint, A.Phi[j, j] + B.Phi[j, j], A.B[j] - B.B[j])
        steps.append(Step(link, joint, A, B, W, gamma))
        bodies = [body for body in bodies if body is not A and body is not B] + [_assembled(j, A, B, W, gamma)]
    return _disassembled(tree, steps)


def _assembled(j: int, A: Body, B: Body, W: Dense, gamma: Dense) -> Body:
    """A and B joined at j (2.21, 3.7)."""
    Phi, bias = {}, {}
    sides = [(A, i, -1.0) for i in A.B if i != j] + [(B, k, 1.0) for k in B.B if k != j]
    for body, i, sign in sides:
        reach = body.Phi[i, j] @ W
        push = body.Phi[i, j] @ gamma
        bias[i] = body.B[i] + push if sign > 0.0 else body.B[i] - push
        for other, k, other_sign in sides:
            change = reach @ other.Phi[j, k]
            Phi[i, k] = body.Phi[i, k] - change if sign == other_sign else change
    return Body(A.links | B.links, Phi, bias)


def _disassembled(tree: Tree, steps: Sequence[Step]) -> Accelerations:
    """Forces and accelerations at every joint, in the reverse order of assembly (2.15, 2.18, 2.22)."""
    at: dict[int, Dense] = {}  # the force on the child's side of every joint that is open again
    vdot: list[Scalar] = [0.0] * tree.nv
    for step in reversed(steps):
        j = step.link.index
        # a handle is the child's side of its joint where the body has the child
        on_A, on_B = ({i: at[i] if i in body.links else -at[i] for i in body.B if i != j} for body in (step.A, step.B))
        pushed = step.gamma
        for i, force in on_A.items():
            pushed = pushed + step.W @ (step.A.Phi[j, i] @ force)
        for k, force in on_B.items():
            pushed = pushed - step.W @ (step.B.Phi[j, k] @ force)
        at[j] = pushed  # F_j on B; −F_j on A
        relative = step.B.acceleration(j, {**on_B, j: at[j]}) - step.A.acceleration(j, {**on_A, j: -at[j]})
        for k, rate in enumerate((step.joint.T_a.T @ relative).entries()):  # (2.22)
            vdot[step.link.v_start + k] = rate
    return Accelerations(vdot, {j: force.entries() for j, force in at.items()})
