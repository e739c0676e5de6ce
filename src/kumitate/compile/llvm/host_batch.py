"""The entry for batches on this processor: `void kernel(i64 n, ptr in…, ptr out…)`, n states, one contiguous row per state.

Lanes are gathered from and scattered to the user's rows; what a program calls works on blocks of lanes throughout. The last
block of a batch slides back over states that are done already, so that no tail needs code of its own: n must be at least the
number of lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...scalar import Program, Symbol
from .batch_io import Row, RowInputs, scatter, scatter_buffer, scatter_stretch
from .body import ProgramBody
from .module import Module
from .scratch import scratch_memory, scratch_size

__all__ = ["ENTRY", "HostBatch", "row_address", "run_into_rows"]

#: The name of the compiled function.
ENTRY = "kernel"
_SCATTER_ONE_BY_ONE = 64  # outputs with more elements are scattered by a loop, if there are several lanes


class HostBatch:
    """A program over rows of arrays, block of lanes after block of lanes."""

    name = ENTRY

    def __init__(self, program: Program):
        self.program, self.programs = program, (program,)

    def function(self, module: Module) -> str:
        """The loop over blocks around the program's body."""
        program = self.program
        inputs = RowInputs({array.name: array.size for array in program.inputs}, {})
        body = ProgramBody(module, program, inputs)
        ins = [f"%in{k}" for k in range(len(program.inputs))]
        outs = [f"%out{k}" for k in range(len(program.outputs))]
        body.start("states")
        last = body.line(f"sub i64 %n, {module.lanes}")
        body.effect("br label %next")
        body.start("next")
        body.effect("%first = phi i64 [ 0, %states ], [ %following, %done ]")
        past = body.line(f"icmp ugt i64 %first, {last}")
        state = body.line(f"select i1 {past}, i64 {last}, i64 %first")
        for pointer, array in zip(ins, program.inputs, strict=True):
            inputs.rows[array.name] = row_address(body, pointer, state, array.size)
        rows = [row_address(body, pointer, state, array.size) for pointer, array in zip(outs, program.outputs, strict=True)]
        run_into_rows(body, rows)
        body.effect("br label %done")
        body.start("done")
        body.effect(f"%following = add i64 %first, {module.lanes}")
        more = body.line("icmp ult i64 %following, %n")
        body.effect(f"br i1 {more}, label %next, label %end")
        body.start("end")
        taken, given_back = scratch_memory(module, scratch_size(program))
        begin = [*taken, "  %empty = icmp eq i64 %n, 0", "  br i1 %empty, label %end, label %states"]
        arguments = ", ".join(["i64 %n", *(f"ptr {p}" for p in (*ins, *outs))])
        return body.function(f"define void @{ENTRY}({arguments}) #0", begin=begin, end=given_back)


def row_address(body: ProgramBody, pointer: str, state: str, size: int) -> str:
    """The address of a state's row in an array."""
    offset = body.line(f"mul i64 {state}, {size}")
    return body.line(f"getelementptr {body.module.element}, ptr {pointer}, i64 {offset}")


def run_into_rows(body: ProgramBody, rows: Sequence[Row]) -> None:
    """Computes a program, its results going to the rows of its outputs, which may be rows of its inputs."""
    outputs = _Outputs(body, rows)
    body.noted = None if body.in_parts else outputs.computed
    body.run_program()
    outputs.finish()


class _Stretch(NamedTuple):
    """Neighbouring elements of an output that are stored together: its row, its size, the first of them, and their values."""

    row: Row
    size: int
    start: int
    nodes: Sequence[Symbol]


class _Outputs:
    """Results on their way to rows: stored where they are computed, as soon as no input is read any more.

    A result that waits for the end of the program takes a register, or is spilled. But outputs may be inputs, so that nothing
    is stored while an input is still to be read. Several lanes are stored as stretches, transposed.
    """

    def __init__(self, body: ProgramBody, rows: Sequence[Row]):
        self.body, self.rows = body, rows
        self.stretches: list[_Stretch] = []
        self.whole: list[tuple[Row, Sequence[Symbol]]] = []  # outputs that are stored at the end, by a loop
        position = 0
        for row, array in zip(rows, body.program.outputs, strict=True):
            self._divide(row, body.program.results[position : position + array.size])
            position += array.size
        self.waiting: dict[Symbol, set[int]] = {}  # the stretches that a value not known yet belongs to
        for k, stretch in enumerate(self.stretches):
            for node in stretch.nodes:
                self.waiting.setdefault(node, set()).add(k)
        self.missing = {k: len(set(stretch.nodes)) for k, stretch in enumerate(self.stretches)}
        self.unread = [node for node in body.program.line if node.op in ("input", "loop")]
        self.ready: list[int] = []

    def _divide(self, row: Row, nodes: Sequence[Symbol]) -> None:
        lanes, size = self.body.module.lanes, len(nodes)
        if (size > _SCATTER_ONE_BY_ONE and lanes > 1) or any(node in self.body.deferred for node in nodes):
            self.whole.append((row, nodes))
            return
        even = size // lanes * lanes
        self.stretches += [_Stretch(row, size, k, nodes[k : k + lanes]) for k in range(0, even, lanes)]
        self.stretches += [_Stretch(row, size, k, nodes[k : k + 1]) for k in range(even, size)]

    def computed(self, node: Symbol) -> None:
        """Takes note of a value that is known now, and stores what may be stored."""
        for k in self.waiting.pop(node, ()):
            self.missing[k] -= 1
            if not self.missing[k]:
                self.ready.append(k)
        if self.ready:
            self.unread = [source for source in self.unread if source not in self.body.values]
            if not self.unread:
                self._store(self.ready)
                self.ready = []

    def _store(self, which: Sequence[int]) -> None:
        body = self.body
        for k in which:
            row, size, start, nodes = self.stretches[k]
            values = [body.value(node) for node in nodes]
            if len(values) > 1:
                scatter_stretch(body, values, row, size, start)
            else:
                scatter(body, values[0], row, size, start)
            del self.missing[k]

    def finish(self) -> None:
        """Stores what is left. All of it is read before anything is written."""
        body, program = self.body, self.body.program
        if body.in_parts:
            body.result_size = max(body.result_size, len(program.results))
            body.store_results("%returned")
            position = 0
            for row, array in zip(self.rows, program.outputs, strict=True):
                scatter_buffer(body, "%returned", position, array.size, row)
                position += array.size
            return
        for node in program.results:
            if node not in body.deferred:
                body.value(node)
        self._store(list(self.missing))
        for row, nodes in self.whole:
            stand_at = body.stand_at(nodes)
            if stand_at is not None:
                scatter_buffer(body, *stand_at, len(nodes), row)
                continue
            body.result_size = max(body.result_size, len(nodes))
            body.store_all(nodes, "%returned")
            scatter_buffer(body, "%returned", 0, len(nodes), row)
