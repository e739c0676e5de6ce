"""Integrators, under one contract: explicit, implicit in damping and springs, and those of jumping velocities."""

from .contract import Begun, Impact, Integrator, IntegratorState, MechanicalSystem
from .euler import ExtrapolatedEuler, SemiImplicitEuler
from .extended import FollowingSteps, WithStops
from .runge_kutta import RK4, RKF45, ButcherTableau, RKF45Adaptive, RungeKutta
from .time_stepping import FAILED, Midpoint, TimeStepping

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
