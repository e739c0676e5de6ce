"""Runs a program on another library's scalars, with its loops unrolled: the common part of the symbolic forms."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...scalar import LoopBlock, Program, Symbol, origin

__all__ = ["ARITHMETIC", "run_unrolled"]

#: The operations that all libraries write the same.
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
}


def run_unrolled(
    program: Program,
    inputs: Mapping[str, Sequence[Any]],
    operations: Mapping[str, Callable[..., Any]],
    constant: Callable[[float], Any],
    call: Callable[[Program, list[Any]], Sequence[Any]],
) -> list[Any]:
    """The results of `program`, all inputs' scalars given in row-major order.

    Args:
        program: to run.
        inputs: the scalars of each input.
        operations: what each operation does.
        constant: makes a number of the other library.
        call: gives the results of a called program for its arguments.
    """
    return _Run(inputs, operations, constant, call).results(program)


class _Run:
    def __init__(self, inputs: Any, operations: Any, constant: Any, call: Any):
        self.inputs, self.operations, self.constant, self.call = inputs, operations, constant, call
        self.values: dict[Symbol, Any] = {}

    def results(self, program: Program) -> list[Any]:
        self.line(program.line)
        return [self.values[node] for node in program.results]

    def line(self, nodes: Sequence[Symbol]) -> None:
        for node in nodes:
            operation = self.operations.get(node.op)
            if operation is not None:
                self.values[node] = operation(*(self.values[a] for a in node.args))
            elif node.op not in ("carried", "counter"):  # these are set by their loop
                self.values[node] = getattr(self, f"_{node.op}")(node)

    def _position(self, node: Symbol) -> int:
        _, stride, offset = node.payload
        return stride * self.values[node.args[-1]] + offset if stride else offset

    def _const(self, node: Symbol) -> Any:
        return self.constant(node.payload)

    def _capture(self, node: Symbol) -> Any:
        return self.values[node.payload]

    def _input(self, node: Symbol) -> Any:
        return self.inputs[node.payload[0]][node.payload[1]]

    def _load(self, node: Symbol) -> Any:
        return self.inputs[node.payload[0]][self._position(node)]

    def _lookup(self, node: Symbol) -> Any:
        return self.constant(node.payload[0].values[self._position(node)])

    def _ordinal(self, node: Symbol) -> Any:
        return self.constant(float(self._position(node)))

    def _call(self, node: Symbol) -> Any:
        return dict(enumerate(self.call(node.payload, [self.values[a] for a in node.args]))), []

    def _result(self, node: Symbol) -> Any:
        return self.values[origin(node.args[0])][0][node.payload]

    def _element(self, node: Symbol) -> Any:
        return self.values[origin(node.args[0])][1][self._position(node)][node.payload[0]]

    def _loop(self, node: Symbol) -> Any:
        block: LoopBlock = node.payload
        carries, counters = block.carries, [part for part in block.line if part.op == "counter"]
        carried = dict(zip(carries, (self.values[a] for a in node.args[: len(carries)]), strict=True))
        stack, going = [], None
        for i in range(block.count):
            self.values.update({carries[k][0]: value for k, value in carried.items()})
            self.values.update(dict.fromkeys(counters, i))
            self.line(block.line)
            following = {k: self.values[then] for k, (_, then) in carries.items()}
            stack.append({k: self.values[symbol] for k, symbol in block.keeps.items()})
            if block.condition is not None:  # once it fails, it stays false
                holds = self.values[block.condition]
                going = holds if going is None else self.operations["and"](going, holds)
                following = {k: self.operations["select"](going, value, carried[k]) for k, value in following.items()}
            carried = following
        return carried, stack
