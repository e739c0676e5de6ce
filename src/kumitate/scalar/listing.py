"""Programs as text, one instruction per line: for people, golden tests and reviews."""

from __future__ import annotations

from collections.abc import Sequence

from .blocks import LoopBlock, Program
from .graph import Symbol

__all__ = ["listing"]


def listing(program: Program) -> str:
    """The program as text, one instruction per line: for people, golden tests and the cache's key."""
    heads = [", ".join(f"{a.name}{list(a.shape)}" for a in arrays) for arrays in (program.inputs, program.outputs)]
    lines = [f"program {program.name}({heads[0]}) -> {heads[1]}"]
    names: dict[Symbol, str] = {}
    _list_line(program.line, names, {}, lines, "  ")
    position = 0
    for array in program.outputs:
        values = " ".join(_name(node, names) for node in program.results[position : position + array.size])
        lines.append(f"  {array.name} = {values}")
        position += array.size
    for callee in program.callees:
        lines.append(listing(callee))
    return "\n".join(lines)


def _name(node: Symbol, names: dict[Symbol, str]) -> str:
    return repr(node) if node.op in ("const", "input") else names[node]


def _list_line(line: Sequence[Symbol], names: dict[Symbol, str], tables: dict[int, str], lines: list[str], indent: str) -> None:
    for node in line:
        if node.op in ("const", "input"):
            continue
        if node.op == "capture":
            names[node] = _name(node.payload, names)
            continue
        label = names[node] = f"%{len(names)}"
        arguments = " ".join(_name(a, names) for a in node.args)
        if node.op == "loop":
            block: LoopBlock = node.payload
            lines.append(f"{indent}{label} = loop {block.count} {arguments}")
            _list_line(block.line, names, tables, lines, indent + "  ")
            for key, nodes in (("carry", block.following), ("stack", block.stacked)):
                kept = [_name(node, names) for node in nodes if node is not None]
                if kept:
                    lines.append(f"{indent}  {key} {' '.join(kept)}")
            if block.condition is not None:
                lines.append(f"{indent}  while {_name(block.condition, names)}")
        elif node.op == "call":
            lines.append(f"{indent}{label} = call {node.payload.name} {arguments}")
        elif node.op == "lookup":
            source, stride, offset = node.payload
            first = tables.setdefault(id(source), label)  # a table is written once: planned motions have thousands of values
            values = list(source.values) if first == label else f"of {first}"
            lines.append(f"{indent}{label} = lookup {arguments} {stride} {offset} {values}")
        else:
            plain = node.payload is not None and node.op != "carried"
            payload = f" {node.payload}" if plain else ""
            lines.append(f"{indent}{label} = {node.op} {arguments}{payload}".rstrip())
