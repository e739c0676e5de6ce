"""Dynamics: one algorithm a file."""

from .aba import aba
from .crba import crba
from .passive import FRICTION_VELOCITY, passive_force, passive_slope
from .rnea import rnea
from .wrenches import Wrenches

__all__ = ["FRICTION_VELOCITY", "Wrenches", "aba", "crba", "passive_force", "passive_slope", "rnea"]
