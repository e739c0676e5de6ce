"""The passes over a traced program, in their order: each takes a program and gives one that computes the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .blocks import Program
from .liveness import trim
from .verify import verify, verifying

__all__ = ["PROGRAM_PASSES", "Pass", "run_program_passes"]


class Pass(NamedTuple):
    """A step from a page to machine code: its name, what it does in a sentence, and the function that does it."""

    name: str
    does: str
    run: Callable[..., Any]


#: What is done with a program before anybody sees it. Another optimization is a row here: Program → Program.
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
