"""Programs as functions of CasADi, for optimal control, with exact derivatives; and as expressions of SymPy.

SymPy takes small programs: to read, to differentiate, to compare with a derivation on paper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import InputError, needed
from ...scalar import Array, Program
from ...scalar.blocks import divided, family, walk
from ...scalar.evaluate import Interpreter
from ...scalar.operations import FLOAT

#: Programs with more operations than this give expressions too large to read, or for SymPy to handle.
MOST_OPERATIONS = 2000


def to_casadi(program: Program) -> Any:
    """The program as a `casadi.Function` of SX, its inputs and outputs named as the program's.

    An array of one axis is a column, one of two axes a matrix; more axes are folded into the rows. Names lose what CasADi does
    not allow in them. Loops are unrolled; a loop that stops early keeps its values by `if_else`. Called programs are functions
    of their own, each built once.

    Raises:
        InputError: if CasADi (extra `casadi`) is not installed.
    """
    casadi = needed("casadi", f"{program.name}: to_casadi needs CasADi", "casadi")

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

    def entries(matrix: Any) -> list[Any]:
        """The scalars of a matrix, row by row; CasADi has them column by column."""
        return casadi.vertsplit(casadi.vec(matrix.T)) if matrix.numel() else []

    def matrices(arrays: Sequence[Array], scalars: Sequence[Any]) -> list[Any]:
        found = []
        for array, part in zip(arrays, divided(arrays, scalars).values(), strict=True):
            rows, columns = _rows_and_columns(array.shape)
            found.append(casadi.reshape(casadi.vertcat(*part), columns, rows).T if part else casadi.SX(rows, columns))
        return found

    def function(one: Program) -> Any:
        if one not in functions:
            given = [casadi.SX.sym(array.name, *_rows_and_columns(array.shape)) for array in one.inputs]
            inputs = {array.name: entries(matrix) for array, matrix in zip(one.inputs, given, strict=True)}
            results = matrices(one.outputs, Interpreter(inputs, operations, casadi.SX, called).results(one))
            arrays = (*one.inputs, *one.outputs)
            name, *names = (casadi.Function.fix_name(text) for text in (one.name, *(array.name for array in arrays)))
            ins, outs = names[: len(given)], names[len(given) :]
            functions[one] = casadi.Function(name, given, results, ins, outs, {"allow_duplicate_io_names": True})
        return functions[one]

    def called(one: Program, arguments: list[Any]) -> Sequence[Any]:
        outputs = function(one).call(matrices(one.inputs, arguments))
        return [scalar for matrix in outputs for scalar in entries(matrix)]

    return function(program)


def _rows_and_columns(shape: Sequence[int]) -> tuple[int, int]:
    return (math.prod(shape), 1) if len(shape) < 2 else (math.prod(shape[:-1]), shape[-1])


# --- SymPy ----------------------------------------------------------------------------------------------------------------
def to_sympy(program: Program, symbols: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The outputs of the program by name: an expression, a column or a matrix; an array for more than two axes.

    Args:
        program: of at most `MOST_OPERATIONS` operations, loops and calls included; both are written out.
        symbols: values of an input: nested sequences of expressions or numbers in its shape. Inputs that are not named
            are given real symbols called q_0, q_1, ..., or J_0_1 for two axes.

    Raises:
        InputError: for a larger program, one with a loop that stops early, symbols that fit no input, or without SymPy, which
            the extra `lagrange` brings.
    """
    sympy = needed("sympy", f"{program.name}: to_sympy needs SymPy", "lagrange")
    size = program.operations.total()
    if size > MOST_OPERATIONS:
        raise InputError(
            f"{program.name} has {size} operations, more than the {MOST_OPERATIONS} that to_sympy takes; to_casadi takes "
            "programs of any size"
        )
    nodes = (node for one in family([program]) for node in walk(one.line))
    if any(node.op == "loop" and node.payload.condition is not None for node in nodes):
        raise InputError(
            f"{program.name} has a loop that stops early (while_), which to_sympy cannot write out: conditions nested in "
            "conditions overwhelm SymPy; to_casadi takes it"
        )
    given = dict(symbols or {})
    unknown = sorted(given.keys() - {array.name for array in program.inputs})
    if unknown:
        known = ", ".join(array.name for array in program.inputs)
        raise InputError(f"{program.name} has no input {unknown[0]!r} to put symbols for; its inputs are {known}")
    operations = FLOAT | {
        **{name: getattr(sympy, name) for name in ("sqrt", "sin", "cos", "exp", "log", "tanh", "atan2")},
        **{name: getattr(sympy, name.capitalize()) for name in ("abs", "min", "max", "lt", "le", "eq", "and", "or", "not")},
        "select": lambda c, a, b: sympy.Piecewise((a, c), (b, True)),
    }

    def constant(value: float) -> Any:
        return sympy.Integer(int(value)) if value.is_integer() and abs(value) < 2.0**53 else sympy.Float(value)

    def run(one: Program, scalars: Sequence[Any]) -> list[Any]:
        return Interpreter(divided(one.inputs, scalars), operations, constant, run).results(one)

    scalars = [x for array in program.inputs for x in _scalars(sympy, program.name, array, given.get(array.name))]
    results = divided(program.outputs, run(program, scalars))
    return {array.name: _shaped(sympy, array.shape, results[array.name]) for array in program.outputs}


def _scalars(sympy: Any, program: str, array: Array, given: Any) -> list[Any]:
    """The scalars of an input: given ones, or symbols."""
    if given is None:
        names = ["_".join(map(str, (array.name, *place))) for place in np.ndindex(*array.shape)]
        return [sympy.Symbol(name, real=True) for name in names]
    found: list[Any] = [given]
    for _ in array.shape:  # a matrix has rows only as a nested list
        found = [part for one in found for part in (one.tolist() if len(array.shape) > 1 and hasattr(one, "tolist") else one)]
    if len(found) != math.prod(array.shape):
        raise InputError(
            f"{program}: {len(found)} symbols are given for the input {array.name!r}; it has the shape {array.shape}, "
            f"which is {array.size} scalars"
        )
    return [sympy.sympify(one) for one in found]


def _shaped(sympy: Any, shape: tuple[int, ...], scalars: list[Any]) -> Any:
    if not shape:
        return scalars[0]
    if len(shape) < 3:
        return sympy.Matrix(shape[0], math.prod(shape[1:]), scalars)
    return sympy.Array(scalars, shape)
