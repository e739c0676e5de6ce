"""Analysis of states: pure functions of q and v."""

from ..renamed import former_names
from .balance import (
    Equilibrium,
    SupportPolygon,
    center_of_pressure,
    ground_wrench,
    momentum_rate,
    push_force,
    static_equilibrium,
    support_polygon,
    zero_moment_point,
)
from .closing.assemble import CLOSED, NEARLY, admitted_rows, assemble, closed_state
from .constraint_report import COMPONENTS, ConstraintReport, closed_directions, constraint_report
from .linearization import Linearization, Mode, fastest_rate, linearize, modes_of
from .loop_motion import (
    LoopMotion,
    closure_determinant,
    joint_accelerations,
    joint_coordinates,
    joint_motion,
    loop_motion,
    near_limits,
)  # fmt: skip
from .loops import Lines, LoopEquations, LoopGap, LoopState, loop_equations
from .momentum import (
    body_momenta,
    centroidal_map,
    centroidal_momentum,
    centroidal_momentum_rate,
    kinetic_energy,
    mass_center_jacobian,
    mass_center_motion,
    momentum,
    momentum_matrix,
    potential_energy,
    powers,
)

__all__ = [
    "CLOSED", "COMPONENTS", "NEARLY", "ConstraintReport", "Equilibrium", "Linearization", "Lines", "LoopEquations",
    "LoopGap", "LoopMotion", "LoopState", "Mode", "SupportPolygon", "admitted_rows", "assemble",
    "body_momenta", "center_of_pressure", "centroidal_map", "centroidal_momentum", "centroidal_momentum_rate",
    "closed_directions", "closed_state", "closure_determinant", "constraint_report", "fastest_rate", "ground_wrench",
    "joint_accelerations", "joint_coordinates", "joint_motion", "kinetic_energy", "linearize", "loop_equations",
    "loop_motion", "mass_center_jacobian", "mass_center_motion", "modes_of", "momentum", "momentum_matrix",
    "momentum_rate", "near_limits", "potential_energy", "powers", "push_force", "static_equilibrium", "support_polygon",
    "zero_moment_point",
]  # fmt: skip

__getattr__ = former_names(__name__, {"Nearness": "kumitate.robot.Robot"})
