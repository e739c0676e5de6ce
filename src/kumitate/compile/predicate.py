"""Compiled questions about arrays: a built-in function that answers True or False."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..scalar import Program

__all__ = ["predicate"]


def predicate(program: Program) -> Callable[..., Any]:
    """Whether a program's only result, a number, is not zero, as a function of its inputs for one state.

    The function takes float64 arrays of the inputs' shapes and answers True or False, in about a tenth of a microsecond. For
    any other arguments it gives NotImplemented, and always where this interpreter cannot have built-in functions.
    """
    from .fastcall import fast_function
    from .llvm import HostBatch
    from .pipeline import Compilation, machine_code

    code = machine_code(Compilation(HostBatch(program), 1, python=program, truth=True))
    return fast_function(code, program.name, _refuse)


def _refuse(*arrays: Any) -> Any:
    return NotImplemented
