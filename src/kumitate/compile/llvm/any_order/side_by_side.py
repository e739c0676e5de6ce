"""Short loops whose passes do not depend on each other, such as those over a robot's limbs, are written without a loop.

For one state the passes are computed side by side, each in a lane of vectors: numbers that differ from pass to pass are vectors
of constants, and what the loop takes from outside is spread over the lanes. For a batch, whose lanes are states, the passes are
written one after the other. What a loop keeps stays in registers: it is read by the same pass of other such loops, or
pass by pass by the line around them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ....scalar import LoopBlock, Program, Symbol, origin
from ...remembered import Remembered
from ..sincos import PACKED
from ..straight_line import CONDITIONS, StraightLine
from ..sums import uses_of_pass

if TYPE_CHECKING:
    from ..body import ProgramBody

__all__ = ["MOST", "PassLanes", "independent_loops", "without_order", "write_passes"]

#: Loops of more passes stay loops, and those of more than `WIDEST` passes are never computed in lanes: 256 bits.
MOST, WIDEST = 8, 4
_OTHER_BLOCKS = frozenset({"loop", "call", "result", "hole"})


@Remembered
def independent_loops(program: Program) -> frozenset[int]:
    """The loops that are written without a loop, by their places in the program's line."""
    loops = {node: k for k, node in enumerate(program.line) if node.op == "loop" and _independent(node)}
    while True:
        refused = {source for node in program.line for source in _misread(node, loops) if source in loops}
        if not refused:
            return frozenset(loops.values())
        loops = {node: k for node, k in loops.items() if node not in refused}


def _independent(node: Symbol) -> bool:
    """Whether a loop is short, and its passes have no order."""
    return node.payload.count <= MOST and without_order(node)


def without_order(node: Symbol) -> bool:
    """Whether the passes of a loop may be computed in any order: it carries nothing, runs them all, and has no blocks in it."""
    block = node.payload
    if block.carries or block.condition is not None:
        return False
    return not any(part.op in _OTHER_BLOCKS for part in block.line)


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


def write_passes(around: ProgramBody, node: Symbol) -> None:
    """Writes a loop without a loop into the function of `around`: side by side for one state, else one after the other."""
    block: LoopBlock = node.payload
    for outer in node.args:
        around.value(outer)
    if around.module.lanes == 1 < block.count <= WIDEST:
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

    def __init__(self, around: ProgramBody, node: Symbol, passes: int):
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

    def outside(self, node: Symbol) -> str:
        """The value of a node of the line around, written there."""
        self.around.count = self.count
        name = self.around.value(node)
        self.count = self.around.count
        return name

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
        return self.spread(self.outside(node.payload), kind)

    def spread(self, single: str, kind: str) -> str:
        """One value on all lanes."""
        module = self.module
        vector = module.vector(kind)
        first = self.line(f"insertelement {vector} poison, {kind} {single}, i32 0")
        return self.line(f"shufflevector {vector} {first}, {vector} poison, <{module.lanes} x i32> zeroinitializer")

    def compute_load(self, node: Symbol) -> str:
        return self.gathered(
            [partial(self.around.inputs.read, self.around, node.payload[0], position) for position in self.positions(node)]
        )

    def gathered(self, reads: Sequence[Callable[[], str]]) -> str:
        """Numbers, one for each pass, that the line around reads."""
        module, value = self.module, "poison"
        self.around.count = self.count
        loaded = [read() for read in reads]
        self.count = self.around.count
        for k, single in enumerate(loaded):
            value = self.line(f"insertelement {module.real} {value}, {module.element} {single}, i32 {k}")
        return value

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
        return self.gathered([partial(self.around.load_block, stack.base, place) for place in places])
