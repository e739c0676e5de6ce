"""The instructions of one function, one after the other: named values, effects, labels, and blocks of lanes in memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .module import Module

__all__ = ["Writer"]


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

    def effect(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {text}")

    def start(self, label: str) -> None:
        """Begins a basic block."""
        self.lines.append(f"{label}:")
        self.block = label

    @contextlib.contextmanager
    def counted(self, count: int) -> Iterator[str]:
        """Repeats what is written inside, with the name of the counter."""
        label, before = f"count{self.count}", self.block
        self.effect(f"br label %{label}")
        self.start(label)
        self.effect(f"%{label}.k = phi i64 [ 0, %{before} ], [ %{label}.next, %{label} ]")
        yield f"%{label}.k"
        self.effect(f"%{label}.next = add i64 %{label}.k, 1")
        more = self.line(f"icmp ult i64 %{label}.next, {count}")
        self.effect(f"br i1 {more}, label %{label}, label %{label}.end")
        self.start(f"{label}.end")

    # --- blocks of lanes: a value of every lane, one behind the other ---------------------------------------------------------
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
        module, name = self.module, "llvm.memcpy.p0.p0.i64"
        module.declare("void", name, ["ptr", "ptr", "i64", "i1"])
        target, source = (f"ptr {module.apart} {place}" for place in (target, source))
        self.effect(f"call void @{name}({target}, {source}, i64 {module.align * count}, i1 false)")
