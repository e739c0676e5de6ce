"""The keys of programs, among the kernels of a robot and on disk: one for each function and its options."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from inspect import signature
from typing import Any

from .compile import StoredProgram, found_or_traced
from .model import Mechanism
from .model.mechanism import digest
from .programs import PROGRAMS, make_program
from .scalar import Program

__all__ = ["kernel_key", "stored_program"]


def stored_program(mechanism: Mechanism, function: str, options: Mapping[str, Any]) -> Program | StoredProgram:
    """The program of a function of a mechanism, read from disk if it was made before; errors as in `make_program`.

    Methods that assemble inverse inertias warn about light links while they are traced, so they are traced in every process.
    """
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
