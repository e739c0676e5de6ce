"""Long lines cut into parts: LLVM's time grows faster than the code of a function, so that no function may grow too long.

Each part becomes a function of its own; values that later parts need go through memory. That costs a tenth to a third of the
run time and makes LLVM's time proportional to the number of operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import ProgramError
from ...scalar import Program, Symbol
from ..remembered import Remembered

__all__ = ["LinePartition", "check_partition", "line_partition"]

#: Lines with more nodes are cut, into parts of about this many.
LONGEST_LINE, PART = 60_000, 1000
_READ = frozenset({"const", "input", "carried", "counter", "capture", "loop", "call"})


@dataclass(frozen=True)
class LinePartition:
    """The parts of a line, and the slot in memory of every value that crosses from one to another or is a result."""

    parts: tuple[tuple[Symbol, ...], ...]
    slots: dict[Symbol, int]
    size: int


@Remembered
def line_partition(program: Program) -> LinePartition | None:
    """How the line of a program is cut; None if it is short enough for one function."""
    if len(program.line) <= LONGEST_LINE:
        return None
    ordered = _results_with_their_block(program.line)
    parts = _cut(ordered)
    part_of = {node: k for k, part in enumerate(parts) for node in part}
    last_use = dict.fromkeys(program.results, len(parts))
    for node in reversed(ordered):
        for argument in node.args:
            last_use.setdefault(argument, part_of[node])
    slots: dict[Symbol, int] = {}
    free: list[int] = []
    ending: dict[int, list[int]] = {}
    size = 0
    for k, part in enumerate(parts):
        free += ending.pop(k - 1, [])  # values that the part before read last
        for node in part:
            if node.op in _READ or last_use.get(node, k) <= k:
                continue
            if free:
                slots[node] = free.pop()
            else:
                slots[node], size = size, size + 1
            ending.setdefault(last_use[node], []).append(slots[node])
    return LinePartition(tuple(parts), slots, size)


def _cut(line: Sequence[Symbol]) -> list[tuple[Symbol, ...]]:
    """Parts of at least `PART` nodes, none beginning with a result, which belongs to the block before it."""
    parts: list[list[Symbol]] = [[]]
    for node in line:
        if len(parts[-1]) >= PART and node.op != "result":
            parts.append([])
        parts[-1].append(node)
    return [tuple(part) for part in parts]


def _results_with_their_block(line: Sequence[Symbol]) -> list[Symbol]:
    """The line with the results of every loop and call right behind it."""
    results: dict[Symbol, list[Symbol]] = {}
    for node in line:
        if node.op == "result":
            results.setdefault(node.args[0], []).append(node)
    ordered: list[Symbol] = []
    for node in line:
        if node.op != "result":
            ordered += [node, *results.get(node, [])]
    return ordered


def check_partition(program: Program, partition: LinePartition) -> None:
    """Checks that every part finds what it reads.

    Raises:
        ProgramError: naming the node and the rule.
    """
    made_in: dict[Symbol, int] = {}
    holder: dict[int, Symbol] = {}  # what a slot holds now
    for k, part in enumerate(partition.parts):
        for node in part:
            for argument in node.args:
                _check_read(program, partition, argument, k, made_in, holder)
            made_in[node] = k
        holder.update({partition.slots[node]: node for node in part if node in partition.slots})
    for node in program.results:
        _check_read(program, partition, node, len(partition.parts), made_in, holder)
    if len(made_in) != len(program.line):
        raise ProgramError(f"{program.name}, after 'partition': {len(made_in)} of {len(program.line)} nodes are in a part")


def _check_read(
    program: Program, partition: LinePartition, read: Symbol, part: int, made_in: dict[Symbol, int], holder: dict[int, Symbol]
) -> None:
    """A value is made before in the same part, or can be read anywhere, or is held by its slot."""
    there = made_in.get(read)
    if there == part or (there is not None and read.op in _READ):
        return
    slot = partition.slots.get(read)
    if there is None or slot is None or holder.get(slot) is not read:
        raise ProgramError(
            f"{program.name}, after 'partition': part {part} reads {read!r}, which its slot {slot} does not hold; what is read "
            "in a later part keeps its slot until then. This is a fault of the compiler"
        )
