"""Programs: the representation of a traced function, a small tree of four kinds of blocks.

* a **line** is straight-line code, the nodes of one scope in order;
* a **loop** repeats a line a fixed number of times (each lane may stop earlier), carrying values and stacking others;
* a **call** runs another program: one copy of its code, many call sites;
* a **table** holds constants that a loop reads by its counter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from .graph import Graph, Symbol


class Array(NamedTuple):
    """The name and shape of one array that a program reads or writes."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of scalars."""
        return math.prod(self.shape)


def divided(arrays: Iterable[Array], scalars: Iterable[Any]) -> dict[str, list[Any]]:
    """The scalars of each array by its name, of all in a row."""
    taken = iter(scalars)
    return {array.name: list(islice(taken, array.size)) for array in arrays}


def shaped(arrays: Iterable[Array], scalars: Iterable[Any]) -> dict[str, Any]:
    """The scalars of each array by its name, of all in a row, in nested lists of its shape."""
    taken = iter(scalars)
    return {array.name: _nested(array.shape, taken) for array in arrays}


def _nested(shape: Sequence[int], scalars: Iterator[Any]) -> Any:
    return next(scalars) if not shape else [_nested(shape[1:], scalars) for _ in range(shape[0])]


@dataclass(frozen=True, eq=False)
class Program:
    """A traced function: `line` computes the scalars `records`, which fill the arrays `outputs` in order.

    `remark` says how it was chosen, where there was a choice.
    """

    name: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    line: tuple[Symbol, ...]
    results: tuple[Symbol, ...]
    remark: str = ""

    @property
    def operations(self) -> Counter[str]:
        """The number of each operation in one evaluation, loops and calls included."""
        return _count(self.line)

    @cached_property
    def callees(self) -> list[Program]:
        """The programs called directly, each once."""
        return list(dict.fromkeys(node.payload for node in walk(self.line) if node.op == "call"))

    def __str__(self) -> str:
        return listing(self)


def family(programs: Iterable[Program]) -> list[Program]:
    """These programs and all that they call, directly or indirectly, each once and before those that call it."""
    found: dict[Program, None] = {}

    def visit(program: Program) -> None:
        if program not in found:
            for callee in program.callees:
                visit(callee)
            found[program] = None

    for program in programs:
        visit(program)
    return list(found)


class Hole(Program):
    """A placeholder for a program chosen later: it is called like any other, and filled when machine code is linked.

    The code compiled around a hole can be used with every program of the same inputs and outputs.
    """

    @classmethod
    def of(cls, name: str, inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> Hole:
        """The hole of this name; programs that fill it have these inputs and outputs."""
        graph = Graph()
        results = tuple(graph.node("hole", (), (name, k)) for k in range(sum(array.size for array in outputs)))
        return cls(name, inputs, outputs, results, results)


@dataclass(frozen=True, eq=False)
class LoopBlock:
    """The body of a loop node: `line`, repeated `count` times. `carried[k]` becomes `following[k]`; `stacked` is kept per pass.

    `condition` (None: always) is evaluated before a pass; a lane where it fails keeps its values from then on. The node's
    arguments are the first carried values, then what the line captures. Unread entries hold None, and have no argument.
    """

    count: int
    line: tuple[Symbol, ...]
    carried: tuple[Symbol | None, ...]
    following: tuple[Symbol | None, ...]
    stacked: tuple[Symbol | None, ...]
    condition: Symbol | None = None

    @property
    def carries(self) -> dict[int, tuple[Symbol, Symbol]]:
        """The entries that are carried, by their number: the carried symbol and the one it becomes."""
        pairs = enumerate(zip(self.carried, self.following, strict=True))
        return {k: (now, then) for k, (now, then) in pairs if now is not None and then is not None}

    @property
    def keeps(self) -> dict[int, Symbol]:
        """The entries that are stacked, by their number."""
        return {k: symbol for k, symbol in enumerate(self.stacked) if symbol is not None}


@dataclass(frozen=True)
class Table(Sequence):
    """Constants that loops read by index."""

    values: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, Index):
            return self.values[index]
        first = self.values[0]
        return first if all(value == first for value in self.values) else index.read("lookup", self)


