"""The passes over a traced program, in order: each takes a program and returns an equivalent one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .blocks import Program
from .liveness import trim
from .verify import verify, verifying

__all__ = ["PROGRAM_PASSES", "Pass", "run_program_passes"]


class Pass(NamedTuple):
    """A pass from a Python function to machine code: its name, a sentence on what it does, and its function."""

    name: str
    does: str
    run: Callable[..., Any]


#: The passes applied to every traced program. Another optimization is another row here: Program → Program.
PROGRAM_PASSES: tuple[Pass, ...] = (
    Pass("trim", "removes what no result needs, through loops, down to single carried and stacked values", trim),
)


def run_program_passes(program: Program) -> Program:
    """The program after all passes, checked before the first and after each where `verifying` says so."""
    checked = verifying()
    if checked:
        verify(program, "trace")
    for step in PROGRAM_PASSES:
        program = step.run(program)
        if checked:
            verify(program, step.name)
    return program
