"""Reading and writing arrays: the user's rows lane by lane, blocks of lanes whole, long outputs by loops."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from ...scalar import Symbol, origin
from .module import Module
from .straight_line import LineWriter

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
        self.gathered: dict[tuple[str, int], str] = {}  # (row, element) → what is read already

    # --- the user's rows ----------------------------------------------------------------------------------------------
    def gather(self, row: str, stride: int, element: int | str) -> str:
        """Element `element` of the rows of all lanes; `stride` is a row's size.

        A known element is read with its neighbours: as many elements of every lane's row as there are lanes, transposed.
        """
        lanes = self.module.lanes
        if isinstance(element, int) and 1 < lanes <= stride:
            if (row, element) not in self.gathered:
                start = min(element // lanes * lanes, stride - lanes)  # the last stretch overlaps the one before
                rows = [
                    self.line(f"load {self.module.real}, ptr {p}, {self.apart}") for p in self.addresses(row, stride, start)
                ]
                self.gathered.update({(row, start + k): value for k, value in enumerate(self.transposed(rows))})
            return self.gathered[row, element]
        if lanes == 1:
            pointer = self.line(f"getelementptr {self.module.element}, ptr {row}, i64 {element}")
            return self.line(f"load {self.module.element}, ptr {pointer}, {self.apart}")
        value = "poison"
        for lane, pointer in enumerate(self.addresses(row, stride, element)):
            loaded = self.line(f"load {self.module.element}, ptr {pointer}, {self.apart}")
            value = self.line(f"insertelement {self.module.real} {value}, {self.module.element} {loaded}, i32 {lane}")
        return value

    def scatter_all(self, nodes: Sequence[Symbol], row: str) -> None:
        """All elements of an output; many of them by a loop over a buffer, which keeps the code small."""
        size, lanes = len(nodes), self.module.lanes
        if size <= _SCATTER_ONE_BY_ONE:
            values = [self.value(node) for node in nodes]
            whole = size // lanes * lanes if lanes > 1 else 0
            for start in range(0, whole, lanes):
                self.scatter_stretch(values[start : start + lanes], row, size, start)
            for k in range(whole, size):
                self.scatter(values[k], row, size, k)
            return
        self.result_size = max(self.result_size, size)
        self.store_all(nodes, "%returned")
        self.scatter_buffer(0, size, row)

    def scatter_buffer(self, first: int, size: int, row: str) -> None:
        """The elements of an output from the buffer for results, where they stand from `first` on, by a loop."""
        lanes = self.module.lanes
        if size < lanes:
            for k in range(size):
                block = self.line(
                    f"load {self.module.real}, ptr {self.slot('%returned', first + k)}, align {self.module.align}"
                )
                self.scatter(block, row, size, k)
            return
        with self.counted(-(-size // lanes)) as counter:
            begun = self.line(f"mul i64 {counter}, {lanes}")
            past = self.line(f"icmp ugt i64 {begun}, {size - lanes}")
            start_at = self.line(f"select i1 {past}, i64 {size - lanes}, i64 {begun}")  # the last stretch slides back
            slots = [self.slot("%returned", self.line(f"add i64 {start_at}, {first + k}")) for k in range(lanes)]
            blocks = [self.line(f"load {self.module.real}, ptr {slot}, align {self.module.align}") for slot in slots]
            self.scatter_stretch(blocks, row, size, start_at)

    def scatter_stretch(self, values: Sequence[str], row: str, stride: int, start: int | str) -> None:
        """As many neighbouring elements as there are lanes, to the rows of all lanes."""
        for value, pointer in zip(self.transposed(values), self.addresses(row, stride, start), strict=True):
            self.effect(f"store {self.module.real} {value}, ptr {pointer}, {self.apart}")

    def scatter(self, value: str, row: str, stride: int, element: int) -> None:
        """One element to the rows of all lanes."""
        for lane, pointer in enumerate(self.addresses(row, stride, element)):
            single = value
            if self.module.lanes > 1:
                single = self.line(f"extractelement {self.module.real} {value}, i32 {lane}")
            self.effect(f"store {self.module.element} {single}, ptr {pointer}, {self.apart}")

    def addresses(self, row: str, stride: int, element: int | str) -> list[str]:
        """Where an element stands in the row of each lane."""
        found = []
        for lane in range(self.module.lanes):
            at = element + lane * stride if isinstance(element, int) else self.line(f"add i64 {element}, {lane * stride}")
            found.append(self.line(f"getelementptr {self.module.element}, ptr {row}, i64 {at}"))
        return found

    @property
    def apart(self) -> str:
        """The alignment of single elements."""
        return f"align {self.module.precision.bytes}"

    def transposed(self, vectors: Sequence[str]) -> list[str]:
        """Element k of vector i becomes element i of vector k, for as many vectors as lanes: log₂ rounds of shuffles."""
        lanes, real = self.module.lanes, self.module.real
        current = list(vectors)
        distance = 1
        while distance < lanes:
            moved = list(current)
            low = [k if not k & distance else lanes + k - distance for k in range(lanes)]
            high = [k + distance if not k & distance else lanes + k for k in range(lanes)]
            for i in range(lanes):
                if not i & distance:
                    pair = f"{real} {current[i]}, {real} {current[i + distance]}"
                    for at, order in ((i, low), (i + distance, high)):
                        mask = ", ".join(f"i32 {k}" for k in order)
                        moved[at] = self.line(f"shufflevector {pair}, <{lanes} x i32> <{mask}>")
            current = moved
            distance *= 2
        return current

    # --- blocks of lanes ----------------------------------------------------------------------------------------------
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
