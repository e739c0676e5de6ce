"""The depth of a program: its time on as many processors as it can use."""

from __future__ import annotations

from typing import Any

from kumitate.scalar import Program

__all__ = ["program_depth"]


def program_depth(program: Program) -> int:
    """The longest row of operations of which each needs the one before; calls count as what they call.

    >>> from kumitate.scalar import trace
    >>> program_depth(trace(lambda x: [(x[0] + x[1]) * (x[2] + x[3])], {"x": 4}, "pairs"))
    2
    """
    level: dict[Any, int] = {}
    for node in program.line:
        own = program_depth(node.payload) if node.op == "call" else int(bool(node.args) and node.op != "result")
        level[node] = own + max((level[argument] for argument in node.args), default=0)
    return max(level.values(), default=0)
