"""The code that applies a step to rows of states again and again, and looks at them every few steps.

A block of lanes is loaded once, stepped as often as requested, and stored at the end; between two steps nothing but the step
is done. How many steps, how many lie between two records, and where the records go are arguments, so that one code serves a
single step, a rollout, and any interval of recording.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...scalar import Array, Program
from .batch_io import transposed
from .body import called_function
from .module import Module
from .scratch import scratch_size
from .writer import Writer

__all__ = ["HEAD", "ROLLOUT", "RolloutEntry"]

#: The name of the compiled function, `void rollout(ptr arguments, i64 first, i64 last)`, for the blocks first … last − 1.
ROLLOUT = "rollout"
#: Its first arguments, 64-bit integers: the number of rows, of records, and of steps between two records. Behind them stand,
#: for every array, its address, and what lies between two of its rows and two of its records [elements]. Lanes beyond the last
#: row repeat that row, and store what it stores.
HEAD = ("rows", "records", "every")


class RolloutEntry:
    """The entry that applies a step again and again.

    Attributes:
        step: (carried…, given…) → carried…, the outputs being the first of the inputs, in their order.
        look: of the same inputs, what is recorded.
    """

    name = ROLLOUT

    def __init__(self, step: Program, look: Program):
        self.step, self.look, self.programs = step, look, (step, look)

    def function(self, module: Module) -> str:
        """The driver, after the functions of the two programs."""
        names = [called_function(module, program) for program in self.programs]
        return _Driver(module, self.step, self.look, *names).text()


class _Place(NamedTuple):
    """Where an array stands: in memory, and among the blocks of lanes that a program reads or writes."""

    array: Array
    base: str
    by_row: str
    by_record: str
    slot: int


class _Driver(Writer):
    """The writer of the driver."""

    def __init__(self, module: Module, step: Program, look: Program, step_name: str, look_name: str):
        super().__init__(module)
        self.step, self.look, self.step_name, self.look_name = step, look, step_name, look_name
        self.arguments, self.rows = 0, ""

    def text(self) -> str:
        """The whole driver."""
        step, look = self.step, self.look
        count = len(step.outputs)
        self.rows, records, every = (self.argument() for _ in HEAD)
        carried = self.places(step.inputs[:count], 0)
        state = sum(place.array.size for place in carried)
        given = self.places(step.inputs[count:], state)
        seen = self.places(look.outputs, 0)
        width = sum(array.size for array in step.inputs)
        scratch = max(map(scratch_size, (step, look)))
        self.allocate({"here": width, "there": width, "seen": len(look.results), "scratch": scratch})
        # without records, the steps are made all the same
        self.module.declare("i64", "llvm.umax.i64", ["i64", "i64"])
        self.module.declare("i64", "llvm.umin.i64", ["i64", "i64"])
        stretches = self.line(f"call i64 @llvm.umax.i64(i64 {records}, i64 1)")
        looks = self.line(f"call i64 @llvm.umin.i64(i64 {records}, i64 1)")
        with self.repeated("block", "%first", "%last") as block:
            lanes = self.lane_rows(block)
            for place in carried:
                self.load(place, ["%here"], lanes, "0")
            with self.repeated("record", "0", stretches) as record:
                for place in given:
                    self.load(place, ["%here", "%there"], lanes, record)
                self.step_again(every, state)
                with self.repeated("look", "0", looks):
                    self.effect(f"call void {self.look_name}(ptr %here, ptr %seen, ptr %scratch)")
                    for place in seen:
                        self.store(place, "%seen", lanes, record)
            for place in carried:
                self.store(place, "%here", lanes, "0")
        self.effect("call void @free(ptr %heap)")
        body = "\n".join(["entry:", *self.lines, "  ret void", "}"])
        return f"define void @{ROLLOUT}(ptr %arguments, i64 %first, i64 %last) #0 {{\n{body}"

    # --- arguments and memory -------------------------------------------------------------------------------------------------
    def argument(self, kind: str = "i64") -> str:
        """The next of the arguments."""
        address = self.line(f"getelementptr i64, ptr %arguments, i64 {self.arguments}")
        self.arguments += 1
        return self.line(f"load {kind}, ptr {address}")

    def places(self, arrays: Sequence[Array], slot: int) -> list[_Place]:
        """Where arrays stand; among the blocks one behind the other, from a slot on."""
        found = []
        for array in arrays:
            found.append(_Place(array, self.argument("ptr"), self.argument(), self.argument(), slot))
            slot += array.size
        return found

    def lane_rows(self, block: str) -> list[str]:
        """The row of every lane of a block."""
        first, last = self.line(f"mul i64 {block}, {self.module.lanes}"), self.line(f"sub i64 {self.rows}, 1")
        wanted = [self.line(f"add i64 {first}, {lane}") for lane in range(self.module.lanes)]
        return [self.line(f"call i64 @llvm.umin.i64(i64 {row}, i64 {last})") for row in wanted]

    def allocate(self, blocks: dict[str, int]) -> None:
        """Memory for blocks of lanes by name, at whole lines of the cache."""
        self.module.declare("ptr", "malloc", ["i64"])
        self.module.declare("void", "free", ["ptr"])
        self.effect(f"%heap = call ptr @malloc(i64 {sum(blocks.values()) * self.module.align + 64})")
        bits = self.line("ptrtoint ptr %heap to i64")
        begin = self.line(f"and i64 {self.line(f'add i64 {bits}, 63')}, -64")
        for name, count in blocks.items():
            self.effect(f"%{name} = inttoptr i64 {begin} to ptr")
            begin = self.line(f"add i64 {begin}, {count * self.module.align}")

    # --- loops ----------------------------------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def repeated(self, name: str, first: str, last: str) -> Iterator[str]:
        """Repeats what is written inside, with the name of the counter; no pass is made if `last` is not above `first`."""
        before = self.block
        self.effect(f"br label %{name}")
        self.start(name)
        self.effect(f"%{name}.k = phi i64 [ {first}, %{before} ], [ %{name}.next, %{name}.latch ]")
        more = self.line(f"icmp slt i64 %{name}.k, {last}")
        self.effect(f"br i1 {more}, label %{name}.pass, label %{name}.end")
        self.start(f"{name}.pass")
        yield f"%{name}.k"
        self.effect(f"br label %{name}.latch")
        self.start(f"{name}.latch")
        self.effect(f"%{name}.next = add i64 %{name}.k, 1")
        self.effect(f"br label %{name}")
        self.start(f"{name}.end")

    def step_again(self, every: str, carried: int) -> None:
        """Steps as often as `every` says, from one buffer to the other and back; the state ends in the first."""
        pairs = self.line(f"lshr i64 {every}, 1")
        with self.repeated("pair", "0", pairs):
            self.effect(f"call void {self.step_name}(ptr %here, ptr %there, ptr %scratch)")
            self.effect(f"call void {self.step_name}(ptr %there, ptr %here, ptr %scratch)")
        with self.repeated("odd", "0", self.line(f"and i64 {every}, 1")):
            self.effect(f"call void {self.step_name}(ptr %here, ptr %there, ptr %scratch)")
            self.copy("%there", "%here", carried)

    def copy(self, source: str, target: str, blocks: int) -> None:
        real, align = self.module.real, self.module.align
        with self.counted(blocks) as k:
            value = self.line(f"load {real}, ptr {self.slot(source, k)}, align {align}")
            self.effect(f"store {real} {value}, ptr {self.slot(target, k)}, align {align}")

    # --- rows and blocks ------------------------------------------------------------------------------------------------------
    def load(self, place: _Place, buffers: Sequence[str], lanes: Sequence[str], record: str) -> None:
        """The rows of all lanes into buffers."""
        real, align = self.module.real, self.module.align
        for start, width in self.stretches(place.array.size):
            rows = self.row_pointers(place, lanes, record, start)
            if width == 1:
                values = [self.gathered_one(rows)]
            else:
                values = transposed(self, [self.line(f"load {real}, ptr {pointer}, {self.module.apart}") for pointer in rows])
            for k, value in enumerate(values):
                for buffer in buffers:
                    self.effect(f"store {real} {value}, ptr {self.slot(buffer, place.slot + start + k)}, align {align}")

    def store(self, place: _Place, buffer: str, lanes: Sequence[str], record: str) -> None:
        """The rows of all lanes from a buffer."""
        real, align = self.module.real, self.module.align
        for start, width in self.stretches(place.array.size):
            slots = [self.slot(buffer, place.slot + start + k) for k in range(width)]
            values = [self.line(f"load {real}, ptr {slot}, align {align}") for slot in slots]
            rows = self.row_pointers(place, lanes, record, start)
            if width == 1:
                self.scatter_one(values[0], rows)
                continue
            for value, pointer in zip(transposed(self, values), rows, strict=True):
                self.effect(f"store {real} {value}, ptr {pointer}, {self.module.apart}")

    def stretches(self, size: int) -> list[tuple[int, int]]:
        """The starts and widths that cover a row: as wide as there are lanes, the last one sliding back; else one by one."""
        lanes = self.module.lanes
        if lanes == 1 or size < lanes:
            return [(k, 1) for k in range(size)]
        return [(min(start, size - lanes), lanes) for start in range(0, size, lanes)]

    def row_pointers(self, place: _Place, lanes: Sequence[str], record: str, element: int) -> list[str]:
        """The address of an element in the row of every lane."""
        at = self.line(f"add i64 {self.line(f'mul i64 {record}, {place.by_record}')}, {element}")
        found = []
        for row in lanes:
            offset = self.line(f"add i64 {self.line(f'mul i64 {row}, {place.by_row}')}, {at}")
            found.append(self.line(f"getelementptr {self.module.element}, ptr {place.base}, i64 {offset}"))
        return found

    def gathered_one(self, rows: Sequence[str]) -> str:
        loaded = [self.line(f"load {self.module.element}, ptr {pointer}, {self.module.apart}") for pointer in rows]
        if self.module.lanes == 1:
            return loaded[0]
        value = "poison"
        for lane, one in enumerate(loaded):
            value = self.line(f"insertelement {self.module.real} {value}, {self.module.element} {one}, i32 {lane}")
        return value

    def scatter_one(self, value: str, rows: Sequence[str]) -> None:
        for lane, pointer in enumerate(rows):
            single = value
            if self.module.lanes > 1:
                single = self.line(f"extractelement {self.module.real} {value}, i32 {lane}")
            self.effect(f"store {self.module.element} {single}, ptr {pointer}, {self.module.apart}")
