"""Which inputs of a program are read: a caller need not hand over the others."""

from __future__ import annotations

from collections.abc import Sequence

from ...scalar import Hole, Program, Symbol
from ..remembered import Remembered

__all__ = ["inputs_read"]


@Remembered
def inputs_read(program: Program) -> frozenset[int]:
    """The numbers of the inputs that a program reads, one after the other over all its arrays.

    An input that is only handed on to a program that does not read it counts as not read. A hole may read all.
    """
    places, start = {}, 0
    for array in program.inputs:
        places[array.name] = range(start, start + array.size)
        start += array.size
    if isinstance(program, Hole):
        return frozenset(range(start))
    found: set[int] = set()

    def read(node: Symbol) -> None:
        while node.op == "capture":
            node = node.payload
        if node.op == "input":
            name, k = node.payload
            found.add(places[name][k])

    def visit(line: Sequence[Symbol]) -> None:
        for node in line:
            if node.op == "call":
                used = inputs_read(node.payload)
                for k, argument in enumerate(node.args):
                    if k in used:
                        read(argument)
                continue
            if node.op == "load":
                found.update(places[node.payload[0]])
            for argument in node.args:
                read(argument)
            if node.op == "loop":
                block = node.payload
                for inner in (*block.following, *block.stacked, *block.carried, block.condition):
                    if inner is not None:
                        read(inner)
                visit(block.line)

    visit(program.line)
    for result in program.results:
        read(result)
    return frozenset(found)
