"""What is known of a program before it is written: how long lines are cut, which loops have no order, what memory
it needs.

Long lines are cut into parts: LLVM's time grows faster than the code of a function, so that no function may grow too long.
Each part becomes a function of its own; values that later parts need go through memory. That costs a tenth to a third of the
run time and makes LLVM's time proportional to the number of operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import copysign
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from ...errors import ProgramError
from ...scalar import Hole, Program, Symbol, origin
from ...scalar.blocks import walk

Found = TypeVar("Found")
#: Lines with more nodes are cut, into parts of about this many.
LONGEST_LINE, PART = 60_000, 1000
_READ = frozenset({"const", "input", "carried", "counter", "capture", "loop", "call"})
_COPY_AT_LEAST = 9  # values of a stretch of the scratch memory that is copied at once
_ZEROS_AT_LEAST = 32  # those of one that a loop fills with zeros
_LEFT = 64  # results of a call that has more stay in memory
#: Loops of more passes stay loops, and those of more than `WIDEST` passes are never computed in lanes: 256 bits.
MOST, WIDEST = 8, 4
_BLOCKS = frozenset({"loop", "call", "result", "hole"})
#: Passes in a block: the doubles of 512 bits.
BLOCK = 8
#: A loop in any order that reads more inputs than this reads them in each pass: registers are few.
_HELD = 16


class Remembered(Generic[Found]):
    """A function that is called once for each program. Its results must not refer to the program, or it is never freed."""

    def __init__(self, find: Callable[[Program], Found]):
        self._find = find
        self._known: WeakKeyDictionary[Program, Found] = WeakKeyDictionary()

    def __call__(self, program: Program) -> Found:
        if program not in self._known:
            self._known[program] = self._find(program)
        return self._known[program]

    def clear(self) -> None:
        """Forgets all results."""
        self._known.clear()


# --- inputs ---------------------------------------------------------------------------------------------------------------
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

    def read(*nodes: Symbol | None) -> None:
        for node in nodes:
            if node is not None and (source := origin(node)).op == "input":
                name, k = source.payload
                found.add(places[name][k])

    for node in walk(program.line):
        if node.op == "call":
            used = inputs_read(node.payload)
            read(*(argument for k, argument in enumerate(node.args) if k in used))
            continue
        if node.op == "load":
            found.update(places[node.payload[0]])
        read(*node.args)
        if node.op == "loop":
            block = node.payload
            read(*block.following, *block.stacked, *block.carried, block.condition)
    read(*program.results)
    return frozenset(found)


# --- long lines -----------------------------------------------------------------------------------------------------------
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
    parts = _cut(program.line)
    last_use: dict[Symbol, int] = {}
    for k, part in enumerate(parts):
        last_use.update(dict.fromkeys((argument for node in part for argument in node.args), k))
    last_use.update(dict.fromkeys(program.results, len(parts)))
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
    """Parts of at least `PART` nodes, with the results of every loop and call right behind it, in its part."""
    results: dict[Symbol, list[Symbol]] = {}
    for node in line:
        if node.op == "result":
            results.setdefault(node.args[0], []).append(node)
    parts: list[list[Symbol]] = [[]]
    for node in (node for node in line if node.op != "result"):
        if len(parts[-1]) >= PART:
            parts.append([])
        parts[-1] += [node, *results.get(node, [])]
    return [tuple(part) for part in parts]


def check_partition(program: Program, partition: LinePartition) -> None:
    """Checks that every part finds what it reads; raises a `ProgramError` that names the node and the rule."""
    made_in: dict[Symbol, int] = {}
    holder: dict[int, Symbol] = {}  # what a slot holds now

    def check(node: Symbol, part: int) -> None:
        """A value is made before in the same part, or can be read anywhere, or is held by its slot."""
        there = made_in.get(node)
        if there == part or (there is not None and node.op in _READ):
            return
        slot = partition.slots.get(node)
        if there is None or slot is None or holder.get(slot) is not node:
            raise ProgramError(
                f"{program.name}, after 'partition': part {part} reads {node!r}, which its slot {slot} does not hold; what is "
                "read in a later part keeps its slot until then. This is a fault of the compiler"
            )

    for k, part in enumerate(partition.parts):
        for node in part:
            for argument in node.args:
                check(argument, k)
            made_in[node] = k
        holder.update({partition.slots[node]: node for node in part if node in partition.slots})
    for node in program.results:
        check(node, len(partition.parts))
    if len(made_in) != len(program.line):
        raise ProgramError(f"{program.name}, after 'partition': {len(made_in)} of {len(program.line)} nodes are in a part")


# --- loops without order --------------------------------------------------------------------------------------------------
@Remembered
def independent_loops(program: Program) -> frozenset[int]:
    """The loops that are written without a loop, by their places in the program's line."""
    short = [(node, k) for k, node in enumerate(program.line) if node.op == "loop" and node.payload.count <= MOST]
    loops = {node: k for node, k in short if without_order(node)}
    while True:
        refused = {source for node in program.line for source in _misread(node, loops) if source in loops}
        if not refused:
            return frozenset(loops.values())
        loops = {node: k for node, k in loops.items() if node not in refused}


