"""The functions that a robot can compile, by subject. Used only by `robot`."""

from .catalogue import PROGRAMS, make_program
from .of_dynamics import FORWARD_DYNAMICS, MASS_MATRIX

__all__ = ["FORWARD_DYNAMICS", "MASS_MATRIX", "PROGRAMS", "make_program"]
