"""All functions that a robot can compile, each with its inputs and the page that computes it.

Every entry takes the mechanism and its own options, and returns the function to be traced and the sizes of its inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import Any

from ..compile import StoredProgram, found_or_traced
from ..model import Mechanism
from ..model.mechanism import digest
from ..renamed import offers
from ..scalar import Program, trace
from .inputs import Traceable, choose
from .of_dynamics import DERIVATIVES, DYNAMICS, FORWARD_DYNAMICS, MASS_MATRIX
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


# --- their keys, among the kernels of a robot and on disk: one for each function and its options --------------------------
def stored_program(mechanism: Mechanism, function: str, options: Mapping[str, Any]) -> Program | StoredProgram:
    """The program of a function of a mechanism, read from disk if it was made before; errors as in `make_program`.

    Methods that assemble inverse inertias warn about light links while they are traced, so they are traced in every process.
    """
    offers({**MASS_MATRIX, **FORWARD_DYNAMICS}, options.get("method"))  # former names warn, whether read from disk or not
    known, asked = digest(mechanism), repr(kernel_key(function, options))
    traced = " at 0x" in asked or options.get("method") in ("ada", "dca")
    key = None if known is None or traced else f"{known} {asked}"
    return found_or_traced(key, lambda: make_program(mechanism, function, **options))


def kernel_key(function: str, options: Mapping[str, Any]) -> tuple[Any, ...]:
    """The key of a kernel among those of a mechanism: the function, and its options that differ from their defaults."""
    usual = _defaults(function)
    given = ((name, _hashable(value)) for name, value in options.items())
    return (function, *sorted((name, value) for name, value in given if name not in usual or value != usual[name]))


@cache
def _defaults(function: str) -> dict[str, Any]:
    """The options of a function with their defaults; empty for an unknown function."""
    parameters = signature(PROGRAMS[function]).parameters.values() if function in PROGRAMS else ()
    return {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}


def _hashable(option: Any) -> Any:
    """The option with lists as tuples, recursively."""
    return tuple(map(_hashable, option)) if isinstance(option, list | tuple) else option
