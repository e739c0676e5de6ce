"""Integrators, under one contract: explicit, implicit in damping and springs, and those of jumping velocities."""

from .contract import Begun, Impact, Integrator, IntegratorState, MechanicalSystem
from .smooth import RK4, RKF45, ButcherTableau, ExtrapolatedEuler, RKF45Adaptive, RungeKutta, SemiImplicitEuler
from .time_stepping import FollowingSteps, Midpoint, TimeStepping, WithStops

__all__ = [
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
