"""Programs in the words of other languages and tools: each form is one file that walks the program. Knows no physics."""

from .c import to_c
from .casadi import to_casadi
from .python import to_python
from .sympy import to_sympy

__all__ = ["to_c", "to_casadi", "to_python", "to_sympy"]
