"""Programs as CasADi functions, for optimal control: exact derivatives, and CasADi's solvers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ...scalar import Program
from ...scalar.evaluate import run_unrolled
from ...scalar.operations import FLOAT

__all__ = ["to_casadi"]


def to_casadi(program: Program) -> Any:
    """The program as a `casadi.Function` of SX, its inputs and outputs named as the program's.

    An array of one axis is a column, one of two axes a matrix; more axes are folded into the rows. Names lose what CasADi does
    not allow in them. Loops are unrolled; a loop that stops early keeps its values by `if_else`. Called programs are functions
    of their own, each built once.

    Raises:
        InputError: if CasADi (extra `casadi`) is not installed.
    """
    try:
        import casadi
    except ImportError:
        raise InputError(
            f"{program.name}: to_casadi needs CasADi, which is not installed; pip install 'kumitate[casadi]' installs it"
        ) from None

    def is_nan(x: Any) -> Any:
        return casadi.logic_not(x <= math.inf)  # CasADi takes x = x for true

    operations = FLOAT | {
        **{name: getattr(casadi, name) for name in ("sqrt", "sin", "cos", "exp", "log", "tanh", "atan2")},
        "abs": casadi.fabs,
        "min": lambda a, b: casadi.if_else(casadi.logic_or(b < a, is_nan(b)), b, a),
        "max": lambda a, b: casadi.if_else(casadi.logic_or(b > a, is_nan(b)), b, a),
        "and": casadi.logic_and,
        "or": casadi.logic_or,
        "not": casadi.logic_not,
        "select": casadi.if_else,
    }
    functions: dict[Program, Any] = {}

    def function(one: Program) -> Any:
        if one not in functions:
            given = [casadi.SX.sym(array.name, *_rows_and_columns(array.shape)) for array in one.inputs]
            inputs = {array.name: _scalars(casadi, matrix) for array, matrix in zip(one.inputs, given, strict=True)}
            results = run_unrolled(one, inputs, operations, casadi.SX, called)
            matrices = _matrices(casadi, [array.shape for array in one.outputs], results)
            arrays = (*one.inputs, *one.outputs)
            name, *names = (casadi.Function.fix_name(text) for text in (one.name, *(array.name for array in arrays)))
            ins, outs = names[: len(given)], names[len(given) :]
            functions[one] = casadi.Function(name, given, matrices, ins, outs, {"allow_duplicate_io_names": True})
        return functions[one]

    def called(one: Program, arguments: list[Any]) -> Sequence[Any]:
        outputs = function(one).call(_matrices(casadi, [array.shape for array in one.inputs], arguments))
        return [scalar for matrix in outputs for scalar in _scalars(casadi, matrix)]

    return function(program)


def _rows_and_columns(shape: Sequence[int]) -> tuple[int, int]:
    return (math.prod(shape), 1) if len(shape) < 2 else (math.prod(shape[:-1]), shape[-1])


def _scalars(casadi: Any, matrix: Any) -> list[Any]:
    """The scalars of a matrix, row by row."""
    return casadi.vertsplit(casadi.vec(matrix.T)) if matrix.numel() else []


def _matrices(casadi: Any, shapes: Sequence[Sequence[int]], scalars: Sequence[Any]) -> list[Any]:
    """Scalars, row by row, as matrices."""
    matrices, start = [], 0
    for shape in shapes:
        rows, columns = _rows_and_columns(shape)
        part = scalars[start : start + rows * columns]
        start += rows * columns
        # CasADi uses column-major order
        matrices.append(casadi.reshape(casadi.vertcat(*part), columns, rows).T if part else casadi.SX(rows, columns))
    return matrices
