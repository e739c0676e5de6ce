"""Runge-Kutta-Fehlberg 4(5), the thesis's integrator (thesis 5.1).

E. Fehlberg, Low-order classical Runge-Kutta formulas with stepsize control, NASA TR R-315, 1969, table III. The fifth-order
result is the one that is propagated.
"""

from __future__ import annotations

from .runge_kutta import ButcherTableau, RungeKutta

__all__ = ["RKF45", "RKF45Adaptive"]


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
