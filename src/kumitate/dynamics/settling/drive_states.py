"""Drives with states of their own in a step: implicit in these states, so that stiff ones such as oil stay stable.

With rates f(q, v, s), a step h changes s by δ = h (f + J δ + f_v h v̇), where J = ∂f/∂s and f_v = ∂f/∂v, evaluated where the
current velocity leads to (a linearly implicit Euler step). The effort at its end is linear in v̇, as that of other drives.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Command, Driven, DriveWithState
from ...model.drives.contract import StateLaw
from ...scalar import Scalar
from ...spatial import dot


def effort_of_state(
    drive: DriveWithState, q: Scalar, v: Scalar, command: Command, state: Sequence[Scalar], h: Scalar
) -> tuple[Scalar, Scalar]:
    """e and r of the effort e − r v̇ at the end of a step h; e alone, at this instant, for h = 0."""
    law = drive.state_law(q + h * v, v, command, state)
    coasting, by_rate = _changes(law, h)
    return law.effort + h * dot(law.by_state, coasting), -h * h * dot(law.by_state, by_rate)


def state_rates(
    driven: Sequence[Driven], q: Sequence[Scalar], v: Sequence[Scalar], commands: Sequence[Command], states: Sequence[Scalar],
    rates: Sequence[Scalar], h: Scalar,
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
