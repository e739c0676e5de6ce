"""Dynamics: one algorithm a file."""

from .aba import aba
from .crba import crba
from .factored import factored, solve_symmetric
from .jacobian_inertia import jacobian_inertia
from .passive import FRICTION_VELOCITY, passive_force, passive_slope
from .rnea import rnea
from .unit_vector import unit_vector
from .wrenches import Wrenches

__all__ = [
    "FRICTION_VELOCITY", "Wrenches", "aba", "crba", "factored", "jacobian_inertia", "passive_force", "passive_slope", "rnea",
    "solve_symmetric", "unit_vector",
]  # fmt: skip
