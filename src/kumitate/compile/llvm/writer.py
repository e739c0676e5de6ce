"""LLVM text: the module that functions are written into, and the instructions of one function, one after the other."""

from __future__ import annotations

import contextlib
import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property

import numpy as np

from ...scalar import Program, Table
from ...scalar.operations import LIBRARY, TRACED, OperationRow
from ..target import DOUBLE, Precision


def exact(value: float) -> str:
    """A number in LLVM's exact notation, which is that of a float64 for every format."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


# --- the module -----------------------------------------------------------------------------------------------------------
_CALL = re.compile(r"call (?:[a-z]+ )*(void|ptr|[if]\d+|float|double|<\d+ x \w+>) @([\w.]+)\((.*)\)")
_ARGUMENT = re.compile(r"(<\d+ x \w+>|\w+)(?: align \d+)? (?:<[^>]*>|splat \([^)]*\)|[^,]+)(?:, |$)")
_DEFINED = re.compile(r"^define [^@]*@([\w.]+)\(", re.MULTILINE)


def declarations(text: str) -> list[str]:
    """The declarations of the functions that a text calls and does not define, as it calls them."""
    called: dict[str, str] = {}
    for returned, name, arguments in _CALL.findall(text):
        if name not in called:
            pure = " #1" if name in LIBRARY else ""
            called[name] = f"declare {returned} @{name}({', '.join(_ARGUMENT.findall(arguments))}){pure}"
    inside = set(_DEFINED.findall(text))
    return [called[name] for name in sorted(called.keys() - inside)]


class Module:
    """The functions written so far, each program once.

    Attributes:
        shared: programs whose functions are in modules of their own, with the names of these.
        threads: whether every state has a thread of a GPU: numbers of one state are then not packed into vectors, single
            precision stays single, and memory is a thread's own.
        functions, tables, names: the texts so far; the constants by what is in them; the functions of called programs by lanes.
        further: more lines for the end of the text.
    """

    def __init__(
        self,
        lanes: int,
        precision: Precision = DOUBLE,
        *,
        portable: bool = False,
        shared: Mapping[Program, str] | None = None,
        threads: bool = False,
    ):
        """A module without functions."""
        self.portable, self.shared, self.precision, self.element = portable, shared or {}, precision, precision.name
        self.threads = threads
        self.functions: list[str] = []
        self.tables: dict[str, str] = {}
        self._of_table: dict[Table, str] = {}
        self.names: dict[tuple[Program, int], str] = {}
        self.further: list[str] = []
        self._widen(lanes)

    def _widen(self, lanes: int) -> None:
        self.lanes, self.real, self.condition = lanes, self.vector(self.element, lanes), self.vector("i1", lanes)
        self.suffix = self.precision.suffix if lanes == 1 else f"v{lanes}{self.precision.suffix}"

    def vector(self, element: str, lanes: int | None = None) -> str:
        """The type of one element per lane, of which there are as many as of states by default."""
        count = lanes or self.lanes
        return element if count == 1 else f"<{count} x {element}>"

    def wide(self, lanes: int) -> Module:
        """The same module for other vectors: what is written for it is written here."""
        other = copy(self)
        other.__dict__.pop("patterns", None)
        other._widen(lanes)
        return other

    @property
    def packs(self) -> bool:
        """Whether numbers of one state share vectors: there are instructions on vectors, and one state at a time."""
        return self.lanes == 1 and not self.threads

    @cached_property
    def align(self) -> int:
        """Bytes of a block of lanes."""
        return self.precision.bytes * self.lanes

    @property
    def apart(self) -> str:
        """The alignment of single elements."""
        return f"align {self.precision.bytes}"

    @cached_property
    def patterns(self) -> dict[str, str]:
        """The instructions of traced operations with the types of this module; functions of the library are left out."""
        return {name: self.typed(row) for name, row in TRACED.items() if name not in LIBRARY}

    def typed(self, row: OperationRow, contract: str = "") -> str:
        """The instructions of an operation with the types of this module; its operands stand in braces still."""
        true = "true" if self.lanes == 1 else "splat (i1 true)"
        text, nsz = row.llvm, "" if self.portable else " nsz"
        kinds = {"f": self.real, "b": self.condition, "s": self.suffix, "true": true, "nsz": nsz, "contract": contract}
        for place, kind in kinds.items():
            text = text.replace(f"{{{place}}}", kind)
        return text

    def text(self) -> str:
        """The whole module."""
        constants = [f"{name} = internal constant {table}, align 64" for table, name in self.tables.items()]
        body = "\n".join([*constants, *self.functions])
        attributes = [
            f'attributes #0 = {{ nounwind "prefer-vector-width"="{max(256, 8 * self.align)}" }}',
            "attributes #1 = { nounwind willreturn memory(none) }",
        ]
        return "\n".join([*declarations(body), body, *attributes, *self.further, ""])

    def number(self, value: float) -> str:
        """A number of this precision; one that is too small for it becomes the least, not zero, as it may be divided by."""
        with np.errstate(over="ignore"):  # what is too large becomes infinite
            found = float(self.precision.dtype.type(value))
        return exact(found if found or not value else math.copysign(float(np.finfo(self.precision.dtype).tiny), value))

    def constant(self, value: float) -> str:
        """A number on all lanes."""
        return self.number(value) if self.lanes == 1 else f"splat ({self.element} {self.number(value)})"

    def array(self, text: str) -> str:
        """The name of an array of constants."""
        return self.tables.setdefault(text, f"@table{len(self.tables)}")

    def table(self, table: Table) -> str:
        """The name of a table of a program."""
        if table not in self._of_table:
            values = ", ".join(f"{self.element} {self.number(x)}" for x in table.values)
            self._of_table[table] = self.array(f"[{len(table.values)} x {self.element}] [{values}]")
        return self._of_table[table]

    def callee(self, program: Program, write: Callable[[Program, str], str]) -> str:
        """The name of the function of a called program; `write` gives its text the first time."""
        key = program, self.lanes
        if key not in self.names:
            name = self.names[key] = f"@program{len(self.names)}"
            self.functions.append(write(program, name))
        return self.names[key]


# --- a function -----------------------------------------------------------------------------------------------------------
class Writer:
    """Writes the instructions of one function; `block` is the label that they stand under now."""

    def __init__(self, module: Module):
        self.module = module
        self.lines: list[str] = []
        self.block = "entry"
        self.count = 0

    def line(self, text: str) -> str:
        """An instruction with a result; the name of that."""
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = {text}")
        return name

    def operate(self, pattern: str, operands: Sequence[str]) -> str:
        """The instructions of an operation; the name of its value."""
        *steps, last = pattern.split("; ")
        named: dict[str, str] = {}
        for step in steps:
            name, _, text = step.partition(" = ")
            named[name] = self.line(text.format(*operands, **named))
        return self.line(last.format(*operands, **named))

    def effect(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {text}")

    def label(self, letter: str = "b") -> str:
        """A label that is not in use."""
        self.count += 1
        return f"{letter}{self.count - 1}"

    def start(self, label: str) -> None:
        """Begins a basic block."""
        self.lines.append(f"{label}:")
        self.block = label

    def go(self, label: str) -> None:
        """Goes to a basic block, which begins here."""
        self.effect(f"br label %{label}")
        self.start(label)

    def framed(self, head: str, begin: Sequence[str] = ()) -> str:
        """The text of the function; `head`: its first line, up to the brace; `begin`: instructions before all others."""
        return "\n".join([f"{head} {{", "entry:", *begin, *self.lines, "}"])

    @contextlib.contextmanager
    def repeated(self, name: str, first: str, last: str) -> Iterator[str]:
        """Repeats what is written inside, with the name of the counter; no pass is made if `last` is not above `first`."""
        before = self.block
        self.go(name)
        self.effect(f"%{name}.k = phi i64 [ {first}, %{before} ], [ %{name}.next, %{name}.latch ]")
        more = self.line(f"icmp slt i64 %{name}.k, {last}")
        self.effect(f"br i1 {more}, label %{name}.pass, label %{name}.end")
        self.start(f"{name}.pass")
        yield f"%{name}.k"
        self.go(f"{name}.latch")
        self.effect(f"%{name}.next = add i64 %{name}.k, 1")
        self.effect(f"br label %{name}")
        self.start(f"{name}.end")

    @contextlib.contextmanager
    def counted(self, count: int) -> Iterator[str]:
        """Repeats what is written inside, at least once, with the name of the counter."""
        label, before = f"count{self.count}", self.block
        self.go(label)
        self.effect(f"%{label}.k = phi i64 [ 0, %{before} ], [ %{label}.next, %{label} ]")
        yield f"%{label}.k"
        self.effect(f"%{label}.next = add i64 %{label}.k, 1")
        more = self.line(f"icmp ult i64 %{label}.next, {count}")
        self.effect(f"br i1 {more}, label %{label}, label %{label}.end")
        self.start(f"{label}.end")

    # --- lanes --------------------------------------------------------------------------------------------------------
    def spread(self, single: str, kind: str, lanes: int) -> str:
        """One value on so many lanes."""
        if lanes == 1:
            return single
        vector = f"<{lanes} x {kind}>"
        first = self.line(f"insertelement {vector} poison, {kind} {single}, i32 0")
        return self.line(f"shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer")

    def gathered(self, singles: Sequence[str], vector: str | None = None) -> str:
        """Numbers, one for each lane, as a value of all lanes."""
        if len(singles) == 1:
            return singles[0]
        value = "poison"
        for lane, single in enumerate(singles):
            value = self.line(f"insertelement {vector or self.module.real} {value}, {self.module.element} {single}, i32 {lane}")
        return value

    # --- blocks of lanes: a value of every lane, one behind the other -------------------------------------------------
    def slot(self, base: str, index: int | str) -> str:
        """The address of a block of lanes in an array of them."""
        return self.line(f"getelementptr {self.module.real}, ptr {base}, i64 {index}")

    def load_block(self, base: str, index: int | str) -> str:
        """The block of lanes at an index."""
        address = self.slot(base, index)
        return self.line(f"load {self.module.real}, ptr {address}, align {self.module.align}")

    def store_block(self, value: str, base: str, index: int | str) -> None:
        """Puts a value of all lanes at an index."""
        address = self.slot(base, index)
        self.effect(f"store {self.module.real} {value}, ptr {address}, align {self.module.align}")

    def copy(self, source: str, target: str, count: int) -> None:
        """So many blocks of lanes from one address to another."""
        target, source = (f"ptr {self.module.apart} {place}" for place in (target, source))
        self.effect(f"call void @llvm.memcpy.p0.p0.i64({target}, {source}, i64 {self.module.align * count}, i1 false)")
