"""The entries over lists: `void NAME(i64 n, ptr array, ptr list, …)`, n evaluations, each with its own rows of the arrays.

Every array of the program, inputs first, has a pointer and, where a list chooses its rows, one to the numbers of the rows.
Lanes beyond the end of the list repeat its last evaluation, and write the same results once more.

A short program that is evaluated once is a function of the caller's own module, `void NAME(ptr array, …)`, which LLVM inlines:
a call would store the inputs and reload all that the caller keeps in registers, which costs more than such a program.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...scalar import Program
from ..precision import DOUBLE
from .batch_io import Row, RowInputs
from .body import ProgramBody
from .host_batch import row_address, run_into_rows
from .module import Module
from .scratch import scratch_memory, scratch_size

__all__ = ["Gathered", "inlined"]

#: The longest program, in nodes, that is inlined where it is called.
_SHORT = 400


class Gathered:
    """A program over lists of rows.

    Attributes:
        name: of the function.
        program: what is evaluated.
        listed: for each of its arrays, inputs first, whether a list chooses its rows.
    """

    def __init__(self, name: str, program: Program, listed: Sequence[bool]):
        self.name, self.program, self.programs, self.listed = name, program, (program,), tuple(listed)

    def function(self, module: Module) -> str:
        """The loop over blocks of lanes around the program's body."""
        program = self.program
        arrays = (*program.inputs, *program.outputs)
        inputs = RowInputs({array.name: array.size for array in program.inputs}, {})
        body = ProgramBody(module, program, inputs)
        body.start("states")
        last = body.line("sub i64 %n, 1")
        body.effect("br label %next")
        body.start("next")
        body.effect("%first = phi i64 [ 0, %states ], [ %following, %done ]")
        places = [_place(body, lane, last) for lane in range(module.lanes)]
        rows = [self._rows(body, k, array.size, places) for k, array in enumerate(arrays)]
        inputs.rows.update(zip((array.name for array in program.inputs), rows, strict=False))
        run_into_rows(body, rows[len(program.inputs) :])
        body.effect("br label %done")
        body.start("done")
        body.effect(f"%following = add i64 %first, {module.lanes}")
        more = body.line("icmp slt i64 %following, %n")
        body.effect(f"br i1 {more}, label %next, label %end")
        body.start("end")
        taken, given_back = scratch_memory(module, scratch_size(program))
        begin = [*taken, "  %some = icmp sgt i64 %n, 0", "  br i1 %some, label %states, label %end"]
        parameters = [f"ptr %array{k}{f', ptr %list{k}' if listed else ''}" for k, listed in enumerate(self.listed)]
        return body.function(f"define void @{self.name}({', '.join(['i64 %n', *parameters])}) #0", begin=begin, end=given_back)

    def _rows(self, body: ProgramBody, k: int, size: int, places: Sequence[str]) -> Row:
        """The rows of all lanes of array k."""
        if self.listed[k]:
            at = [body.line(f"getelementptr i64, ptr %list{k}, i64 {place}") for place in places]
            places = [body.line(f"load i64, ptr {address}") for address in at]
        rows = tuple(row_address(body, f"%array{k}", place, size) for place in places)
        return rows if len(rows) > 1 else rows[0]


def inlined(name: str, program: Program, *, portable: bool) -> tuple[str, set[str]] | None:
    """The text of a short program as a function to inline, and its declarations; None for one that needs memory or tables."""
    if len(program.line) > _SHORT or program.callees or scratch_size(program):
        return None
    module = Module(1, DOUBLE, portable=portable)
    arrays = (*program.inputs, *program.outputs)
    rows: list[Row] = [f"%array{k}" for k in range(len(arrays))]
    inputs = RowInputs(
        {array.name: array.size for array in program.inputs},
        dict(zip((array.name for array in program.inputs), rows, strict=False)),
    )
    body = ProgramBody(module, program, inputs)
    run_into_rows(body, rows[len(program.inputs) :])
    parameters = ", ".join(f"ptr {row}" for row in rows)
    text = body.function(f"define internal void @{name}({parameters}) alwaysinline #0")
    return None if module.functions or module.tables else (text, module.declared)


def _place(body: ProgramBody, lane: int, last: str) -> str:
    """Where in the list a lane is."""
    if lane == 0:
        return "%first"
    place = body.line(f"add i64 %first, {lane}")
    past = body.line(f"icmp sgt i64 {place}, {last}")
    return body.line(f"select i1 {past}, i64 {last}, i64 {place}")
