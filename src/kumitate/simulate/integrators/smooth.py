"""Steps of smooth motions: explicit Runge-Kutta ones from a table of coefficients, and those of Euler, implicit in damping.

Quaternions are integrated as four numbers (thesis eq. 3.34) and brought back to unit length after the step; as the exact motion
stays on the manifold, this does not lower the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...scalar import Scalar
from .contract import Integrator, IntegratorState, MechanicalSystem, worst_error


@dataclass(frozen=True)
class ButcherTableau:
    """Nodes c, stage weights a (lower triangle), result weights b, and those of the embedded result of other order, if any."""

    c: tuple[float, ...]
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    embedded: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for weights in (self.b, self.embedded):
            if weights is not None and abs(sum(weights) - 1.0) > 1e-14:
                raise ValueError(f"the weights {weights} do not add up to one")
        for node, row in zip(self.c, self.a, strict=True):
            if abs(sum(row) - node) > 1e-14:
                raise ValueError(f"the stage weights {row} do not add up to their node {node}")


class RungeKutta(Integrator):
    """A step of the method that `tableau` defines.

    Attributes:
        relative, absolute: tolerances that the error estimate is measured in.
    """

    tableau: ClassVar[ButcherTableau]

    def __init__(self, *, relative: float = 1e-8, absolute: float = 1e-10):
        self.relative = relative
        self.absolute = absolute

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        table = self.tableau
        begun = system.begin(t, 0.0, state.q, state.v, h)
        start = [*(a + b for a, b in zip(begun.q, system.rate(begun.q, begun.move), strict=True)), *begun.v, state.work]
        rates = [[*system.rate(begun.q, begun.v), *begun.acceleration, begun.power]]
        nq, nv = len(begun.q), len(begun.v)
        for c, row in zip(table.c[1:], table.a[1:], strict=True):
            x = _advanced(start, h, row, rates)
            q, v = system.staged(x[:nq], x[nq : nq + nv], begun)
            acceleration, power = system.dynamics(t + c * h, 0.0, q, v)
            rates.append([*system.rate(q, v), *acceleration, power])
        end = _advanced(start, h, table.b, rates)
        after = IntegratorState(*system.settled(end[:nq], end[nq : nq + nv]), end[-1])
        return after, self._error(h, rates, start[:-1], end[:-1]) if self.adaptive else 0.0

    def _error(self, h: Scalar, rates: list[list[Scalar]], start: list[Scalar], end: list[Scalar]) -> Scalar:
        """The error of the embedded result, which is the step's with other weights."""
        assert self.tableau.embedded is not None
        weights = [b - e for b, e in zip(self.tableau.b, self.tableau.embedded, strict=True)]
        differences = _advanced([0.0] * len(start), h, weights, rates)
        return worst_error(start, end, differences, relative=self.relative, absolute=self.absolute)


def _advanced(x: Sequence[Scalar], h: Scalar, weights: Sequence[float], rates: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """x + h Σ w·rate."""
    used = [(w, rate) for w, rate in zip(weights, rates, strict=False) if w]
    if not used:
        return list(x)
    return [value + h * sum((w * rate[k] for w, rate in used), 0.0) for k, value in enumerate(x)]


# --- The classical Runge-Kutta method -------------------------------------------------------------------------------


class RK4(RungeKutta):
    """Four stages, order four, at the fixed step."""

    name = "rk4"
    order = 4
    tableau = ButcherTableau(
        c=(0.0, 1 / 2, 1 / 2, 1.0),
        a=((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
        b=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
    )


# --- Runge-Kutta-Fehlberg 4(5), the thesis's integrator (thesis 5.1) ------------------------------------------------
# E. Fehlberg, Low-order classical Runge-Kutta formulas with stepsize control, NASA TR R-315, 1969, table III. The fifth-order
# result is the one that is propagated.


class RKF45(RungeKutta):
    """Six stages, order five, at the fixed step."""

    name = "rkf45"
    order = 5
    tableau = ButcherTableau(
        c=(0.0, 1 / 4, 3 / 8, 12 / 13, 1.0, 1 / 2),
        a=(
            (),
            (1 / 4,),
            (3 / 32, 9 / 32),
            (1932 / 2197, -7200 / 2197, 7296 / 2197),
            (439 / 216, -8.0, 3680 / 513, -845 / 4104),
            (-8 / 27, 2.0, -3544 / 2565, 1859 / 4104, -11 / 40),
        ),
        b=(16 / 135, 0.0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55),
        embedded=(25 / 216, 0.0, 1408 / 2565, 2197 / 4104, -1 / 5, 0.0),
    )


class RKF45Adaptive(RKF45):
    """The same formulas with the step chosen by the difference of their two results."""

    name = "rkf45_adaptive"
    adaptive = True


# --- The semi-implicit Euler method, with implicit joint damping ------------------------------------------------------
# Where the inertia matrix is constant it is symplectic, and its energy does not drift. Where it varies with the posture, as in
# most mechanisms, the energy drifts in proportion to the step.


class SemiImplicitEuler(Integrator):
    """v₁ = v + h v̇(q, v), q₁ = q ⊕ h v₁: order one, and stable under any joint damping."""

    name = "semi_implicit_euler"
    order = 1
    implicit_damping = True
    opens = 0.5  # the rows' rates at the end, −h J̇v at the old posture, move them by −h² J̇v; half of that is right

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
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
