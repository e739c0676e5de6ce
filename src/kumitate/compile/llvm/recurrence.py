"""The code that applies a step to rows of states again and again, and looks at them every few steps.

A block of lanes is loaded once, stepped as often as requested, and stored at the end; between two steps nothing but the step
is done. How many steps, how many lie between two records, and where the records go are arguments, so that one code serves a
single step, a rollout, and any interval of recording.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...scalar import Array, Program
from ..stored import StoredProgram, traced
from .body import called_function
from .entries import Entry, Row, RowInputs, scatter_buffer
from .plan import scratch_size
from .writer import Module, Writer

#: The name of the compiled function, `void rollout(ptr arguments, i64 first, i64 last)`, for the blocks first … last − 1.
ROLLOUT = "rollout"
#: Its first arguments, 64-bit integers: the number of rows, of records, and of steps between two records. Behind them stand,
#: for every array, its address, and what lies between two of its rows and two of its records [elements]. Lanes beyond the last
#: row repeat that row, and store what it stores.
HEAD = ("rows", "records", "every")


class RolloutEntry(Entry):
    """The entry that applies a step, (carried…, given…) → carried…, again and again, and looks: `compile.Recurrence`."""

    name = ROLLOUT

    def __init__(self, step: Program | StoredProgram, look: Program | StoredProgram):
        self.programs = (step, look)

    def function(self, module: Module) -> str:
        """The driver, after the functions of the two programs."""
        return _Driver(module, *map(traced, self.programs)).text()


class _Place(NamedTuple):
    """Where an array stands: in memory, and among the blocks of lanes that a program reads or writes."""

    array: Array
    base: str
    by_row: str
    by_record: str
    slot: int


class _Driver(Writer):
    """The writer of the driver."""

    def __init__(self, module: Module, step: Program, look: Program):
        super().__init__(module)
        self.step, self.look, self.arguments, self.rows = step, look, 0, ""
        self.step_name, self.look_name = (called_function(module, program) for program in (step, look))

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
        stretches = self.line(f"call i64 @llvm.umax.i64(i64 {records}, i64 1)")
        looks = self.line(f"call i64 @llvm.umin.i64(i64 {records}, i64 1)")
        with self.repeated("block", "%first", "%last") as block:
            # the row of every lane of the block
            begun, last = self.line(f"mul i64 {block}, {self.module.lanes}"), self.line(f"sub i64 {self.rows}, 1")
            wanted = [self.line(f"add i64 {begun}, {lane}") for lane in range(self.module.lanes)]
            lanes = [self.line(f"call i64 @llvm.umin.i64(i64 {row}, i64 {last})") for row in wanted]
            for place in carried:
                self.load(place, ["%here"], lanes, "0")
            with self.repeated("record", "0", stretches) as record:
                for place in given:
                    self.load(place, ["%here", "%there"], lanes, record)
                self.step_again(every, state)
                with self.repeated("look", "0", looks):
                    self.effect(f"call void {self.look_name}(ptr %here, ptr %seen, ptr %scratch)")
                    for place in seen:
                        scatter_buffer(self, "%seen", place.slot, place.array.size, self.row(place, lanes, record))
            for place in carried:
                scatter_buffer(self, "%here", place.slot, place.array.size, self.row(place, lanes, "0"))
        self.effect("call void @free(ptr %heap)")
        self.effect("ret void")
        return self.framed(f"define void @{ROLLOUT}(ptr %arguments, i64 %first, i64 %last) #0")

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

    def allocate(self, blocks: dict[str, int]) -> None:
        """Memory for blocks of lanes by name, at whole lines of the cache."""
        self.effect(f"%heap = call ptr @malloc(i64 {sum(blocks.values()) * self.module.align + 64})")
        bits = self.line("ptrtoint ptr %heap to i64")
        begin = self.line(f"and i64 {self.line(f'add i64 {bits}, 63')}, -64")
        for name, count in blocks.items():
            self.effect(f"%{name} = inttoptr i64 {begin} to ptr")
            begin = self.line(f"add i64 {begin}, {count * self.module.align}")

    def step_again(self, every: str, carried: int) -> None:
        """Steps as often as `every` says, from one buffer to the other and back; the state ends in the first."""
        pairs = self.line(f"lshr i64 {every}, 1")
        with self.repeated("pair", "0", pairs):
            self.effect(f"call void {self.step_name}(ptr %here, ptr %there, ptr %scratch)")
            self.effect(f"call void {self.step_name}(ptr %there, ptr %here, ptr %scratch)")
        with self.repeated("odd", "0", self.line(f"and i64 {every}, 1")):
            self.effect(f"call void {self.step_name}(ptr %here, ptr %there, ptr %scratch)")
            with self.counted(carried) as k:
                self.store_block(self.load_block("%there", k), "%here", k)

    # --- rows and blocks ------------------------------------------------------------------------------------------------------
    def load(self, place: _Place, buffers: Sequence[str], lanes: Sequence[str], record: str) -> None:
        """The rows of all lanes into buffers."""
        inputs = RowInputs({"": place.array.size}, {"": self.row(place, lanes, record)})
        for k in range(place.array.size):
            value = inputs.read(self, "", k)
            for buffer in buffers:
                self.store_block(value, buffer, place.slot + k)

    def row(self, place: _Place, lanes: Sequence[str], record: str) -> Row:
        """The rows of all lanes."""
        at = self.line(f"mul i64 {record}, {place.by_record}")
        rows = []
        for row in lanes:
            offset = self.line(f"add i64 {self.line(f'mul i64 {row}, {place.by_row}')}, {at}")
            rows.append(self.line(f"getelementptr {self.module.element}, ptr {place.base}, i64 {offset}"))
        return tuple(rows)
