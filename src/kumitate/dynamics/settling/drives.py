"""The efforts of drives within a step that is implicit in them, each within its limit.

Over a step h the effort of a drive at the state that the step leads to, q + h v' and v' = v + h v̇, is linear in v̇:
τ = e − r v̇ with r = h (kd + h kp) ≥ 0, which acts like an armature, so that stiff drives stay stable. Where |τ| would be above
the limit, the effort is the limit, a constant; which drives these are follows from the motion that results (`limited`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from ...model import Command, Driven, DriveWithState
from ...scalar import Scalar, absolute, is_zero, maximum, minimum, select
from .drive_states import effort_of_state

#: A drive whose effort is within this part of its limit is at it: rounding must not make it change sides.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class DriveForce:
    """The effort of a drive in a step, e − r v̇.

    Attributes:
        effort: e [N·m or N]; `resisting`: r [kg·m² or kg], zero where the effort is constant.
    """

    effort: Scalar
    resisting: Scalar


def drive_forces(
    driven: Sequence[Driven], q: Sequence[Scalar], v: Sequence[Scalar], commands: Sequence[Command], states: Sequence[Scalar],
    implicit_step: Scalar,
) -> list[DriveForce]:  # fmt: skip
    """The efforts of drives at a state, without their limits.

    Args:
        driven: the joints with drives; `commands`: of each.
        q, v: coordinates and velocities of all joints.
        states: of all drives that have their own, one after the other.
        implicit_step: h [s]; 0 for the efforts at this instant, which do not depend on v̇.
    """
    found = []
    for joint, command in zip(driven, commands, strict=True):
        if isinstance(joint.drive, DriveWithState):
            own = states[joint.states]
            found.append(DriveForce(*effort_of_state(joint.drive, q[joint.q], v[joint.v], command, own, implicit_step)))
            continue
        law = joint.drive.law(q[joint.q], v[joint.v], command)
        ahead = law.effort - implicit_step * law.stiffness * v[joint.v]  # at q + h v, as for the springs of joints
        found.append(DriveForce(ahead, implicit_step * (law.damping + implicit_step * law.stiffness)))
    return found


def effort_along(joint: Driven, force: DriveForce, rate: Scalar) -> Scalar:
    """The effort of a drive while its joint accelerates at `rate`, within its limit [N·m or N]."""
    wished = force.effort if is_zero(force.resisting) else force.effort - force.resisting * rate
    return wished if joint.limit == inf else maximum(minimum(wished, joint.limit), -joint.limit)


def limited(joint: Driven, force: DriveForce, rate: Scalar) -> DriveForce:
    """The effort of a drive as it acts while its joint accelerates at `rate`: constant where the limit is reached."""
    if joint.limit == inf:
        return force
    wished = force.effort - force.resisting * rate
    beyond = absolute(wished) > joint.limit * (1.0 + _ROUNDING)
    most = select(wished > 0.0, joint.limit, -joint.limit)
    return DriveForce(select(beyond, most, force.effort), select(beyond, 0.0, force.resisting))
