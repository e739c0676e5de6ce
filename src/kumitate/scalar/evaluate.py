"""A reference interpreter: runs a program on floats, node by node; every faster form is tested against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .blocks import LoopBlock, Program
from .graph import Symbol, TraceError
from .rules import FLOAT

__all__ = ["evaluate"]


def evaluate(program: Program, scalars: Sequence[float]) -> list[float]:
    """The results of `program` for its inputs' scalars, all inputs in one sequence."""
    inputs: dict[str, Sequence[float]] = {}
    start = 0
    for array in program.inputs:
        inputs[array.name] = scalars[start : start + array.size]
        start += array.size
    values: dict[Symbol, Any] = {}
    _run(program.line, values, inputs)
    return [values[node] for node in program.results]


def _run(line: Sequence[Symbol], values: dict[Symbol, Any], inputs: dict[str, Sequence[float]]) -> None:
    for node in line:
        operation = FLOAT.get(node.op)
        if operation is not None:
            values[node] = operation(*(values[a] for a in node.args))
        elif node.op in _BLOCKS:
            values[node] = _BLOCKS[node.op](node, values, inputs)
        # carried values and counters are set by the loop they belong to


def _position(node: Symbol, values: dict[Symbol, Any]) -> int:
    """The index that a node reads at: stride·counter + offset."""
    _, stride, offset = node.payload
    return stride * values[node.args[-1]] + offset if stride else offset


def _loop(node: Symbol, values: dict[Symbol, Any], inputs: dict[str, Sequence[float]]) -> tuple[dict[int, Any], list[Any]]:
    block: LoopBlock = node.payload
    carries, keeps = block.carries, block.keeps
    carried = {k: values[a] for k, a in zip(carries, node.args[: len(carries)], strict=True)}
    stack: list[dict[int, Any]] = []
    for i in range(block.count):
        inner = dict(values)
        inner.update({carries[k][0]: value for k, value in carried.items()})
        inner.update({part: i for part in block.line if part.op == "counter"})
        _run(block.line, inner, inputs)
        if block.condition is not None and not inner[block.condition]:
            break
        carried = {k: inner[then] for k, (_, then) in carries.items()}
        stack.append({k: inner[symbol] for k, symbol in keeps.items()})
    return carried, stack


def _hole(node: Symbol, values: dict[Symbol, Any], inputs: dict[str, Sequence[float]]) -> float:
    raise TraceError(f"the program calls the hole {node.payload[0]!r}, which only machine code can fill")


_BLOCKS: dict[str, Any] = {
    "const": lambda node, values, inputs: node.payload,
    "input": lambda node, values, inputs: inputs[node.payload[0]][node.payload[1]],
    "load": lambda node, values, inputs: inputs[node.payload[0]][_position(node, values)],
    "lookup": lambda node, values, inputs: node.payload[0].values[_position(node, values)],
    "ordinal": lambda node, values, inputs: float(_position(node, values)),
    "capture": lambda node, values, inputs: values[node.payload],
    "element": lambda node, values, inputs: values[node.args[0]][1][_position(node, values)][node.payload[0]],
    "result": lambda node, values, inputs: values[node.args[0]][0][node.payload],
    "loop": _loop,
    "call": lambda node, values, inputs: (evaluate(node.payload, [values[a] for a in node.args]), []),
    "hole": _hole,
}
