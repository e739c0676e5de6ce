"""Programs exported to other languages and tools, which walk the program. Independent of physics."""

from .symbolic import to_casadi, to_sympy
from .text import to_c

__all__ = ["to_c", "to_casadi", "to_sympy"]
