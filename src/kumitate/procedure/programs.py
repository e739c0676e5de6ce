"""Calls of traced programs in procedures: of one, on rows; and of as many as a list has, several at a time.

A page names a program that is a value of its module or of the function around it. As written, the program's reference runs on
floats; as machine code, the program is compiled as everywhere, by itself, and linked to the procedure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..scalar import Program, evaluate

__all__ = ["Listed", "apply", "at", "evaluate_rows", "over", "program_of"]


@dataclass(frozen=True)
class Listed:
    """Rows of an array in the order of a list."""

    rows: np.ndarray
    index: np.ndarray


def at(rows: np.ndarray, index: np.ndarray) -> Listed:
    """The rows `rows[index[0]]`, `rows[index[1]]`, …: an argument of `over`. `index` holds integers."""
    return Listed(rows, index)


def apply(program: Program, *arrays: Any) -> None:
    """Evaluates a program once.

    Args:
        program: traced; in machine code a procedure calls it as compiled by itself.
        arrays: its inputs, then its outputs, which are written to: rows of their shapes. An input without axes is a number, an
            output without axes an array of one.
    """
    program = program_of(program)
    given, results = arrays[: len(program.inputs)], arrays[len(program.inputs) :]
    evaluate_rows(program, given, results)


def over(program: Program, count: int, *arrays: Any) -> None:
    """Evaluates a program `count` times, in machine code several at a time.

    Args:
        program: traced.
        count: of evaluations.
        arrays: its inputs, then its outputs, which are written to: arrays of rows of their shapes, of which evaluation k takes
            row k, or `at(rows, index)`, of which it takes row `index[k]`. Where outputs name a row twice, the later evaluation
            stays. Inputs and outputs do not overlap.
    """
    program = program_of(program)
    for k in range(count):
        rows = [_row(array, k) for array in arrays]
        evaluate_rows(program, rows[: len(program.inputs)], rows[len(program.inputs) :])


def program_of(value: Any) -> Program:
    """The program that a value is: of a kernel its own."""
    found = value if isinstance(value, Program) else getattr(value, "program", None)
    if not isinstance(found, Program):
        raise TypeError(f"{type(value).__name__} is not a traced program; kumitate.scalar.trace makes one")
    return found


def _row(array: Any, k: int) -> np.ndarray:
    rows, place = (array.rows, array.index[k]) if isinstance(array, Listed) else (array, k)
    return rows[place : place + 1].reshape(-1) if rows.ndim == 1 else rows[place]


def evaluate_rows(program: Program, given: Any, results: Any) -> None:
    """Evaluates a program on floats: rows of its inputs, and of its outputs, which are written to."""
    scalars = [float(x) for row in given for x in np.ravel(row)]
    values = evaluate(program, scalars)
    for row, some in zip(results, _split(program, values), strict=True):
        row[...] = np.reshape(some, row.shape)


def _split(program: Program, values: list[float]) -> Iterator[list[float]]:
    """The results of each output."""
    start = 0
    for array in program.outputs:
        yield values[start : start + array.size]
        start += array.size
