"""Inlining of programs: evaluation over numbers or symbols of another trace, where known values simplify them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..scalar import Program, Scalar
from ..scalar.evaluate import run_unrolled
from ..scalar.operations import FLOAT
from ..scalar.rules import apply

_OPERATIONS = {op: partial(apply, op) for op in FLOAT}


def at(program: Program, *arguments: Sequence[Scalar]) -> list[Scalar]:
    """The results of `program`, all outputs in one list, for one flat sequence of scalars per input.

    Unlike `scalar.call`, which keeps a program as one block, this writes its operations into the current trace: with a unit
    vector among the arguments only its own terms remain.

    >>> from kumitate.scalar import trace
    >>> at(trace(lambda x, y: [x[0] * y[0] + x[1]], {"x": 2, "y": 1}, "line"), [2.0, 1.0], [3.0])
    [7.0]
    """
    inputs = {array.name: list(given) for array, given in zip(program.inputs, arguments, strict=True)}
    return run_unrolled(program, inputs, _OPERATIONS, float, _call)


def _call(program: Program, arguments: list[Scalar]) -> list[Scalar]:
    scalars = iter(arguments)
    return at(program, *([next(scalars) for _ in range(array.size)] for array in program.inputs))
