"""The classical Runge-Kutta method."""

from __future__ import annotations

from .runge_kutta import ButcherTableau, RungeKutta

__all__ = ["RK4"]


class RK4(RungeKutta):
    """Four stages, order four, at the fixed step."""

    name = "rk4"
    order = 4
    tableau = ButcherTableau(
        c=(0.0, 1 / 2, 1 / 2, 1.0),
        a=((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
        b=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
    )