def without_order(node: Symbol) -> bool:
    """Whether the passes of a loop may be computed in any order: it carries nothing, runs them all, and has no blocks in it."""
    block = node.payload
    if block.carries or block.condition is not None:
        return False
    return not any(part.op in _BLOCKS for part in block.line)


def _misread(node: Symbol, loops: dict[Symbol, int]) -> set[Symbol]:
    """The loops that a node of the program's line reads otherwise than the same pass of another such loop does."""
    found: set[Symbol] = set()
    for part in node.payload.line if node.op == "loop" else ():
        if part.op == "loop":
            found |= _misread(part, {})
        elif part.op == "element":
            source, same = origin(part.args[0]), part.payload[1:] == (1, 0)
            if not (same and node in loops and source in loops and node.payload.count == source.payload.count):
                found.add(source)
    return found


def read_inside(node: Symbol) -> set[Symbol]:
    """The inputs that a loop reads in each pass, and not before it."""
    inputs = {outer for outer in node.args if outer.op == "input"}
    return inputs if len(inputs) > _HELD and without_order(node) else set()


def in_blocks(node: Symbol, *, packs: bool) -> bool:
    """Whether a loop is computed eight passes at a time; `packs`: whether numbers of one state share vectors."""
    return packs and node.payload.count >= BLOCK and without_order(node)


# --- scratch memory: for loops' stacks, results of calls, values that cross between parts, and what called programs need --
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


def zero_runs(nodes: Sequence[Symbol]) -> list[range]:
    """Stretches of `_ZEROS_AT_LEAST` constants or more that are zero, as sparse matrices have them."""
    zero = [node.op == "const" and node.payload == 0.0 and copysign(1.0, node.payload) > 0.0 for node in nodes]
    groups = groupby(range(len(nodes)), zero.__getitem__)
    runs = [list(places) for is_zero, places in groups if is_zero]
    return [range(run[0], run[-1] + 1) for run in runs if len(run) >= _ZEROS_AT_LEAST]


@Remembered
def read_where_used(program: Program) -> frozenset[Symbol]:
    """What a loop or a call has left in memory, from where it is read where it is used."""
    runs = (node for run in stack_runs(program.results) for node in program.results[run.start : run.stop])
    return frozenset(runs) | {node for node in program.line if node.op == "result" and left_in_memory(node.args[0])}


def _follows(nodes: Sequence[Symbol], start: int, k: int) -> bool:
    """Whether node k continues the sequence that begins at `start`."""
    a, b, first = nodes[k - 1], nodes[k], nodes[start]
    if a.op == b.op == "result" and left_in_memory(a.args[0]):
        return a.args[0] is b.args[0] and b.payload == a.payload + 1
    if any(node.op != "element" or len(node.args) != 1 for node in (a, b)):
        return False
    if a.args[0] is not b.args[0] or a.payload[0] != b.payload[0]:
        return False
    return b.payload[2] - a.payload[2] == nodes[start + 1].payload[2] - first.payload[2]
