"""Programs as plain Python: a module to read, to run anywhere, and to step through, that needs only `math`."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from ...scalar import Array, LoopBlock, Program
from .text import EXPRESSIONS, TextWriter, described, family, named

__all__ = ["to_python"]

_MATH = ("atan2", "cos", "exp", "inf", "log", "nan", "sin", "sqrt", "tanh")
_RESERVED = frozenset({*keyword.kwlist, *_MATH, "abs", "float", "range"})
_ARRAY = "[x for row in {0} for x in row]"


def to_python(program: Program) -> str:
    """The program as a Python module that defines one function of the program's name.

    It takes one sequence an input, nested as the input's shape says (a number for the shape ()), and returns nested lists
    likewise: one output alone, several as a tuple. It does the same operations in the same order as the reference.
    """
    programs = family(program)
    names, tables = named(programs, _RESERVED), dict[tuple[float, ...], str]()
    body = "\n\n\n".join("\n".join(_Writer(one, names, _RESERVED, tables).function()) for one in programs)
    constants = "".join(f"{name} = {values!r}\n" for values, name in tables.items())
    used = [name for name in _MATH if re.search(rf"\b{name}\b", constants + body)]
    comment = [part for line in described(program) for part in line.splitlines() or [""]]
    head = "\n".join(f"# {line}".rstrip() for line in comment)
    imports = f"from math import {', '.join(used)}\n" if used else ""
    return "\n\n".join([head, *(part for part in (imports.rstrip(), constants.rstrip()) if part), f"\n{body}\n"])


class _Writer(TextWriter):
    expressions: ClassVar = EXPRESSIONS | {
        "abs": "abs({0})",
        "min": "{1} if {1} < {0} or {1} != {1} else {0}",
        "max": "{1} if {1} > {0} or {1} != {1} else {0}",
        "and": "{0} and {1}",
        "or": "{0} or {1}",
        "not": "not {0}",
        "select": "{1} if {0} else {2}",
    }

    def function(self) -> list[str]:
        """The lines of the whole function."""
        inputs = self.program.inputs
        for array in inputs:
            for _ in array.shape[1:]:
                self.write(f"{self.inputs[array.name]} = {_ARRAY.format(self.inputs[array.name])}")
        self.line(self.program.line)
        results = iter([self.names[node] for node in self.program.results])
        outputs = [_nested(array.shape, results) for array in self.program.outputs]
        self.write(f"return {', '.join(outputs) or '()'}")
        return [f"def {self.functions[self.program]}({', '.join(self.inputs.values())}):", *self.lines]

    def number(self, value: float) -> str:
        text = repr(value)
        return f"({text})" if text.startswith("-") else text

    def declare(self, name: str, expression: str, *, condition: bool = False) -> None:
        self.write(f"{name} = {expression}")

    def subscript(self, array: Array, position: str) -> str:
        name = self.inputs[array.name]
        return name if array.shape == () else f"{name}[{position}]"

    def real(self, position: str) -> str:
        return f"float({position})"

    def kept(self, stack: str, position: str, column: int, width: int) -> str:
        return f"{stack}[{position}][{column}]"

    def call(self, program: Program, arguments: list[str]) -> Mapping[int, str]:
        given = iter(arguments)
        values = ", ".join(_nested(array.shape, given) for array in program.inputs)
        name = self.fresh("r")
        self.write(f"{name} = {self.functions[program]}({values})")
        names: list[str] = []
        for k, array in enumerate(program.outputs):
            names += _scalars(array.shape, name if len(program.outputs) == 1 else f"{name}[{k}]")
        return dict(enumerate(names))

    def loop(self, block: LoopBlock, first: list[str], carried: list[str], counter: str, stack: str) -> None:
        if carried:
            self.write(f"{', '.join(carried)} = {', '.join(first)}")
        if block.keeps:
            self.write(f"{stack} = []")
        self.write(f"for {counter} in range({block.count}):")
        self.depth += 1
        following, kept, going = self.passes(block)
        if going is not None:
            self.write(f"if not {going}:")
            self.write("    break")
        if kept:
            self.write(f"{stack}.append(({', '.join(kept)},))")
        if carried:
            self.write(f"{', '.join(carried)} = {', '.join(following)}")
        self.depth -= 1


def _nested(shape: Sequence[int], scalars: Iterator[str]) -> str:
    """The source text of nested lists."""
    return next(scalars) if not shape else f"[{', '.join([_nested(shape[1:], scalars) for _ in range(shape[0])])}]"


def _scalars(shape: Sequence[int], name: str) -> list[str]:
    """The subscripts of all scalars of nested lists, in order."""
    names = [name]
    for size in shape:
        names = [f"{one}[{k}]" for one in names for k in range(size)]
    return names
