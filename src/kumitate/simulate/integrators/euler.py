"""The semi-implicit Euler method, with implicit joint damping.

Where the inertia matrix is constant it is symplectic, and its energy does not drift. Where it varies with the posture, as in
most mechanisms, the energy drifts in proportion to the step.
"""

from __future__ import annotations

from typing import Any

from ...scalar import Scalar
from .contract import Integrator, IntegratorState, MechanicalSystem, worst_error


class SemiImplicitEuler(Integrator):
    """v₁ = v + h v̇(q, v), q₁ = q ⊕ h v₁: order one, and stable under any joint damping."""

    name = "semi_implicit_euler"
    order = 1
    implicit_damping = True
    opens = 0.5  # the rows' rates at the end, −h J̇v at the old posture, move them by −h² J̇v; half of that is right

    def step(self, system: MechanicalSystem, t: Any, h: Any, state: IntegratorState) -> tuple[IntegratorState, Any]:
        begun = system.begin(t, h, state.q, state.v, h)
        v = [rate + h * a for rate, a in zip(begun.v, begun.acceleration, strict=True)]
        q = system.integrate(begun.q, [more + h * rate for more, rate in zip(begun.move, v, strict=True)])
        return IntegratorState(*system.settled(q, v), state.work + h * begun.power), 0.0


# --- The semi-implicit Euler method, extrapolated to high order: for stiff systems that need high accuracy ----------
# A step is made with 1, 2, … n substeps; the results, whose errors are series in the substep, are extrapolated to substep
# zero by Aitken and Neville's scheme (P. Deuflhard, Recent progress in extrapolation methods for ordinary differential
# equations, SIAM Review 27, 1985). Springs and damping stay implicit in every substep, so that fast ones die out instead of
# limiting the step.


class ExtrapolatedEuler(Integrator):
    """Order 8 with 36 evaluations per step; the step size is controlled by the difference of the last two extrapolations.

    Quaternions are extrapolated as four numbers and brought back to unit length.
    """

    name = "extrapolated_euler"
    order = 8
    implicit_damping = True
    adaptive = True

    def __init__(self, *, relative: float = 1e-8, absolute: float = 1e-10):
        self.relative = relative
        self.absolute = absolute

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        rows: list[list[list[Scalar]]] = []
        for n in range(1, self.order + 1):
            row = [_substeps(system, t, h, state, n)]
            for k in range(1, n):  # T_nk = T_n,k−1 + (T_n,k−1 − T_n−1,k−1) / (n/(n − k) − 1)
                weight = (n - k) / k
                pairs = zip(row[k - 1], rows[-1][k - 1], strict=True)
                row.append([finer + (finer - coarser) * weight for finer, coarser in pairs])
            rows.append(row)
        end, nq, nv = rows[-1][-1], len(state.q), len(state.v)
        start = [*state.q, *state.v]
        differences = [finer - coarser for finer, coarser in zip(end[:-1], rows[-1][-2][:-1], strict=True)]
        error = worst_error(start, end[:-1], differences, relative=self.relative, absolute=self.absolute)
        return IntegratorState(*system.settled(end[:nq], end[nq : nq + nv]), end[-1]), error


def _substeps(system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState, n: int) -> list[Scalar]:
    """q, v and work after n equal steps of the semi-implicit Euler method."""
    euler, part = SemiImplicitEuler(), h * (1.0 / n)
    for k in range(n):
        state, _ = euler.step(system, t + k * part, part, state)
    return [*state.q, *state.v, state.work]
