"""Analysis of states: pure functions of q and v."""

from .centroidal import body_momenta, centroidal_momentum, centroidal_momentum_rate, mass_center_motion, momentum_matrix
from .centroidal_map import centroidal_map, mass_center_jacobian
from .closing.assemble import CLOSED, NEARLY, assemble, closed_state
from .closing.branches import admitted_rows
from .closing.directions import closed_directions
from .constraint_report import COMPONENTS, ConstraintReport, constraint_report
from .energy import kinetic_energy, potential_energy
from .equilibrium import Equilibrium, static_equilibrium
from .ground import center_of_pressure, ground_wrench, momentum_rate, push_force, zero_moment_point
from .linearization import Linearization, linearize
from .lines import Lines
from .loop_motion import (
    LoopMotion,
    closure_determinant,
    joint_accelerations,
    joint_coordinates,
    joint_motion,
    loop_motion,
    near_limits,
)  # fmt: skip
from .loops import LoopEquations, LoopGap, LoopState, loop_equations
from .modes import Mode, modes_of
from .momentum import momentum
from .nearness import Nearness
from .power import powers
from .support_polygon import SupportPolygon, support_polygon

__all__ = [
    "CLOSED", "COMPONENTS", "NEARLY", "ConstraintReport", "Equilibrium", "Linearization", "Lines", "LoopEquations",
    "LoopGap", "LoopMotion", "LoopState", "Mode", "Nearness", "SupportPolygon", "admitted_rows", "assemble",
    "body_momenta", "center_of_pressure", "centroidal_map", "centroidal_momentum", "centroidal_momentum_rate",
    "closed_directions", "closed_state", "closure_determinant", "constraint_report", "ground_wrench",
    "joint_accelerations", "joint_coordinates", "joint_motion", "kinetic_energy", "linearize", "loop_equations",
    "loop_motion", "mass_center_jacobian", "mass_center_motion", "modes_of", "momentum", "momentum_matrix",
    "momentum_rate", "near_limits", "potential_energy", "powers", "push_force", "static_equilibrium", "support_polygon",
    "zero_moment_point",
]  # fmt: skip
