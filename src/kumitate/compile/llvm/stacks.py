"""Where loops keep values of every pass, and calls leave many results: in memory, from where stretches of them are copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ...scalar import Program, Symbol, origin
from .plan import in_blocks, left_in_memory, stack_runs, without_order
from .straight_line import StraightLine
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


def loop_stack(node: Symbol, lanes: int, start: int) -> LoopStack:
    """The places of what a loop keeps in the scratch memory, from `start` on."""
    count, keeps = node.payload.count, node.payload.keeps
    if in_blocks(node, lanes):
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
        self.deferred = {node for run in stack_runs(program.results) for node in program.results[run.start : run.stop]}
        self.deferred |= {node for node in program.line if node.op == "result" and left_in_memory(node.args[0])}

    def store_all(self, nodes: Sequence[Symbol], base: str) -> None:
        """Values into an array of blocks; a stretch of the scratch memory is copied at once."""
        runs = {run.start: run for run in stack_runs(nodes)}
        k = 0
        while k < len(nodes):
            if k in runs:
                self.copy_run(nodes, runs[k], base)
                k = runs[k].stop
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
