"""All functions that a robot can compile, each with its inputs and the page that computes it.

Every entry takes the mechanism and its own options, and returns the function to be traced and the sizes of its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..model import Mechanism
from ..scalar import Program, trace
from .inputs import Traceable, choose
from .of_dynamics import DERIVATIVES, DYNAMICS
from .of_states import STATES

#: What makes the program of each function of `Robot`, by the function's name.
PROGRAMS: dict[str, Callable[..., Traceable]] = {**DYNAMICS, **STATES, **DERIVATIVES}

#: Mechanisms without loops, of at most so many degrees of freedom, may need fewer operations by their inertia matrix.
SMALL = 8


def make_program(mechanism: Mechanism, function: str, **options: Any) -> Program:
    """The program of one of the functions in `PROGRAMS` for a mechanism.

    Raises:
        InputError: for an unknown function, option, method or place; the message lists the right ones.
    """
    make, name = choose("function", PROGRAMS, function), f"{function}_{mechanism.name}"

    def traced(**chosen: str) -> Program:
        page, inputs = make(mechanism, **(options | chosen))
        return trace(page, inputs, name)

    open_to_choice = function == "forward_dynamics" and options.get("method", "auto") == "auto"
    if not open_to_choice or mechanism.tree.closed or mechanism.nv > SMALL:
        return traced()
    return _of_fewest_operations({method: traced(method=method) for method in ("aba", "crba")})


def _of_fewest_operations(programs: dict[str, Program]) -> Program:
    """The program of the method that takes the fewest operations, with a remark."""
    counts = {method: program.operations.total() for method, program in programs.items()}
    chosen, other = sorted(counts, key=counts.__getitem__)
    remark = f"method {chosen!r}: {counts[chosen]} operations; {other!r} would take {counts[other]}"
    return replace(programs[chosen], remark=remark)
