"""Parameters of scenarios: numbers with names such as "mass:link3", which scenarios set and sweeps vary."""

from .contract import BatchInput, ScenarioParameter
from .kinds import KINDS, parameter

__all__ = ["KINDS", "BatchInput", "ScenarioParameter", "parameter"]
