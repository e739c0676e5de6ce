"""Programs exported to other languages and tools: one file per form, which walks the program. Independent of physics."""

from .c import to_c
from .casadi import to_casadi
from .python import to_python
from .sympy import to_sympy

__all__ = ["to_c", "to_casadi", "to_python", "to_sympy"]
