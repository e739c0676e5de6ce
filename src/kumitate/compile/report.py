"""The report on a kernel: its operations, and the machine code at each width. `measure.timing` times it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .engine import assembly
from .target import host

_COMPARISONS = ("cmp", "test", "ucomi", "vucomi")  # write to no operand


@dataclass(frozen=True)
class Width:
    """The machine code for `lanes` states at a time.

    Attributes:
        instructions: in the code, constants and the Python wrapper left out.
        stores, loads: instructions that write to and read from the stack: values that no register was left for, mostly.
        bytes: size of the object file; seconds: that LLVM took, or, if it was `from_cache`, loading.
    """

    lanes: int
    instructions: int
    stores: int
    loads: int
    bytes: int
    seconds: float
    from_cache: bool


@dataclass(frozen=True)
class KernelReport:
    """The report on a kernel: `operations` of one evaluation by kind, most frequent first, and the compiled `widths`.

    `remark` says which algorithm was chosen, where there was a choice.
    """

    name: str
    operations: dict[str, int]
    widths: tuple[Width, ...]
    remark: str = ""

    def __str__(self) -> str:
        kinds = ", ".join(f"{number} {op}" for op, number in self.operations.items())
        heads = ("lanes", "instructions", "stack stores", "stack loads", "bytes", "compiled [s]")
        rows: list[tuple[str, ...]] = [heads]
        for width in self.widths:
            counts = (width.lanes, width.instructions, width.stores, width.loads, width.bytes)
            rows.append((*map(str, counts), "cache" if width.from_cache else f"{width.seconds:.2f}"))
        sizes = [max(len(row[k]) for row in rows) for k in range(len(heads))]
        table = ["  ".join(cell.rjust(size) for cell, size in zip(row, sizes, strict=True)).rstrip() for row in rows]
        head = f"{self.name}: {sum(self.operations.values())} operations{f' ({kinds})' if kinds else ''}"
        return "\n".join([head, *([self.remark] if self.remark else []), *table])


def report(kernel: Any) -> KernelReport:
    """The report on a kernel at the widths compiled so far; if none, at two. It takes as long as compiling does."""
    if not kernel.widths:
        kernel.prepare()
    widths = []
    for lanes in kernel.widths:
        code = kernel.code(lanes)
        text = assembly(kernel.source("llvm", lanes), host())
        widths.append(Width(lanes, *_counted(text), code.size, code.seconds, code.from_cache))
    return KernelReport(kernel.name, dict(kernel.program.operations.most_common()), tuple(widths), kernel.program.remark)


def _counted(assembly_text: str) -> tuple[int, int, int]:
    """Instructions, stores on the stack and loads from it, on x86 and ARM."""
    instructions = stores = loads = 0
    for line in assembly_text.splitlines():
        words = line.strip()
        if not line.startswith("\t") or words.startswith((".", "#", "//", ";", "@")):
            continue  # a label, a directive or a comment
        instructions += 1
        if "(%rsp" in words and not words.startswith("lea"):  # x86 writes the target last
            written = words.endswith(")") and not words.startswith(_COMPARISONS)
            stores, loads = stores + written, loads + (not written)
        elif "[sp" in words:
            stores, loads = stores + words.startswith("st"), loads + words.startswith("ld")
    return instructions, stores, loads
