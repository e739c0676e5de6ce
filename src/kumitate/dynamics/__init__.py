"""Dynamics: one algorithm per file. Import ada, dca and hybrid modelling from their own files."""

from .aba import aba, joint_forces
from .acting import Acting, Wrenches
from .crba import crba
from .factored import factored, solve_symmetric
from .loops.articulated_loops import aba_with_loops
from .loops.chord_forces import chord_drives, free_springs, pulls
from .loops.closing_step import ClosingStep, closing_step, prescribed_dynamics, projected
from .loops.constraints import Row, carried_forces, chord_closings, chord_rows, constraint_rows, largest_gap, loop_jacobian
from .loops.schur import factored_with_loops
from .loops.wrenches import LoopWrenches, loop_wrenches
from .motion import link_motions
from .passive import FRICTION_VELOCITY, passive_force, passive_secant, passive_slope, spring_force
from .regressor import regressor
from .rnea import rnea

__all__ = [
    "FRICTION_VELOCITY", "Acting", "ClosingStep", "LoopWrenches", "Row", "Wrenches", "aba", "aba_with_loops", "carried_forces",
    "chord_closings", "chord_drives", "chord_rows", "closing_step", "constraint_rows", "crba", "factored",
    "factored_with_loops", "free_springs", "joint_forces", "largest_gap", "link_motions", "loop_jacobian", "loop_wrenches",
    "passive_force", "passive_secant", "passive_slope", "prescribed_dynamics", "projected", "pulls", "regressor", "rnea",
    "solve_symmetric", "spring_force",
]  # fmt: skip
