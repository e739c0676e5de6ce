"""The scratch memory of a program: for its loops' stacks, the results of calls, values that cross between its parts, and what
called programs need."""

from __future__ import annotations

from collections.abc import Sequence

from ...scalar import Hole, Program, Symbol
from ..remembered import Remembered
from .module import Module
from .partition import line_partition

__all__ = ["left_in_memory", "scratch_memory", "scratch_of_blocks", "scratch_of_loops", "scratch_size", "stack_runs"]

_COPY_AT_LEAST = 9  # values of a stretch of the scratch memory that is copied at once
_LEFT = 64  # results of a call that has more stay in memory
_STACK_BYTES = 1 << 17  # more than this comes from the heap


def left_in_memory(node: Symbol) -> bool:
    """Whether a node is a call whose results stay in the scratch memory until they are used."""
    return node.op == "call" and len(node.payload.results) > _LEFT


def _own_scratch(line: Sequence[Symbol]) -> int:
    """Blocks of lanes that the loops of a line (and the loops in them) keep, and that its calls leave in memory."""
    kept = sum(n.payload.count * len(n.payload.keeps) + _own_scratch(n.payload.line) for n in line if n.op == "loop")
    return kept + sum(len(n.payload.results) for n in line if left_in_memory(n))


@Remembered
def scratch_of_loops(program: Program) -> int:
    """Blocks of lanes that the loops and calls of a program keep, without what the programs that it calls need."""
    return _own_scratch(program.line)


def scratch_of_blocks(program: Program) -> int:
    """Blocks of lanes that the loops of a program and the programs it calls need."""
    return scratch_of_loops(program) + max((scratch_size(callee) for callee in program.callees), default=0)


def scratch_size(program: Program) -> int:
    """Blocks of lanes that a program needs in total; programs that fill holes have their own."""
    if isinstance(program, Hole):
        return 0
    partition = line_partition(program)
    return scratch_of_blocks(program) + (partition.size if partition else 0)


def scratch_memory(module: Module, slots: int) -> tuple[list[str], list[str]]:
    """Instructions that take memory for so many blocks of lanes, at whole lines of the cache, and that give it back."""
    size = module.align * slots
    if not slots:
        return [], []
    if size <= _STACK_BYTES:
        return [f"  %scratch = alloca [{slots} x {module.real}], align 64"], []
    module.declare("ptr", "malloc", ["i64"])
    module.declare("void", "free", ["ptr"])
    taken = [
        f"  %heap = call ptr @malloc(i64 {size + 64})",
        "  %heapbits = ptrtoint ptr %heap to i64",
        "  %heapup = add i64 %heapbits, 63",
        "  %heapaligned = and i64 %heapup, -64",
        "  %scratch = inttoptr i64 %heapaligned to ptr",
    ]
    return taken, ["  call void @free(ptr %heap)"]


def stack_runs(nodes: Sequence[Symbol]) -> list[range]:
    """Stretches of `_COPY_AT_LEAST` nodes or more that read one value of a loop's stack, pass by pass, or results of a call."""
    runs, start = [], 0
    for k in range(1, len(nodes) + 1):
        if k < len(nodes) and _follows(nodes, start, k):
            continue
        if k - start >= _COPY_AT_LEAST:
            runs.append(range(start, k))
        start = k
    return runs


def _follows(nodes: Sequence[Symbol], start: int, k: int) -> bool:
    """Whether node k continues the sequence that begins at `start`."""
    a, b, first = nodes[k - 1], nodes[k], nodes[start]
    if a.op == b.op == "result" and left_in_memory(a.args[0]):
        return a.args[0] is b.args[0] and b.payload == a.payload + 1
    if any(node.op != "element" or len(node.args) != 1 for node in (a, b)):
        return False
    if a.args[0] is not b.args[0] or a.payload[0] != b.payload[0]:
        return False
    return k == start + 1 or b.payload[2] - a.payload[2] == nodes[start + 1].payload[2] - first.payload[2]
