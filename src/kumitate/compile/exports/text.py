"""The common part of the textual forms: a walk over a program that writes one statement per node in a language.

A language says how an operation, a declaration, a loop, a call reads. Operands are always names, numbers or subscripts, so that
no form has to think of precedence.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import ClassVar

from ...scalar import Array, LoopBlock, Program, Symbol, origin

__all__ = ["EXPRESSIONS", "TextWriter", "described", "family", "named"]

#: Operations written the same in all languages, with operands {0}, {1}.
EXPRESSIONS = {
    "neg": "-{0}",
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0}*{1}",
    "div": "{0}/{1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "eq": "{0} == {1}",
    **{name: f"{name}({{0}})" for name in ("sqrt", "sin", "cos", "exp", "log", "tanh")},
    "atan2": "atan2({0}, {1})",
}
_TEMPORARY = re.compile(r"[a-z]\d+")
_CONDITIONS = frozenset({"lt", "le", "eq", "and", "or", "not"})


def family(program: Program) -> list[Program]:
    """The programs that a program calls, directly or indirectly, each once and before its callers; itself last."""
    found: dict[Program, None] = {}
    for callee in program.callees:
        found.update(dict.fromkeys(family(callee)))
    return [*found, program]


def named(programs: Sequence[Program], reserved: Collection[str]) -> dict[Program, str]:
    """The names of the programs' functions; the last program has the first choice."""
    return dict(zip(reversed(programs), identifiers([program.name for program in reversed(programs)], reserved), strict=True))


def identifiers(names: Iterable[str], reserved: Collection[str]) -> list[str]:
    """Names as identifiers of a language: letters, digits and underscores, not reserved, all different."""
    taken, found = set(reserved), []
    for name in names:
        clean = re.sub(r"[^A-Za-z0-9_]", "_", name)
        if not clean[:1].isalpha():
            clean = f"x{clean}"
        while clean in taken or _TEMPORARY.fullmatch(clean):
            clean += "_"
        taken.add(clean)
        found.append(clean)
    return found


def described(program: Program) -> list[str]:
    """A description of a program in a few lines."""
    operations = program.operations
    kinds = ", ".join(f"{number} {op}" for op, number in operations.most_common())
    lines = [f"{program.name}: {operations.total()} operations{f' ({kinds})' if kinds else ''}", ""]
    for title, arrays in (("in", program.inputs), ("out", program.outputs)):
        for array in arrays:
            shape = " x ".join(str(size) for size in array.shape) or "1"
            lines.append(f"  {title:3}  {array.name}: {shape} {'number' if array.size == 1 else 'numbers'}")
    return [*lines, "", "Quantities of mechanisms are in SI units and radians, angular parts first, matrices row by row."]


