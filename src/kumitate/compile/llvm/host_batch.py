"""The entry for batches on this processor: `void kernel(i64 n, ptr in…, ptr out…)`, n states, one contiguous row per state.

Lanes are gathered from and scattered to the user's rows; what a program calls works on blocks of lanes throughout. The last
block of a batch slides back over states that are done already, so that no tail needs code of its own: n must be at least the
number of lanes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...scalar import Program, Symbol
from .batch_io import Row, RowInputs, scatter, scatter_buffer, scatter_stretch
from .body import ProgramBody
from .module import Module
from .scratch import scratch_memory, scratch_size

__all__ = ["ENTRY", "HostBatch", "row_address", "write_results"]

#: The name of the compiled function.
ENTRY = "kernel"
_SCATTER_ONE_BY_ONE = 64  # outputs with more elements are scattered by a loop


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
        body.run_program()
        sizes = [array.size for array in program.outputs]
        write_results(body, [row_address(body, out, state, size) for out, size in zip(outs, sizes, strict=True)])
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


def write_results(body: ProgramBody, rows: Sequence[Row]) -> None:
    """The results to the rows of the outputs. All is read before anything is written: outputs may be inputs."""
    program, at_once = body.program, not body.in_parts
    if at_once:
        for node in program.results:
            if node not in body.deferred:
                body.value(node)
    else:
        body.result_size = max(body.result_size, len(program.results))
        body.store_results("%returned")
    position = 0
    for row, array in zip(rows, program.outputs, strict=True):
        if at_once:
            _scatter_values(body, program.results[position : position + array.size], row)
        else:
            scatter_buffer(body, "%returned", position, array.size, row)
        position += array.size


def _scatter_values(body: ProgramBody, nodes: Sequence[Symbol], row: Row) -> None:
    """All elements of an output; many of them by a loop over a buffer, which keeps the code small."""
    size, lanes = len(nodes), body.module.lanes
    if size > _SCATTER_ONE_BY_ONE:
        body.result_size = max(body.result_size, size)
        body.store_all(nodes, "%returned")
        scatter_buffer(body, "%returned", 0, size, row)
        return
    values = [body.value(node) for node in nodes]
    whole = size // lanes * lanes if lanes > 1 else 0
    for start in range(0, whole, lanes):
        scatter_stretch(body, values[start : start + lanes], row, size, start)
    for k in range(whole, size):
        scatter(body, values[k], row, size, k)
