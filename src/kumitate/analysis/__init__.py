"""What a state says: pure functions of q and v."""

from .assemble import assemble, closed_state
from .constraint_report import COMPONENTS, ConstraintReport, constraint_report
from .energy import kinetic_energy, potential_energy
from .loops import LoopEquations, LoopGap, LoopState
from .momentum import momentum

__all__ = [
    "COMPONENTS", "ConstraintReport", "LoopEquations", "LoopGap", "LoopState", "assemble", "closed_state", "constraint_report",
    "kinetic_energy", "momentum", "potential_energy",
]  # fmt: skip
