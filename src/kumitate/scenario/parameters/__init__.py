"""Parameters of scenarios: numbers with names such as "mass:link3", which scenarios set and sweeps vary."""

from .contract import Parameter, ParameterKind, Rows
from .kinds import KINDS, parameter

__all__ = ["KINDS", "Parameter", "ParameterKind", "Rows", "parameter"]
