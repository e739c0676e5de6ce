"""Parameters of a simulation: numbers of the mechanism, its contact and its controller that differ from row to row.

A kind of parameter is what stands before the colon of a name such as "mass:link3". Kinds that change the same sort of numbers
share a file with the `ModelNumbers` that says how programs see those numbers.
"""

from .contract import ModelKind, ModelNumbers, Parameter, ParameterKind, Plant, VariedPlant, resolved
from .kinds import MODEL_KINDS
from .variation import Variation

__all__ = [
    "MODEL_KINDS", "ModelKind", "ModelNumbers", "Parameter", "ParameterKind", "Plant", "Variation", "VariedPlant", "resolved",
]  # fmt: skip
