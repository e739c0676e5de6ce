"""The passes over a traced program, in order: each takes a program and returns an equivalent one.

Dead code elimination goes through loops, down to single carried and stacked values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .blocks import LoopBlock, Program, origin
from .graph import Symbol
from .verify import verify, verifying


def live(nodes: Sequence[Symbol], results: Sequence[Symbol]) -> tuple[Symbol, ...]:
    """The `nodes` that `records` depend on, in their order."""
    needed: set[Symbol] = set(results)
    for node in reversed(nodes):
        if node in needed:
            needed.update(node.args)
    return tuple(node for node in nodes if node in needed)


def trim(program: Program) -> Program:
    """The program without code that its results do not need, with loops reduced to the values that are read.

    A loop is built before it is known which of its values are read, so its node is completed here, once.
    """
    needed: set[Symbol] = set()
    columns: set[tuple[Symbol, int]] = set()  # (loop, k): the stacked values that are read
    waiting = list(program.results)
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting.extend(_needs(node, columns))
    return replace(program, line=_cut(program.line, needed, columns))


def _needs(node: Symbol, columns: set[tuple[Symbol, int]]) -> list[Symbol]:
    """The direct dependencies of a node; for a loop, only of the values that are read."""
    if node.op == "capture":
        return [node.payload]
    if node.op == "loop":
        return [] if node.payload.condition is None else [node.payload.condition]
    if node.op == "carried":
        loop_node, k = node.payload
        return [loop_node, loop_node.args[k], loop_node.payload.following[k]]
    if node.op == "element":
        loop_node, column = origin(node.args[0]), node.payload[0]
        columns.add((loop_node, column))
        return [*node.args, loop_node.payload.stacked[column]]
    if node.op == "result" and node.args[0].op == "loop":
        return [node.args[0], node.args[0].payload.carried[node.payload]]
    return list(node.args)


def _cut(nodes: Sequence[Symbol], needed: set[Symbol], columns: set[tuple[Symbol, int]]) -> tuple[Symbol, ...]:
    line = tuple(node for node in nodes if node in needed)
    for node in line:
        if node.op != "loop":
            continue
        block: LoopBlock = node.payload
        inner = _cut(block.line, needed, columns)
        carries = [symbol in needed for symbol in block.carried]
        first = (argument for argument, kept in zip(node.args, carries, strict=False) if kept)
        node.args = (*first, *(part.payload for part in inner if part.op == "capture"))
        node.payload = replace(
            block,
            line=inner,
            carried=tuple(s if kept else None for s, kept in zip(block.carried, carries, strict=True)),
            following=tuple(s if kept else None for s, kept in zip(block.following, carries, strict=True)),
            stacked=tuple(s if (node, k) in columns else None for k, s in enumerate(block.stacked)),
        )
    return line


class Pass(NamedTuple):
    """A pass from a Python function to machine code: its name, a sentence on what it does, and its function."""

    name: str
    does: str
    run: Callable[..., Any]


#: The passes applied to every traced program. Another optimization is another row here: Program → Program.
PROGRAM_PASSES: tuple[Pass, ...] = (
    Pass("trim", "removes what no result needs, through loops, down to single carried and stacked values", trim),
)


def run_program_passes(program: Program) -> Program:
    """The program after all passes, checked before the first and after each where `verifying` says so."""
    checked = verifying()
    if checked:
        verify(program, "trace")
    for step in PROGRAM_PASSES:
        program = step.run(program)
        if checked:
            verify(program, step.name)
    return program