class TextWriter(ABC):
    """Writes the body of one program's function.

    Attributes:
        expressions: the text of each operation, with operands {0}, {1}, ...
        functions: the names of all programs' functions.
        tables: the names of all functions' tables of constants, by what is in them.
        parameters: the names of the arrays, inputs first; inputs: those of the inputs, by the program's own names.
        lines: the text so far.
        stacked: how many numbers the body's local arrays hold.
    """

    expressions: ClassVar[Mapping[str, str]]

    def __init__(
        self,
        program: Program,
        functions: Mapping[Program, str],
        reserved: Collection[str],
        tables: dict[tuple[float, ...], str],
    ):
        self.program = program
        self.functions = functions
        self.tables = tables
        names = [array.name for array in (*program.inputs, *program.outputs)]
        self.parameters = identifiers(names, {*reserved, *functions.values()})
        self.inputs = dict(zip((array.name for array in program.inputs), self.parameters, strict=False))
        self.lines: list[str] = []
        self.depth = 1
        self.names: dict[Symbol, str] = {}
        self.results: dict[Symbol, Mapping[int, str]] = {}
        self.stacks: dict[Symbol, str] = {}
        self.used: set[str] = set()
        self.stacked = 0
        self._counts: Counter[str] = Counter()

    # --- defined by a language -----------------------------------------------------------------------------------------
    @abstractmethod
    def number(self, value: float) -> str:
        """A constant as an operand."""

    @abstractmethod
    def declare(self, name: str, expression: str, *, condition: bool = False) -> None:
        """Write a new constant name and its value."""

    @abstractmethod
    def subscript(self, array: Array, position: str) -> str:
        """A scalar of an input, by its position in row-major order."""

    @abstractmethod
    def real(self, position: str) -> str:
        """An integer as a number."""

    @abstractmethod
    def kept(self, stack: str, position: str, column: int, width: int) -> str:
        """What the pass `position` of a loop kept in `column` of its `width` columns."""

    @abstractmethod
    def call(self, program: Program, arguments: list[str]) -> Mapping[int, str]:
        """Write a call; the names of its results."""

    @abstractmethod
    def loop(self, block: LoopBlock, first: list[str], carried: list[str], counter: str, stack: str) -> None:
        """Write a loop; its body by `self.passes`."""

    # --- the walk -----------------------------------------------------------------------------------------------------
    def fresh(self, letter: str) -> str:
        """A name that is not in use."""
        self._counts[letter] += 1
        return f"{letter}{self._counts[letter] - 1}"

    def write(self, text: str) -> None:
        """One line."""
        self.lines.append(f"{'    ' * self.depth}{text}")

    def line(self, nodes: Sequence[Symbol]) -> None:
        """The statements of the nodes of a line."""
        for node in nodes:
            template = self.expressions.get(node.op)
            if template is not None:
                self._name(node, template.format(*(self.names[a] for a in node.args)))
            elif node.op not in ("carried", "counter"):  # these are named by their loop
                getattr(self, f"_{node.op}")(node)

    def _name(self, node: Symbol, expression: str) -> None:
        name = self.names[node] = self.fresh("t")
        self.declare(name, expression, condition=node.op in _CONDITIONS)

    def _const(self, node: Symbol) -> None:
        self.names[node] = self.number(node.payload)

    def _capture(self, node: Symbol) -> None:
        if node.payload in self.names:  # else a loop or a call, which has no name
            self.names[node] = self.names[node.payload]

    def _input(self, node: Symbol) -> None:
        name, k = node.payload
        self.names[node] = self._read(name, str(k))

    def _load(self, node: Symbol) -> None:
        self._name(node, self._read(node.payload[0], self._position(node)))

    def _read(self, name: str, position: str) -> str:
        self.used.add(name)
        return self.subscript(next(array for array in self.program.inputs if array.name == name), position)

    def _lookup(self, node: Symbol) -> None:
        values = node.payload[0].values
        table = self.tables.setdefault(values, f"k{len(self.tables)}")
        self._name(node, f"{table}[{self._position(node)}]")

    def _ordinal(self, node: Symbol) -> None:
        self._name(node, self.real(self._position(node)))

    def _position(self, node: Symbol) -> str:
        """stride·counter + offset, where a node reads by index."""
        _, stride, offset = node.payload
        if stride == 0:
            return str(offset)
        counter = self.names[node.args[-1]]
        scaled = {1: counter, -1: f"-{counter}"}.get(stride, f"{stride}*{counter}")
        return scaled if offset == 0 else f"{scaled} {'+' if offset > 0 else '-'} {abs(offset)}"

    def _element(self, node: Symbol) -> None:
        source = origin(node.args[0])
        keeps = list(source.payload.keeps)
        self._name(node, self.kept(self.stacks[source], self._position(node), keeps.index(node.payload[0]), len(keeps)))

    def _result(self, node: Symbol) -> None:
        self.names[node] = self.results[origin(node.args[0])][node.payload]

    def _call(self, node: Symbol) -> None:
        self.results[node] = self.call(node.payload, [self.names[a] for a in node.args])

    def _loop(self, node: Symbol) -> None:
        block: LoopBlock = node.payload
        carries = block.carries
        carried = [self.fresh("c") for _ in carries]
        counter, stack = self.fresh("i"), self.fresh("s")
        first = [self.names[a] for a in node.args[: len(carries)]]
        for (now, _), name in zip(carries.values(), carried, strict=True):
            self.names[now] = name
        for part in block.line:
            if part.op == "counter":
                self.names[part] = counter
        self.results[node], self.stacks[node] = dict(zip(carries, carried, strict=True)), stack
        self.stacked += block.count * len(block.keeps)
        self.loop(block, first, carried, counter, stack)

    def passes(self, block: LoopBlock) -> tuple[list[str], list[str], str | None]:
        """The statements of a pass; the names of the carried values, of the kept ones, and of the condition."""
        self.line(block.line)
        following = [self.names[then] for _, then in block.carries.values()]
        kept = [self.names[symbol] for symbol in block.keeps.values()]
        return following, kept, None if block.condition is None else self.names[block.condition]
