"""Calls of traced programs in procedures: of one, on rows; and of as many as a list has, several at a time.

A page names a program that is a value of its module or of the function around it. As written, the program's reference runs on
floats; as machine code, the program is compiled as everywhere, by itself, and linked to the procedure.

A program can also be called by its address, so that one procedure's code serves all that are chosen at run time: a list of
robots has programs of its own for each; their addresses stand in an array of integers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import lt
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from ..compile.stored import StoredProgram, traced
from ..errors import InputError
from ..scalar import Program, evaluate
from ..scalar.blocks import divided
from ..scalar.elementary import PORTABLE

Part = TypeVar("Part")
Result = TypeVar("Result")
Given = ParamSpec("Given")
_LOCATED: WeakValueDictionary[int, LocatedProgram] = WeakValueDictionary()
#: What kept code that waited for its first call from being made: for the procedure that runs to raise.
FAULTS: list[BaseException] = []
#: The procedures that have been asked for their addresses.
PROCEDURES: dict[int, Callable[..., Any]] = {}


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
    rows = [_row(one.rows, one.index) if isinstance(one, Listed) else one for one in _arrays(program, arrays)]
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
    arrays = tuple(_arrays(program, arrays))
    for k in range(count):
        rows = [_row(*((array.rows, array.index[k]) if isinstance(array, Listed) else (array, k))) for array in arrays]
        evaluate_rows(program, rows[: len(program.inputs)], rows[len(program.inputs) :])


def by_name(
    program: Program,
    parts: Sequence[tuple[Part, Sequence[str]]],
    field: Callable[[Part, str], Part],
    refusal: Callable[[Part | None, str], Exception],
) -> list[Part]:
    """What a call hands to each array of a program: fields of records by their names, the others in their order.

    `parts` is what it is given, with the names of the fields of records, and `field` gives one of these; `refusal` makes the
    error if two records have a field, or the others are too many or too few.
    """
    names = [array.name for array in (*program.inputs, *program.outputs)]
    fields: dict[str, Part] = {}
    for part, own in parts:
        for name in (name for name in names if name in own):
            if name in fields:
                rule = f"{program.name}: two records have a field {name}; hand over the arrays of one of them instead"
                raise refusal(part, rule)
            fields[name] = field(part, name)
    missing, others = [name for name in names if name not in fields], [part for part, own in parts if not own]
    if len(missing) != len(others):
        listed = ", ".join(missing)
        raise refusal(None, f"{program.name} has {len(missing)} inputs and outputs ({listed}), got {len(others)}")
    return list(map((fields | dict(zip(missing, others, strict=True))).__getitem__, names))


def _arrays(program: Program, arguments: Sequence[Any]) -> list[Any]:
    """The arrays of a call in the order of the program's."""

    def rows(argument: Any) -> Any:
        return argument.rows if isinstance(argument, Listed) else argument

    def field(argument: Any, name: str) -> Any:
        found = getattr(rows(argument), name)
        return Listed(found, argument.index) if isinstance(argument, Listed) else found

    parts = [(argument, getattr(rows(argument), "_fields", ())) for argument in arguments]
    return by_name(program, parts, field, lambda _, rule: TypeError(rule))


def program_of(value: Any) -> Program:
    """The program that a value is: of a kernel its own."""
    found = value if isinstance(value, Program) else getattr(value, "program", None)
    if not isinstance(found, Program):
        raise TypeError(f"{type(value).__name__} is not a traced program; kumitate.scalar.trace makes one")
    return found


def _row(rows: np.ndarray, place: int) -> np.ndarray:
    return rows[place : place + 1] if rows.ndim == 1 else rows[place]


def evaluate_rows(program: Program, given: Any, results: Any) -> None:
    """Evaluates a program on floats: rows of its inputs, and of its outputs, which are written to."""
    scalars = [float(x) for row in given for x in np.ravel(row)]
    values = evaluate(program, scalars, PORTABLE)  # as checked machine code has it
    for row, some in zip(results, divided(program.outputs, values).values(), strict=True):
        row[...] = np.reshape(some, row.shape)


# --- by address -----------------------------------------------------------------------------------------------------------
class LocatedProgram:
    """A program with its machine code for one state, which stays in memory as long as this object.

    Attributes:
        program: it, or what stands for it while its code is on the disk.
    """

    def __init__(self, program: Program | StoredProgram | Callable[[], Program | StoredProgram]):
        """The program, or what makes it where it is first needed."""
        self._given = program

    @cached_property
    def program(self) -> Program | StoredProgram:
        return self._given() if callable(self._given) else self._given

    @cached_property
    def address(self) -> int:
        """The number by which `apply_at` calls it; compiled on first use."""
        from ..compile.llvm.entries import Gathered
        from ..compile.pipeline import Compilation, compiled

        given, name = self.program, "located_program"
        listed = (False,) * len((*given.inputs, *given.outputs))
        self._code = compiled(given.name, {}, Compilation(Gathered(name, given, listed), 1), {})
        found = self._code.addresses[name]
        _LOCATED[found] = self
        return found

    def waiting(self, arrays: int) -> int:
        """The number of a function by which `apply_at` calls it too, with so many arrays: made when first called."""
        kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * arrays)

        def called(count: int, *places: int) -> None:
            try:
                kind(self.address)(count, *places)
            except BaseException as error:  # machine code called this
                FAULTS.append(error)

        self._waiting = kind(called)
        found = int(ctypes.cast(self._waiting, ctypes.c_void_p).value or 0)
        _LOCATED[found] = self
        return found


def apply_at(address: int, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Evaluates the program at an address once.

    Args:
        address: of a `LocatedProgram` that still exists.
        inputs: arrays of floats that begin with the numbers of the program's inputs, in their order; numbers for those without
            axes.
        outputs: arrays of as many numbers, which are written to. Only the function as written checks the sizes.

    Raises:
        InputError: as written, if there is no such program, or the arrays do not have its sizes.
    """
    located = _LOCATED.get(address)
    if located is None:
        raise InputError(f"there is no program at the address {address}; `LocatedProgram(program).address` gives one")
    program = traced(located.program)
    sizes = [[int(np.size(array)) for array in arrays] for arrays in (inputs, outputs)]
    wanted = [[array.size for array in arrays] for arrays in (program.inputs, program.outputs)]
    if len(inputs) != len(wanted[0]) or any(map(lt, sizes[0], wanted[0])) or sizes[1] != wanted[1]:
        raise InputError(
            f"{program.name} takes arrays of {wanted[0]} numbers and gives {wanted[1]}, got {sizes[0]} and {sizes[1]}"
        )
    evaluate_rows(program, [np.ravel(array)[:size] for array, size in zip(inputs, wanted[0], strict=True)], outputs)


def call_at(address: int, like: Callable[Given, Result], *arguments: Given.args, **named: Given.kwargs) -> Result:
    """Calls the procedure at an address, which is compiled apart: one of several that are alike is chosen at run time.

    Args:
        address: of a procedure, as its attribute `address` gives it.
        like: takes and returns the same, and writes to all that the others write to.

    Raises:
        InputError: as written, if there is no procedure at the address.
    """
    if address not in PROCEDURES:
        raise InputError(f"there is no procedure at the address {address}; its attribute `address` gives one")
    found: Result = PROCEDURES[address](*arguments, **named)
    return found
