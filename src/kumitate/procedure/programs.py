"""Calls of traced programs in procedures: of one, on rows; and of as many as a list has, several at a time.

A page names a program that is a value of its module or of the function around it. As written, the program's reference runs on
floats; as machine code, the program is compiled as everywhere, by itself, and linked to the procedure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..scalar import Program, evaluate

__all__ = ["Listed", "apply", "at", "evaluate_rows", "over", "program_of"]


@dataclass(frozen=True)
class Listed:
    """Rows of an array, or of all arrays of a record: one, or those in the order of a list."""

    rows: Any
    index: Any


def at(rows: Any, index: Any) -> Listed:
    """Rows that an evaluation takes: `rows[index[0]]`, `rows[index[1]]`, … for `over`, where `index` holds integers.

    Of a record, a `NamedTuple` of arrays, each input or output of the program takes the rows of the field of its name; for
    `apply`, `index` is one integer.
    """
    return Listed(rows, index)


def apply(program: Program, *arrays: Any) -> None:
    """Evaluates a program once.

    Args:
        program: traced; in machine code a procedure calls it as compiled by itself.
        arrays: its inputs, then its outputs, which are written to: rows of their shapes. An input without axes is a number, an
            output without axes an array of one. Records stand for the inputs and outputs that their fields are named after:
            `at(record, k)` with row k of each.
    """
    program = program_of(program)
    rows = [_one(array) for array in by_name(program, arrays)]
    evaluate_rows(program, rows[: len(program.inputs)], rows[len(program.inputs) :])


def over(program: Program, count: int, *arrays: Any) -> None:
    """Evaluates a program `count` times, in machine code several at a time.

    Args:
        program: traced.
        count: of evaluations.
        arrays: its inputs, then its outputs, which are written to: arrays of rows of their shapes, of which evaluation k takes
            row k, or `at(rows, index)`, of which it takes row `index[k]`. Where outputs name a row twice, the later evaluation
            stays. Inputs and outputs do not overlap. Records stand for the inputs and outputs that their fields are named
            after.
    """
    program = program_of(program)
    arrays = tuple(by_name(program, arrays))
    for k in range(count):
        rows = [_row(array, k) for array in arrays]
        evaluate_rows(program, rows[: len(program.inputs)], rows[len(program.inputs) :])


def by_name(program: Program, arguments: Sequence[Any]) -> list[Any]:
    """The arrays of a call in the order of the program's: fields of records by their names, the others in their order.

    Raises:
        TypeError: if two records have a field of a name, or the others are too many or too few.
    """
    names = [array.name for array in (*program.inputs, *program.outputs)]
    fields: dict[str, Any] = {}
    others = []
    for argument in arguments:
        rows = argument.rows if isinstance(argument, Listed) else argument
        if not hasattr(rows, "_fields"):
            others.append(argument)
            continue
        for name in (name for name in names if name in rows._fields):
            if name in fields:
                raise TypeError(f"{program.name}: two records have a field {name}; hand over the arrays of one of them instead")
            field = getattr(rows, name)
            fields[name] = Listed(field, argument.index) if isinstance(argument, Listed) else field
    missing = [name for name in names if name not in fields]
    if len(missing) != len(others):
        raise TypeError(f"{program.name} has {len(missing)} inputs and outputs ({', '.join(missing)}), got {len(others)}")
    return list(map((fields | dict(zip(missing, others, strict=True))).__getitem__, names))


def _one(array: Any) -> Any:
    """An array of one evaluation: of one row of a list, the row, which can be written to."""
    if not isinstance(array, Listed):
        return array
    return array.rows[array.index : array.index + 1] if np.ndim(array.rows) == 1 else array.rows[array.index]


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
