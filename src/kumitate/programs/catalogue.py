"""All functions that a robot can compile, each with its inputs and the page that computes it.

Every entry takes the mechanism and its own options, and returns the function to be traced and the sizes of its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..model import Mechanism
from ..scalar import Program, trace
from .inputs import Traceable, choose
from .of_derivatives import DERIVATIVES
from .of_dynamics import DYNAMICS
from .of_states import STATES

__all__ = ["PROGRAMS", "make_program"]

#: What makes the program of each function of `Robot`, by the function's name.
PROGRAMS: dict[str, Callable[..., Traceable]] = {**DYNAMICS, **STATES, **DERIVATIVES}


def make_program(mechanism: Mechanism, function: str, **options: Any) -> Program:
    """The program of one of the functions in `PROGRAMS` for a mechanism.

    Raises:
        InputError: for an unknown function, option, method or place; the message lists the right ones.
    """
    page, inputs = choose("function", PROGRAMS, function)(mechanism, **options)
    return trace(page, inputs, f"{function}_{mechanism.name}")
