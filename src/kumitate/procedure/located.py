"""Traced programs that procedures call by an address, so that one procedure's code serves all that are chosen at run time.

`apply` names its program where the procedure is written. A list of robots has programs of its own for each: their addresses
stand in an array of integers, and `apply_at` calls them.
"""

from __future__ import annotations

from functools import cached_property
from operator import lt
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..compile.stored import StoredProgram, traced
from ..errors import InputError
from ..scalar import Program
from .programs import evaluate_rows

__all__ = ["LocatedProgram", "apply_at"]

_LOCATED: WeakValueDictionary[int, LocatedProgram] = WeakValueDictionary()


class LocatedProgram:
    """A program with its machine code for one state, which stays in memory as long as this object.

    Attributes:
        program: it, or what stands for it while its code is on the disk.
    """

    def __init__(self, program: Program | StoredProgram):
        self.program = program

    @cached_property
    def address(self) -> int:
        """The number by which `apply_at` calls it; compiled on first use."""
        from ..compile.engine import link
        from ..compile.llvm import LazyEntry
        from ..compile.llvm.gathered import Gathered
        from ..compile.pipeline import Compilation, object_file
        from ..scalar import under_way

        given, name = self.program, "located_program"
        arrays = (*given.inputs, *given.outputs)
        with under_way(lambda: f"compiling {given.name}") as work:
            entry = LazyEntry(name, lambda: Gathered(name, traced(given), (False,) * len(arrays)))
            key = given.key if isinstance(given, StoredProgram) else ""
            self._code = link([object_file(Compilation(entry, 1, key=key))], [name])
            work.note = "; the next time it is read from disk" if self._code.on_disk else ""
        found = self._code.addresses[name]
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
