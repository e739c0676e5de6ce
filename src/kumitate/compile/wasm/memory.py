"""What the functions of a module of WebAssembly share: places in one memory, constants, and the functions themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...errors import InputError
from ...scalar import Array, Program, Table
from ...scalar.blocks import walk
from ..exports.text import filled
from .encoding import Function


class Called(NamedTuple):
    """The function of a program: its number, whether it takes and returns numbers, and else where it has them in memory."""

    number: int
    by_value: bool
    inputs: int
    outputs: int


class Shared:
    """A module under way.

    Attributes:
        places: the addresses and shapes of the arrays of the module's programs.
        sites: how many calls of a program there are.
        functions, constants: so far; called: the functions of called programs.
        count: the numbers that have a place in memory so far.
    """

    def __init__(self, programs: Mapping[str, Program], fillings: Mapping[str, Program]):
        """A module without functions."""
        self._fillings = fillings
        self.places: dict[str, tuple[int, tuple[int, ...]]] = {}
        self.functions: list[Function] = []
        self.constants: list[tuple[int, Sequence[float]]] = []
        self.called: dict[Program, Called] = {}
        self.count = 0
        self._tables: dict[Table, int] = {}
        self.sites: Counter[Program] = Counter()
        waiting = list(programs.values())
        while waiting:
            found = Counter(self.filled(node.payload) for node in walk(waiting.pop().line) if node.op == "call")
            waiting += found.keys() - self.sites.keys()
            self.sites += found
        for program in programs.values():
            for array in program.inputs:
                self._place_input(array)
        for key, program in programs.items():
            for array in program.outputs:
                self.places[f"{key}.{array.name}"] = self.take(array.size), array.shape

    def _place_input(self, array: Array) -> None:
        if array.name not in self.places:
            self.places[array.name] = self.take(array.size), array.shape
        elif self.places[array.name][1] != array.shape:
            shapes = f"{self.places[array.name][1]} and {array.shape}"
            raise InputError(
                f"programs of one module have the input {array.name!r} with the shapes {shapes}; rename one of them"
            )

    def take(self, count: int) -> int:
        """A place for so many numbers: its address."""
        self.count += count
        return 8 * (self.count - count)

    def table(self, table: Table) -> int:
        """The address of a table of constants."""
        if table not in self._tables:
            self._tables[table] = self.take(len(table.values))
            self.constants.append((self._tables[table], table.values))
        return self._tables[table]

    def filled(self, program: Program) -> Program:
        """A called program; for a hole, what fills it."""
        return filled(program, self._fillings)
