"""Equations of motion from energies: readable equations and fast code from SymPy (lecture Y, 8 and 9; thesis 4.2.1)."""

from .forces import (
    coulomb,
    generalised_force,
    gravity,
    quadratic_drag,
    rotation,
    rotation_in_space,
    spring,
    translation,
    viscous,
)
from .forward import lagrange
from .motion_program import Trajectory
from .symbols import coordinates
from .system import Equations, FirstOrder, System, of_mechanism

__all__ = [
    "Equations", "FirstOrder", "System", "Trajectory", "coordinates", "coulomb", "generalised_force", "gravity", "lagrange",
    "of_mechanism", "quadratic_drag", "rotation", "rotation_in_space", "spring", "translation", "viscous",
]  # fmt: skip
