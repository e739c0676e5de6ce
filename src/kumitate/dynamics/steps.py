"""One assembly after another, and back: the equations that ADA and DCA share (thesis eq. 2.15, 2.18, 2.21, 2.41, 2.46)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..spatial import Dense, Force, InverseInertia, Motion
from .handles import Body
from .unassembled import Joint

__all__ = ["Grip", "JointLaw", "Step", "assembled", "disassembled"]

Scalar = Any


class Grip(Protocol):
    """A closed joint's W of F_j = W (A's acceleration − B's) (2.21, 2.42), besides what its drive exerts."""

    def force(self, relative: Motion) -> Force:
        """W a."""

    def between(self, left: Dense, right: Dense) -> Dense:
        """G W Hᵀ; symmetric where both are the same, and one triangle is read then."""


#: How a joint is closed: from the joint and Ψ = Φ_A + Φ_B at it.
JointLaw = Callable[[Joint, Dense], Grip]


@dataclass(frozen=True)
class Step:
    """Joint j closed between A, with handle a at it, and B, with handle b; γ is its force while all other handles are free."""

    j: int
    a: int
    b: int
    joint: Joint
    A: Body
    B: Body
    grip: Grip
    gamma: Force


def assembled(
    law: JointLaw, joints: Mapping[int, Joint], carriers: Mapping[int, int], links: Mapping[int, Body], order: Sequence[int]
) -> list[Step]:
    """Every joint closed, in this order; `links` are the bodies by their handles to begin with."""
    body = dict(links)
    still_open = {index: [j for j, a in carriers.items() if index in (j, a)] for index in links}
    steps = []
    for j in order:
        a, joint = carriers[j], joints[j]
        A, B = body[a], body[j]
        grip = law(joint, (joint.outer.inward(A.Phi[a]) + joint.inner.outward(B.Phi[j])).matrix())
        beta = joint.outer.inward(A.B[a]) + joint.bias - joint.inner.outward(B.B[j])
        step = Step(j, a, j, joint, A, B, grip, grip.force(beta))
        still_open[a].remove(j)
        still_open[j].remove(j)
        joined = _joined(step, [index for index in (*A.B, *B.B) if still_open[index]])
        body |= dict.fromkeys((*A.B, *B.B), joined)
        steps.append(step)
    return steps


def _joined(step: Step, handles: Sequence[int]) -> Body:
    """A and B as one body with these handles (2.21, 2.46)."""
    joint, grip = step.joint, step.grip
    on_A, on_B = (step.A, step.a, joint.outer, step.gamma * -1.0), (step.B, step.b, joint.inner.inverse(), step.gamma)
    side = {i: on_A if i in step.A.B else on_B for i in handles}
    reach = {i: body.reach(i, at, to_joint) for i, (body, at, to_joint, _) in side.items()}
    Phi: dict[int, InverseInertia] = {}
    bias: dict[int, Motion] = {}
    between: dict[tuple[int, int], Dense] = {}
    for i, (body, at, to_joint, pull) in side.items():
        bias[i] = body.B[i] + body.answer(i, at, to_joint.outward(pull))
        Phi[i] = body.Phi[i].minus(grip.between(reach[i], reach[i]))
        for k in handles:
            if k != i:
                through = grip.between(reach[i], reach[k])
                between[i, k] = body.between[i, k] - through if k in body.B else through
    return Body(Phi, bias, between)


def disassembled(steps: Sequence[Step]) -> tuple[dict[int, Force], dict[int, Force]]:
    """The forces of all joints, in J, and what they add up to on every link, at its handle; in reverse order of assembly."""
    forces: dict[int, Force] = {}
    pulls: dict[int, Force] = {}  # by the joints that are open again
    for step in reversed(steps):
        joint = step.joint
        relative = joint.outer.inward(step.A.response(step.a, pulls)) - joint.inner.outward(step.B.response(step.b, pulls))
        force = step.gamma + step.grip.force(relative)  # (2.15) with (2.18), (2.41)
        forces[step.j] = force  # on B; its opposite on A
        pulls[step.a] = pulls.get(step.a, Force()) - joint.outer.outward(force)
        pulls[step.b] = pulls.get(step.b, Force()) + joint.inner.inward(force)
    return forces, pulls
