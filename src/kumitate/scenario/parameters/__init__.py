"""Parameters of scenarios: numbers with names such as "mass:link3", which scenarios set and sweeps vary."""

from .contract import BatchInput, Parameter, ParameterKind
from .kinds import KINDS, parameter

__all__ = ["KINDS", "BatchInput", "Parameter", "ParameterKind", "parameter"]
