"""Loops of many passes in any order, such as those over the columns of a matrix, eight passes at a time.

For one state a pass is a lane of a vector, and the loop goes from block to block of eight passes; the last block slides back
over passes that are done already. What such a loop keeps stands value by value in memory, one pass behind the other. For a
batch, whose lanes are states, these loops stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....scalar import LoopBlock, Symbol, origin
from .side_by_side import PassLanes, without_order

if TYPE_CHECKING:
    from ..body import ProgramBody

__all__ = ["in_blocks", "read_inside", "write_blocks"]

#: Passes in a block: the doubles of 512 bits.
_BLOCK = 8
#: A loop in any order that reads more inputs than this reads them in each pass: registers are few.
_HELD = 16


def read_inside(node: Symbol) -> set[Symbol]:
    """The inputs that a loop reads in each pass, and not before it."""
    inputs = {outer for outer in node.args if outer.op == "input"}
    return inputs if len(inputs) > _HELD and without_order(node) else set()


def in_blocks(node: Symbol, lanes: int) -> bool:
    """Whether a loop is computed eight passes at a time where there are so many states at a time."""
    return lanes == 1 and node.payload.count >= _BLOCK and without_order(node)


def write_blocks(around: ProgramBody, node: Symbol) -> None:
    """Writes the loop over the blocks into the function of `around`, where what it keeps has its place."""
    block: LoopBlock = node.payload
    stack, last = around.stacks[node], block.count - _BLOCK
    with around.counted(-(-block.count // _BLOCK)) as counter:
        begun = around.line(f"mul i64 {counter}, {_BLOCK}")
        past = around.line(f"icmp ugt i64 {begun}, {last}")
        passes = PassBlock(around, node, around.line(f"select i1 {past}, i64 {last}, i64 {begun}"))
        kept = passes.run()
        for k, value in kept.items():
            place = around.line(f"add i64 {passes.first}, {stack.columns[k]}")
            around.effect(f"store {passes.module.real} {value}, ptr {around.slot(stack.base, place)}, {around.module.apart}")


class PassBlock(PassLanes):
    """Writes eight passes, from `first` on, side by side."""

    def __init__(self, around: ProgramBody, node: Symbol, first: str):
        super().__init__(around, node, _BLOCK)
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
            return self.spread(self.line(f"load {module.element}, ptr {address(start)}, {module.apart}"), module.element)
        value = "poison"
        for k in range(module.lanes):
            place = self.line(f"add i64 {start}, {k * node.payload[1]}")
            single = self.line(f"load {module.element}, ptr {address(place)}, {module.apart}")
            value = self.line(f"insertelement {module.real} {value}, {module.element} {single}, i32 {k}")
        return value

    def compute_load(self, node: Symbol) -> str:
        return self.neighbours(node, lambda place: self.around.inputs.address(self, node.payload[0], place))

    def compute_lookup(self, node: Symbol) -> str:
        name = self.module.table(node.payload[0])
        return self.neighbours(node, lambda place: self.line(f"getelementptr {self.module.element}, ptr {name}, i64 {place}"))

    def compute_ordinal(self, node: Symbol) -> str:
        element = self.module.element
        start = self.spread(self.line(f"sitofp i64 {self.position(node)} to {element}"), element)
        steps = self.vector([float(node.payload[1] * k) for k in range(self.module.lanes)])
        return self.line(f"fadd {self.module.real} {start}, {steps}")

    def compute_element(self, node: Symbol) -> str:
        stack = self.around.stacks[origin(node.args[0])]

        def address(place: int | str) -> str:
            at = self.line(f"add i64 {self.line(f'mul i64 {place}, {stack.apart}')}, {stack.columns[node.payload[0]]}")
            return self.line(f"getelementptr {self.module.element}, ptr {stack.base}, i64 {at}")

        return self.neighbours(node, address, stack.apart)
