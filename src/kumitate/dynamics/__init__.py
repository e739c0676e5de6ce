"""Dynamics: one algorithm per file. Import ada, dca and hybrid modelling from their own files."""

from .aba import aba
from .acting import Acting
from .crba import crba
from .factored import factored, solve_symmetric
from .joint_forces import joint_forces
from .loops.aba_with_loops import aba_with_loops
from .loops.chord_drives import chord_drives, free_springs
from .loops.closing_step import ClosingStep, closing_step
from .loops.constraints import Row, chord_closings, chord_rows, constraint_rows, largest_gap
from .loops.factored_with_loops import factored_with_loops
from .loops.jacobian import carried_forces, loop_jacobian
from .loops.line_pulls import pulls
from .loops.projection import projected
from .loops.wrenches import LoopWrenches, loop_wrenches
from .motion import link_motions
from .passive import FRICTION_VELOCITY, passive_force, passive_secant, passive_slope, spring_force
from .prescribed import prescribed_dynamics
from .regressor import regressor
from .rnea import rnea
from .wrenches import Wrenches

__all__ = [
    "FRICTION_VELOCITY",
    "Acting",
    "ClosingStep",
    "LoopWrenches",
    "Row",
    "Wrenches",
    "aba",
    "aba_with_loops",
    "carried_forces",
    "chord_closings",
    "chord_drives",
    "chord_rows",
    "closing_step",
    "constraint_rows",
    "crba",
    "factored",
    "factored_with_loops",
    "free_springs",
    "joint_forces",
    "largest_gap",
    "link_motions",
    "loop_jacobian",
    "loop_wrenches",
    "passive_force",
    "passive_secant",
    "passive_slope",
    "prescribed_dynamics",
    "projected",
    "pulls",
    "regressor",
    "rnea",
    "solve_symmetric",
    "spring_force",
]  # fmt: skip
