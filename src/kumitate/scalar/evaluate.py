"""Runs a program node by node on scalars of any sort: on floats, the reference that every faster form is tested against."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .blocks import Index, LoopBlock, Program, divided, origin
from .graph import Symbol, TraceError
from .operations import FLOAT


def evaluate(program: Program, scalars: Iterable[Any], operations: Mapping[str, Callable[..., Any]] = FLOAT) -> list[Any]:
    """The results of `program` for its inputs' scalars, all inputs in one sequence.

    `operations`: what they mean; for the bits of portable code, `elementary.PORTABLE`.
    """
    call = partial(evaluate, operations=operations)
    return Interpreter(divided(program.inputs, scalars), operations, call=call, stops=True).results(program)


#: What operations mean on columns, a number for each state.
_COLUMNS: dict[str, Callable[..., Any]] = {
    **FLOAT, **{name: getattr(np, name) for name in ("sqrt", "sin", "cos", "exp", "log", "tanh")}, "atan2": np.arctan2,
    "min": np.minimum, "max": np.maximum, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "select": np.where,
}  # fmt: skip


def evaluate_rows(program: Program, rows: np.ndarray) -> np.ndarray:
    """The results (n, all) of a program for rows (n, all) of its inputs' scalars, by NumPy; no loop ends by a condition."""
    found = np.empty((len(rows), len(program.results)))
    for some in (slice(k, k + 1024) for k in range(0, len(rows), 1024)):  # columns that stay near the processor
        for column, value in zip(found.T, evaluate(program, np.ascontiguousarray(rows[some].T), _COLUMNS), strict=True):
            column[some] = value
    return found


class Interpreter:
    """A program under way on scalars of some library, or of another sort.

    Attributes:
        inputs: the scalars of each input, in row-major order.
        operations: what each operation does.
        constant: makes such a scalar of a number.
        call: gives the results of a called program for its arguments.
        stops: whether a condition is known when it is computed, so that loops may end by it; else all passes are made.
        values: of the nodes so far; of a loop and a call what they give by number, and what a loop keeps of each pass.
    """

    def __init__(
        self,
        inputs: Mapping[str, Any],
        operations: Mapping[str, Callable[..., Any]],
        constant: Callable[[Any], Any] = lambda number: number,
        call: Callable[[Program, list[Any]], Sequence[Any]] | None = None,
        *,
        stops: bool = False,
    ):
        self.inputs, self.operations, self.constant, self.call, self.stops = inputs, operations, constant, call, stops
        self.values: dict[Symbol, Any] = {}

    def results(self, program: Program) -> list[Any]:
        self.line(program.line)
        return [self.values[node] for node in program.results]

    def line(self, nodes: Sequence[Symbol]) -> None:
        values, operations = self.values, self.operations
        for node in nodes:
            operation = operations.get(node.op)
            if operation is not None:
                values[node] = operation(*[values[a] for a in node.args])
            elif node.op not in ("carried", "counter"):  # these are set by their loop
                values[node] = getattr(self, f"_{node.op}")(node)

    def read(self, name: str, position: Any) -> Any:
        """A scalar of an input."""
        return self.inputs[name][position]

    def position(self, node: Symbol) -> Any:
        """The index that a node reads at: stride·counter + offset."""
        _, stride, offset = node.payload
        return self.values[node.args[-1]] * stride + offset if stride else offset

    def _const(self, node: Symbol) -> Any:
        return self.constant(node.payload)

    def _capture(self, node: Symbol) -> Any:
        return self.values[node.payload]

    def _input(self, node: Symbol) -> Any:
        return self.read(*node.payload)

    def _load(self, node: Symbol) -> Any:
        return self.read(node.payload[0], self.position(node))

    def _lookup(self, node: Symbol) -> Any:
        return self.constant(node.payload[0][self.position(node)])

    def _ordinal(self, node: Symbol) -> Any:
        position = self.position(node)
        return self.constant(position.value if isinstance(position, Index) else float(position))

    def _hole(self, node: Symbol) -> Any:
        raise TraceError(f"the program calls the hole {node.payload[0]!r}, which only machine code can fill")

    def _call(self, node: Symbol) -> Any:
        assert self.call is not None
        return dict(enumerate(self.call(node.payload, [self.values[a] for a in node.args]))), []

    def _result(self, node: Symbol) -> Any:
        return self.values[origin(node.args[0])][0][node.payload]

    def _element(self, node: Symbol) -> Any:
        return self.values[origin(node.args[0])][1][self.position(node)][node.payload[0]]

    def _loop(self, node: Symbol) -> tuple[dict[int, Any], Sequence[dict[int, Any]]]:
        block: LoopBlock = node.payload
        carries, counters = block.carries, [part for part in block.line if part.op == "counter"]
        carried = dict(zip(carries, (self.values[a] for a in node.args[: len(carries)]), strict=True))
        stack: list[dict[int, Any]] = []
        going = None
        for i in range(block.count):
            self.values.update({carries[k][0]: value for k, value in carried.items()})
            self.values.update(dict.fromkeys(counters, i))
            self.line(block.line)
            holds = True if block.condition is None else self.values[block.condition]
            if self.stops and not holds:
                break
            following = {k: self.values[then] for k, (_, then) in carries.items()}
            stack.append({k: self.values[symbol] for k, symbol in block.keeps.items()})
            if not self.stops and block.condition is not None:  # once it fails, it stays false
                going = holds if going is None else self.operations["and"](going, holds)
                following = {k: self.operations["select"](going, value, carried[k]) for k, value in following.items()}
            carried = following
        return carried, stack