@dataclass(frozen=True)
class Index:
    """`stride`·(loop counter) + `offset`: the form of an index in a loop."""

    counter: Symbol
    stride: int = 1
    offset: int = 0

    def __add__(self, other: int) -> Index:
        return Index(self.counter, self.stride, self.offset + other)

    def __sub__(self, other: int) -> Index:
        return self + -other

    def __mul__(self, other: int) -> Index:
        return Index(self.counter, self.stride * other, self.offset * other)

    def __rsub__(self, other: int) -> Index:
        return Index(self.counter, -self.stride, other - self.offset)

    __radd__, __rmul__ = __add__, __mul__

    def read(self, op: str, source: Any, args: tuple[Symbol, ...] = ()) -> Symbol:
        """The node that reads `source` here."""
        graph = self.counter.graph
        return graph.node(op, (*(graph.lift(a) for a in args), self.counter), (source, self.stride, self.offset))

    @property
    def value(self) -> Symbol:
        """The index as a scalar."""
        return self.read("ordinal", None)


@dataclass(frozen=True)
class Vector(Sequence):
    """A slice of an input array while it is traced: its scalars become nodes on first use."""

    graph: Graph
    name: str
    start: int
    length: int

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, Index):
            return (index + self.start).read("load", self.name)
        if isinstance(index, slice):
            start, stop, step = index.indices(self.length)
            if step != 1:
                return [self[i] for i in range(start, stop, step)]
            return Vector(self.graph, self.name, self.start + start, max(0, stop - start))
        if not -self.length <= index < self.length:
            raise IndexError(f"index {index} of the input {self.name!r}, which has {self.length} scalars")
        return self.graph.node("input", (), (self.name, self.start + index % self.length))


@dataclass(frozen=True)
class Stack:
    """The values that a loop kept from its passes: `stack[i]` is the value of pass `i`."""

    passes: Sequence[Any] | Callable[[int | Index], Any]
    length: int

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int | Index) -> Any:
        return self.passes(index) if callable(self.passes) else self.passes[index]  # type: ignore[index]


def origin(node: Symbol) -> Symbol:
    """The node that a capture stands for."""
    while node.op == "capture":
        node = node.payload
    return node


def walk(line: Sequence[Symbol]) -> Iterator[Symbol]:
    """The nodes of a line and of the loops in it."""
    for node in line:
        yield node
        if node.op == "loop":
            yield from walk(node.payload.line)


_FREE = frozenset({"const", "input", "capture", "carried", "counter", "result", "loop", "call"})


def _count(line: Sequence[Symbol]) -> Counter[str]:
    total: Counter[str] = Counter()
    for node in line:
        if node.op == "loop":
            inner = _count(node.payload.line)
            total.update({op: number * node.payload.count for op, number in inner.items()})
        elif node.op == "call":
            total.update(node.payload.operations)
        elif node.op not in _FREE:
            total[node.op] += 1
    return total


# --- programs as text -----------------------------------------------------------------------------------------------------
def listing(program: Program) -> str:
    """The program as text, one instruction per line: for people, golden tests and the cache's key."""
    heads = [", ".join(f"{a.name}{list(a.shape)}" for a in arrays) for arrays in (program.inputs, program.outputs)]
    lines = [f"program {program.name}({heads[0]}) -> {heads[1]}"]
    names: dict[Symbol, str] = {}
    _list_line(program.line, names, {}, lines, "  ")
    for output, nodes in divided(program.outputs, program.results).items():
        lines.append(f"  {output} = {' '.join(_name(node, names) for node in nodes)}")
    return "\n".join([*lines, *map(listing, program.callees)])


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
