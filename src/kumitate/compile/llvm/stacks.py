"""Where loops keep values of every pass, and calls leave many results: in memory, from where stretches of them are copied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from ...scalar import LoopBlock, Program, Symbol, origin
from ...scalar.operations import CONDITIONS
from .plan import BLOCK, WIDEST, in_blocks, read_where_used, stack_runs, without_order, zero_runs
from .straight_line import PACKED, StraightLine, uses_of_pass
from .writer import Module, Writer


class ProgramInputs(Protocol):
    """The inputs of a program as seen by its body."""

    @property
    def pointers(self) -> Sequence[str]:
        """The addresses that a function needs to read them."""

    def handed(self) -> ProgramInputs:
        """The same inputs inside a function that receives these addresses."""

    def read(self, to: Writer, name: str, element: int | str) -> str:
        """The value of an element of an input, which is a number or the name of an index."""

    def address(self, to: Writer, name: str, element: int | str) -> str:
        """Where an element of an input is, of one state."""


class LoopStack(NamedTuple):
    """Where a loop keeps its values, as blocks of lanes from `base` on: those of the next pass are `apart` further on.

    `columns`: where each value of the first pass is, by number.
    """

    base: str
    apart: int
    columns: dict[int, int]


def loop_stack(node: Symbol, start: int, *, packs: bool) -> LoopStack:
    """The places of what a loop keeps in the scratch memory, from `start` on."""
    count, keeps = node.payload.count, node.payload.keeps
    if in_blocks(node, packs=packs):
        return LoopStack("%scratch", 1, {k: start + place * count for place, k in enumerate(keeps)})
    return LoopStack("%scratch", len(keeps), {k: start + place for place, k in enumerate(keeps)})


def stacks_in_results(program: Program) -> dict[Symbol, LoopStack]:
    """The loops of which all that they keep is, pass by pass, among the results of a program: there they can keep it."""
    found: dict[Symbol, dict[int, int]] = {}  # where each value begins, by loop and number
    for run in stack_runs(program.results):
        first, second = program.results[run.start], program.results[run.start + 1]
        if first.op != "element" or first.payload[1:] != (0, 0) or second.payload[2] != 1:
            continue
        loop = first.args[0]
        if len(run) == loop.payload.count and without_order(loop):
            found.setdefault(loop, {})[first.payload[0]] = run.start
    return {
        loop: LoopStack("%out", 1, columns) for loop, columns in found.items() if columns.keys() == loop.payload.keeps.keys()
    }


class KeptInMemory(StraightLine):
    """Writes a line of which some values stand in memory.

    Attributes:
        inputs: of the program.
        side_by_side, one_by_one: what loops without a loop keep: vectors over the passes by number, or for each pass.
        passes: the counters of such loops, while a pass is written.
        stacks, left: where loops keep their values, and where in the scratch memory calls leave many results.
        in_results: the stacks of loops that keep their values among the results of the program, by loop.
        deferred: what is read from there where it is used.
    """

    def __init__(self, module: Module, program: Program, inputs: ProgramInputs):
        super().__init__(module)
        self.program, self.inputs = program, inputs
        self.side_by_side: dict[Symbol, dict[int, str]] = {}
        self.one_by_one: dict[Symbol, list[dict[int, str]]] = {}
        self.passes: dict[Symbol, int] = {}
        self.stacks: dict[Symbol, LoopStack] = {}
        self.left: dict[Symbol, int] = {}
        self.in_results: dict[Symbol, LoopStack] = {}
        self.deferred = set(read_where_used(program))

    def store_all(self, nodes: Sequence[Symbol], base: str) -> None:
        """Values into an array of blocks; a stretch of the scratch memory is copied at once, one of zeros filled by a loop."""
        runs, zeros = ({run.start: run for run in found(nodes)} for found in (stack_runs, zero_runs))
        k = 0
        while k < len(nodes):
            if k in runs:
                self.copy_run(nodes, runs[k], base)
                k = runs[k].stop
                continue
            if k in zeros:  # LLVM takes seconds for ten thousand stores one after the other
                zero = self.value(nodes[k])
                with self.counted(len(zeros[k])) as counter:
                    self.store_block(zero, base, self.line(f"add i64 {counter}, {k}"))
                k = zeros[k].stop
                continue
            self.store_block(self.value(nodes[k]), base, k)
            k += 1

    def copy_run(self, nodes: Sequence[Symbol], run: range, base: str) -> None:
        """A stretch of the scratch memory into an array of blocks."""
        (source, first), (_, second) = self.place(nodes[run.start]), self.place(nodes[run.start + 1])
        if (source, first, second) == (base, run.start, run.start + 1):
            return  # the loop has kept them there
        if second == first + 1:
            self.copy(self.slot(source, first), self.slot(base, run.start), len(run))
            return
        with self.counted(len(run)) as k:
            scaled = self.line(f"mul i64 {k}, {second - first}")
            value = self.load_block(source, self.line(f"add i64 {scaled}, {first}"))
            self.store_block(value, base, self.line(f"add i64 {k}, {run.start}"))

    def stand_at(self, nodes: Sequence[Symbol]) -> tuple[str, int] | None:
        """The array in which values stand one behind the other, and where there, if they do."""
        if stack_runs(nodes) != [range(len(nodes))]:
            return None
        (base, first), (_, second) = self.place(nodes[0]), self.place(nodes[1])
        return (base, first) if second == first + 1 else None

    def place(self, node: Symbol) -> tuple[str, int]:
        """The array in which a loop or a call has left a value, and where there."""
        if node.op == "result":
            return "%scratch", self.left[node.args[0]] + int(node.payload)
        stack = self.stacks[origin(node.args[0])]
        return stack.base, stack.columns[node.payload[0]] + int(node.payload[2]) * stack.apart


# --- loops whose passes may be computed in any order: passes become lanes where there is one state ------------------------
# Short loops, such as those over a robot's limbs, are written without a loop: side by side, each pass in a lane of vectors.
# Numbers that differ from pass to pass are vectors of constants, and what the loop takes from outside is spread over the lanes.
# What such a loop keeps stays in registers: it is read by the same pass of other such loops, or pass by pass by the line around
# them. For a batch, whose lanes are states, the passes are written one after the other.
#
# Loops of many passes, such as those over the columns of a matrix, go from block to block of eight passes; the last block
# slides back over passes that are done already. What such a loop keeps stands value by value in memory, one pass behind the
# other. For a batch these loops stay as they are.


def write_passes(around: KeptInMemory, node: Symbol) -> None:
    """Writes a loop without a loop into the function of `around`: side by side for one state, else one after the other."""
    block: LoopBlock = node.payload
    for outer in node.args:
        around.value(outer)
    if around.module.packs and 1 < block.count <= WIDEST:
        around.side_by_side[node] = PassLanes(around, node, block.count).run()
        return
    counters = [part for part in block.line if part.op == "counter"]
    kept = around.one_by_one[node] = []
    around.look_ahead(block.line, uses_of_pass(block))
    for k in range(block.count):
        around.passes |= dict.fromkeys(counters, k)
        around.compute_line(block.line)
        kept.append({column: around.value(symbol) for column, symbol in block.keeps.items()})
        for part in block.line:  # the next pass computes them again
            around.values.pop(part, None)
            around.trig.pop(part, None)


def _read_at_once(node: Symbol) -> bool:
    """Whether a value is an element of an input, or one and a number."""
    if node.op in ("add", "sub"):
        return sorted(part.op for part in node.args) in (["load", "lookup"], ["const", "load"])
    return node.op == "load"


def _order(indices: Sequence[int]) -> str:
    return f"<{', '.join(f'i32 {k}' for k in indices)}>"


class PassLanes(StraightLine):
    """Writes so many passes of a loop side by side into the function of `around`."""

    def __init__(self, around: KeptInMemory, node: Symbol, passes: int):
        super().__init__(around.module.wide(passes))
        self.around, self.block_node = around, node

    def run(self) -> dict[int, str]:
        """Computes all passes; the vectors of what they keep, by number."""
        around, block = self.around, self.block_node.payload
        self.lines, self.count, self.block = around.lines, around.count, around.block
        if not self.module.portable:
            self.join_turns(block.line)
        self.run_line(block.line, uses_of_pass(block))
        kept = {k: self.value(symbol) for k, symbol in block.keeps.items()}
        around.count = self.count
        return kept

    def join_turns(self, line: Sequence[Symbol]) -> None:
        """Computes the sines and cosines of angles that are read at once, where two passes leave half a vector empty."""
        lanes = self.module.lanes
        angles = list(dict.fromkeys(node.args[0] for node in line if node.op in ("sin", "cos") and _read_at_once(node.args[0])))
        for pair in zip(angles[::2], angles[1::2], strict=False) if 2 * lanes == PACKED else ():
            half, whole = (self.module.vector(self.module.element, n) for n in (lanes, PACKED))
            first, second = (self.value(angle) for angle in pair)
            joined = self.line(f"shufflevector {half} {first}, {half} {second}, <{PACKED} x i32> {_order(range(PACKED))}")
            parts: list[list[str]] = [[], []]
            for found in self.sincos(joined, PACKED):
                for k, part in enumerate(parts):
                    picked = _order(range(k * lanes, k * lanes + lanes))
                    part.append(self.line(f"shufflevector {whole} {found}, {whole} poison, <{lanes} x i32> {picked}"))
            self.trig |= {angle: (sine, cosine) for angle, (sine, cosine) in zip(pair, parts, strict=True)}

    def vector(self, values: Sequence[float]) -> str:
        """Numbers, one for each pass."""
        module = self.module
        return f"<{', '.join(f'{module.element} {module.number(value)}' for value in values)}>"

    def positions(self, node: Symbol) -> list[int]:
        """Where the passes read by index."""
        _, stride, offset = node.payload
        return [stride * k + offset for k in range(self.module.lanes)]

    def compute_capture(self, node: Symbol) -> str:
        kind = "i1" if node.payload.op in CONDITIONS else self.module.element
        return self.spread(self.read_around([partial(self.around.value, node.payload)]), kind, self.module.lanes)

    def compute_load(self, node: Symbol) -> str:
        return self.read_around(
            [partial(self.around.inputs.read, self.around, node.payload[0], position) for position in self.positions(node)]
        )

    def read_around(self, reads: Sequence[Callable[[], str]]) -> str:
        """Numbers, one for each pass or for all, that the line around reads."""
        self.around.count = self.count
        loaded = [read() for read in reads]
        self.count = self.around.count
        return self.gathered(loaded)

    def compute_lookup(self, node: Symbol) -> str:
        return self.vector([node.payload[0].values[position] for position in self.positions(node)])

    def compute_ordinal(self, node: Symbol) -> str:
        return self.vector([float(position) for position in self.positions(node)])

    def compute_element(self, node: Symbol) -> str:
        source = origin(node.args[0])
        if source in self.around.side_by_side:
            return self.around.side_by_side[source][node.payload[0]]
        stack = self.around.stacks[source]  # of a loop of more passes, in memory
        places = [position * stack.apart + stack.columns[node.payload[0]] for position in self.positions(node)]
        return self.read_around([partial(self.around.load_block, stack.base, place) for place in places])


def write_blocks(around: KeptInMemory, node: Symbol) -> None:
    """Writes the loop over the blocks into the function of `around`, where what it keeps has its place."""
    block: LoopBlock = node.payload
    stack, last = around.stacks[node], block.count - BLOCK
    with around.counted(-(-block.count // BLOCK)) as counter:
        begun = around.line(f"mul i64 {counter}, {BLOCK}")
        past = around.line(f"icmp ugt i64 {begun}, {last}")
        passes = PassBlock(around, node, around.line(f"select i1 {past}, i64 {last}, i64 {begun}"))
        kept = passes.run()
        for k, value in kept.items():
            place = around.line(f"add i64 {passes.first}, {stack.columns[k]}")
            around.effect(f"store {passes.module.real} {value}, ptr {around.slot(stack.base, place)}, {around.module.apart}")


class PassBlock(PassLanes):
    """Writes eight passes, from `first` on, side by side."""

    def __init__(self, around: KeptInMemory, node: Symbol, first: str):
        super().__init__(around, node, BLOCK)
        self.first = first

    def position(self, node: Symbol) -> int | str:
        """Where the first of the passes reads by index."""
        _, stride, offset = node.payload
        if not stride:
            return int(offset)
        return self.line(f"add i64 {self.line(f'mul i64 {self.first}, {stride}')}, {offset}")

    def neighbours(self, node: Symbol, address: Callable[[int | str], str], apart: int = 1) -> str:
        """What the passes read by index, of numbers in memory that are so many places apart."""
        module, stride = self.module, node.payload[1] * apart
        start = self.position(node)
        if stride == 1:
            return self.line(f"load {module.real}, ptr {address(start)}, {module.apart}")
        if stride == 0:
            single = self.line(f"load {module.element}, ptr {address(start)}, {module.apart}")
            return self.spread(single, module.element, module.lanes)
        places = [self.line(f"add i64 {start}, {k * node.payload[1]}") for k in range(module.lanes)]
        return self.gathered([self.line(f"load {module.element}, ptr {address(place)}, {module.apart}") for place in places])

    def compute_load(self, node: Symbol) -> str:
        return self.neighbours(node, lambda place: self.around.inputs.address(self, node.payload[0], place))

    def compute_lookup(self, node: Symbol) -> str:
        name = self.module.table(node.payload[0])
        return self.neighbours(node, lambda place: self.line(f"getelementptr {self.module.element}, ptr {name}, i64 {place}"))

    def compute_ordinal(self, node: Symbol) -> str:
        element = self.module.element
        start = self.spread(self.line(f"sitofp i64 {self.position(node)} to {element}"), element, self.module.lanes)
        steps = self.vector([float(node.payload[1] * k) for k in range(self.module.lanes)])
        return self.line(f"fadd {self.module.real} {start}, {steps}")

    def compute_element(self, node: Symbol) -> str:
        stack = self.around.stacks[origin(node.args[0])]

        def address(place: int | str) -> str:
            at = self.line(f"add i64 {self.line(f'mul i64 {place}, {stack.apart}')}, {stack.columns[node.payload[0]]}")
            return self.line(f"getelementptr {self.module.element}, ptr {stack.base}, i64 {at}")

        return self.neighbours(node, address, stack.apart)
