"""Integrators: one method per file, under one contract."""

from .contract import Begun, Impact, Integrator, IntegratorState, MechanicalSystem
from .extrapolated_euler import ExtrapolatedEuler
from .following import FollowingSteps
from .midpoint import Midpoint
from .rk4 import RK4
from .rkf45 import RKF45, RKF45Adaptive
from .runge_kutta import ButcherTableau, RungeKutta
from .semi_implicit_euler import SemiImplicitEuler
from .time_stepping import FAILED, TimeStepping
from .with_stops import WithStops

__all__ = [
    "FAILED",
    "INTEGRATORS",
    "RK4",
    "RKF45",
    "Begun",
    "ButcherTableau",
    "ExtrapolatedEuler",
    "FollowingSteps",
    "Impact",
    "Integrator",
    "IntegratorState",
    "MechanicalSystem",
    "Midpoint",
    "RKF45Adaptive",
    "RungeKutta",
    "SemiImplicitEuler",
    "TimeStepping",
    "WithStops",
]  # fmt: skip

#: Every integrator by its name.
INTEGRATORS: dict[str, type[Integrator]] = {
    kind.name: kind for kind in (RKF45, RKF45Adaptive, RK4, SemiImplicitEuler, ExtrapolatedEuler, Midpoint)
}
