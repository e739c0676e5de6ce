"""The functions that a robot can compile, by subject. Used only by `robot`."""

from .catalogue import FORWARD_DYNAMICS, MASS_MATRIX, PROGRAMS, make_program

__all__ = ["FORWARD_DYNAMICS", "MASS_MATRIX", "PROGRAMS", "make_program"]
