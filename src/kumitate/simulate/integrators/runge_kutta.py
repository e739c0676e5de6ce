"""Explicit Runge-Kutta steps from a table of coefficients.

Quaternions are integrated as four numbers (thesis eq. 3.34) and brought back to unit length after the step; as the exact motion
stays on the manifold, this does not lower the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...scalar import Scalar
from .contract import Integrator, IntegratorState, MechanicalSystem, worst_error

__all__ = ["ButcherTableau", "RungeKutta"]


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
