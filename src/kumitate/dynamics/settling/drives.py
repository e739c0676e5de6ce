"""The efforts of drives within a step that is implicit in them, each within its limit.

Over a step h the effort of a drive at the state that the step leads to, q + h v' and v' = v + h v̇, is linear in v̇:
τ = e − r v̇ with r = h (kd + h kp) ≥ 0, which acts like an armature, so that stiff drives stay stable. Where |τ| would be above
the limit, the effort is the limit, a constant; which drives these are follows from the motion that results (`limited`).

Drives with states of their own in a step: implicit in these states, so that stiff ones such as oil stay stable.

With rates f(q, v, s), a step h changes s by δ = h (f + J δ + f_v h v̇), where J = ∂f/∂s and f_v = ∂f/∂v, evaluated where the
current velocity leads to (a linearly implicit Euler step). The effort at its end is linear in v̇, as that of other drives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...model import Command, Driven, DriveWithState
from ...model.drives import StateLaw
from ...scalar import Scalar, Scalars, absolute, is_zero, maximum, minimum, select
from ...spatial import dot

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
    driven: Sequence[Driven], q: Scalars, v: Scalars, commands: Sequence[Command], states: Scalars,
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
    return maximum(minimum(wished, joint.limit), -joint.limit) if joint.limited else wished


def limited(joint: Driven, force: DriveForce, rate: Scalar) -> DriveForce:
    """The effort of a drive as it acts while its joint accelerates at `rate`: constant where the limit is reached."""
    if not joint.limited:
        return force
    wished = force.effort - force.resisting * rate
    beyond = absolute(wished) > joint.limit * (1.0 + _ROUNDING)
    most = select(wished > 0.0, joint.limit, -joint.limit)
    return DriveForce(select(beyond, most, force.effort), select(beyond, 0.0, force.resisting))


def effort_of_state(
    drive: DriveWithState, q: Scalar, v: Scalar, command: Command, state: Scalars, h: Scalar
) -> tuple[Scalar, Scalar]:
    """e and r of the effort e − r v̇ at the end of a step h; e alone, at this instant, for h = 0."""
    law = drive.state_law(q + h * v, v, command, state)
    coasting, by_rate = _changes(law, h)
    return law.effort + h * dot(law.by_state, coasting), -h * h * dot(law.by_state, by_rate)


def state_rates(
    driven: Sequence[Driven], q: Scalars, v: Scalars, commands: Sequence[Command], states: Scalars,
    rates: Scalars, h: Scalar,
) -> list[Scalar]:  # fmt: skip
    """The rates of all states of drives, means over a step h [s], while the joints accelerate at `rates`."""
    found: list[Scalar] = []
    for joint, command in zip(driven, commands, strict=True):
        if isinstance(joint.drive, DriveWithState):
            law = joint.drive.state_law(q[joint.q] + h * v[joint.v], v[joint.v], command, states[joint.states])
            coasting, by_rate = _changes(law, h)
            found += [a + h * b * rates[joint.v] for a, b in zip(coasting, by_rate, strict=True)]
    return found


def _changes(law: StateLaw, h: Scalar) -> tuple[list[Scalar], list[Scalar]]:
    """(1 − h J)⁻¹ f and (1 − h J)⁻¹ f_v.

    By elimination without exchanges: states that decay by themselves make the diagonal larger than the rest.
    """
    n = len(law.rates)
    A = [[(1.0 if i == j else 0.0) - h * law.rates_by_state[i][j] for j in range(n)] for i in range(n)]
    columns = [[rate, slope] for rate, slope in zip(law.rates, law.rates_by_velocity, strict=True)]
    for k in range(n):
        for i in range(k + 1, n):
            factor = A[i][k] / A[k][k]
            A[i] = [a - factor * b for a, b in zip(A[i], A[k], strict=True)]
            columns[i] = [a - factor * b for a, b in zip(columns[i], columns[k], strict=True)]
    for k in reversed(range(n)):
        for i in range(k + 1, n):
            columns[k] = [a - A[k][i] * b for a, b in zip(columns[k], columns[i], strict=True)]
        columns[k] = [a / A[k][k] for a in columns[k]]
    return [row[0] for row in columns], [row[1] for row in columns]
