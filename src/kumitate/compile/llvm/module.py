"""The module that functions are written into: types, constants, tables, declarations, and each called program once."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from ...scalar import Program, Table

__all__ = ["Module"]


class Module:
    """The functions written so far, each program once."""

    def __init__(self, lanes: int):
        self.lanes = lanes
        self.real = "double" if lanes == 1 else f"<{lanes} x double>"
        self.condition = "i1" if lanes == 1 else f"<{lanes} x i1>"
        self.integer = "i64" if lanes == 1 else f"<{lanes} x i64>"
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self.functions: list[str] = []
        self.tables: dict[Table, str] = {}
        self.names: dict[Program, str] = {}
        self.declared: set[str] = set()

    def text(self) -> str:
        attributes = f'attributes #0 = {{ nounwind "prefer-vector-width"="{64 * self.lanes}" }}'
        constants = [
            f"{name} = internal constant [{len(t.values)} x double] [{', '.join(f'double {_hex(x)}' for x in t.values)}]"
            for t, name in self.tables.items()
        ]
        return "\n".join([*sorted(self.declared), *constants, *self.functions, attributes, ""])

    def constant(self, value: float) -> str:
        return _hex(value) if self.lanes == 1 else f"splat (double {_hex(value)})"

    def whole(self, value: int) -> str:
        return str(value) if self.lanes == 1 else f"splat (i64 {value})"

    def table(self, table: Table) -> str:
        return self.tables.setdefault(table, f"@table{len(self.tables)}")

    def declare(self, returned: str, name: str, arguments: Sequence[str]) -> None:
        self.declared.add(f"declare {returned} @{name}({', '.join(arguments)})")

    def callee(self, program: Program, write: Callable[[Program, str], str]) -> str:
        """The name of the function of a called program; `write` is asked for its text the first time."""
        if program not in self.names:
            name = self.names[program] = f"@program{len(self.names)}"
            self.functions.append(write(program, name))
        return self.names[program]


def _hex(value: float) -> str:
    """A float64 in LLVM's exact notation."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
