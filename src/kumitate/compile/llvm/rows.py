"""Reading and writing arrays: the user's rows lane by lane, blocks of lanes whole, long outputs by loops."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from ...scalar import Symbol, origin
from .line import LineWriter
from .module import Module

__all__ = ["RowWriter", "stack_runs"]

_COPY_AT_LEAST = 16  # values that a loop's stack is copied by a loop for
_SCATTER_ONE_BY_ONE = 64  # outputs with more elements are scattered by a loop


class RowWriter(LineWriter):
    """Writes what moves values between arrays and the line.

    Attributes:
        stacks: where each loop's stack begins in the scratch memory, and the column there of every value that it keeps.
        result_size: blocks of lanes that the buffer for results must hold.
    """

    def __init__(self, module: Module):
        super().__init__(module)
        self.stacks: dict[Symbol, tuple[int, dict[int, int]]] = {}
        self.result_size = 0

    def gather(self, row: str, stride: int, element: int | str) -> str:
        """Element `element` of the rows of all lanes."""
        if self.module.lanes == 1:
            pointer = self.line(f"getelementptr {self.module.element}, ptr {row}, i64 {element}")
            return self.line(f"load {self.module.element}, ptr {pointer}, align {self.module.precision.bytes}")
        value = "poison"
        for lane in range(self.module.lanes):
            at = element + lane * stride if isinstance(element, int) else self.line(f"add i64 {element}, {lane * stride}")
            pointer = self.line(f"getelementptr {self.module.element}, ptr {row}, i64 {at}")
            loaded = self.line(f"load {self.module.element}, ptr {pointer}, align {self.module.precision.bytes}")
            value = self.line(f"insertelement {self.module.real} {value}, {self.module.element} {loaded}, i32 {lane}")
        return value

    def scatter_all(self, nodes: Sequence[Symbol], row: str) -> None:
        """All elements of an output; many of them by a loop over a buffer, which keeps the code small."""
        size = len(nodes)
        if size <= _SCATTER_ONE_BY_ONE:
            for k, node in enumerate(nodes):
                self.scatter(self.value(node), row, size, k)
            return
        self.result_size = max(self.result_size, size)
        self.store_all(nodes, "%returned")
        with self.counted(size) as counter:
            value = self.line(f"load {self.module.real}, ptr {self.slot('%returned', counter)}, align {self.module.align}")
            self.scatter(value, self.line(f"getelementptr {self.module.element}, ptr {row}, i64 {counter}"), size, 0)

    def store_all(self, nodes: Sequence[Symbol], base: str) -> None:
        """Values into an array of blocks; a stretch of a loop's stack is copied by a loop."""
        runs = {run.start: run for run in stack_runs(nodes)}
        k = 0
        while k < len(nodes):
            if k in runs:
                self.copy_stack(nodes, runs[k], base)
                k = runs[k].stop
                continue
            self.effect(f"store {self.module.real} {self.value(nodes[k])}, ptr {self.slot(base, k)}, align {self.module.align}")
            k += 1

    def copy_stack(self, nodes: Sequence[Symbol], run: range, base: str) -> None:
        node = nodes[run.start]
        step = nodes[run.start + 1].payload[2] - node.payload[2]
        first, columns = self.stacks[origin(node.args[0])]
        start = first + columns[node.payload[0]] + node.payload[2] * len(columns)
        with self.counted(len(run)) as k:
            scaled = self.line(f"mul i64 {k}, {step * len(columns)}")
            source = self.slot("%scratch", self.line(f"add i64 {scaled}, {start}"))
            value = self.line(f"load {self.module.real}, ptr {source}, align {self.module.align}")
            target = self.slot(base, self.line(f"add i64 {k}, {run.start}"))
            self.effect(f"store {self.module.real} {value}, ptr {target}, align {self.module.align}")

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

    def scatter(self, value: str, row: str, stride: int, element: int) -> None:
        for lane in range(self.module.lanes):
            pointer = self.line(f"getelementptr {self.module.element}, ptr {row}, i64 {element + lane * stride}")
            single = value
            if self.module.lanes > 1:
                single = self.line(f"extractelement {self.module.real} {value}, i32 {lane}")
            self.effect(f"store {self.module.element} {single}, ptr {pointer}, align {self.module.precision.bytes}")

    def slot(self, base: str, index: int | str) -> str:
        """The address of a block of lanes in an array of them."""
        return self.line(f"getelementptr {self.module.real}, ptr {base}, i64 {index}")


def stack_runs(nodes: Sequence[Symbol]) -> list[range]:
    """Stretches of at least `_COPY_AT_LEAST` nodes that read one value of a loop's stack, pass by pass."""
    runs, start = [], 0
    for k in range(1, len(nodes) + 1):
        if k < len(nodes) and _follows(nodes, start, k):
            continue
        if k - start >= _COPY_AT_LEAST:
            runs.append(range(start, k))
        start = k
    return runs


def _follows(nodes: Sequence[Symbol], start: int, k: int) -> bool:
    """Whether node k goes on with the stretch that begins at `start`."""
    a, b, first = nodes[k - 1], nodes[k], nodes[start]
    if a.op != "element" or b.op != "element" or a.args != b.args or len(a.args) != 1 or a.payload[0] != b.payload[0]:
        return False
    return k == start + 1 or b.payload[2] - a.payload[2] == nodes[start + 1].payload[2] - first.payload[2]
