"""The module that functions are written into: types, constants, tables, declarations, and each called program once."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from copy import copy

from ...scalar import Program, Table
from ..precision import Precision

__all__ = ["Module"]


class Module:
    """The functions written so far, each program once."""

    def __init__(
        self, lanes: int, precision: Precision, *, portable: bool = False, shared: Mapping[Program, str] | None = None
    ):
        """A module without functions.

        Args:
            shared: programs whose functions are in modules of their own, with the names of these.
        """
        self.portable = portable
        self.shared = shared or {}
        self.lanes = lanes
        self.precision = precision
        self.element = precision.name
        self.real = self.vector(self.element)
        self.condition = self.vector("i1")
        self.suffix = precision.suffix if lanes == 1 else f"v{lanes}{precision.suffix}"
        self.functions: list[str] = []
        self.tables: dict[Table, str] = {}
        self.names: dict[Program, str] = {}
        self.declared: set[str] = set()

    def vector(self, element: str, lanes: int | None = None) -> str:
        """The type of one element per lane, of which there are as many as of states by default."""
        count = lanes or self.lanes
        return element if count == 1 else f"<{count} x {element}>"

    def wide(self, lanes: int) -> Module:
        """The same module for other vectors: what is written for it is written here."""
        other = copy(self)
        other.lanes = lanes
        other.real, other.condition = other.vector(other.element), other.vector("i1")
        other.suffix = self.precision.suffix if lanes == 1 else f"v{lanes}{self.precision.suffix}"
        return other

    @property
    def align(self) -> int:
        """Bytes of a block of lanes."""
        return self.precision.bytes * self.lanes

    @property
    def apart(self) -> str:
        """The alignment of single elements."""
        return f"align {self.precision.bytes}"

    def typed(self, pattern: str) -> str:
        """An instruction with this module's types in place of the names in braces."""
        true = "true" if self.lanes == 1 else "splat (i1 true)"
        return pattern.format(real=self.real, condition=self.condition, true=true)

    def text(self) -> str:
        attributes = f'attributes #0 = {{ nounwind "prefer-vector-width"="{max(256, 8 * self.align)}" }}'
        constants = []
        for table, name in self.tables.items():
            values = ", ".join(f"{self.element} {self.number(x)}" for x in table.values)
            constants.append(f"{name} = internal constant [{len(table.values)} x {self.element}] [{values}]")
        return "\n".join([*sorted(self.declared), *constants, *self.functions, attributes, ""])

    def number(self, value: float) -> str:
        """A number in LLVM's exact notation, which is that of a float64 for every format."""
        rounded = float(self.precision.dtype.type(value))
        return f"0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X}"

    def constant(self, value: float) -> str:
        """A number on all lanes."""
        return self.number(value) if self.lanes == 1 else f"splat ({self.element} {self.number(value)})"

    def table(self, table: Table) -> str:
        return self.tables.setdefault(table, f"@table{len(self.tables)}")

    def declare(self, returned: str, name: str, arguments: Sequence[str]) -> None:
        self.declared.add(f"declare {returned} @{name}({', '.join(arguments)})")

    def callee(self, program: Program, write: Callable[[Program, str], str]) -> str:
        """The name of the function of a called program; `write` gives its text the first time."""
        if program not in self.names:
            name = self.names[program] = f"@program{len(self.names)}"
            self.functions.append(write(program, name))
        return self.names[program]
