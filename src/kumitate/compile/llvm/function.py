"""The code of one program: its batch of states, its inputs and outputs, its loops and calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from ...scalar import Loop, Program, Symbol, live, origin
from .module import Module
from .parts import PART, plan_of
from .remembered import Remembered
from .rows import RowWriter, stack_runs

__all__ = ["ENTRY", "Function", "scratch_size"]

#: The name of the compiled function.
ENTRY = "kernel"
_STACK_BYTES = 1 << 17  # scratch memory beyond this comes from the heap
_CONDITIONS = frozenset({"lt", "le", "eq", "and", "or", "not"})


class Function(RowWriter):
    """The function of one program.

    `blocked` functions are called by others and work on blocks of lanes; the other kind is the entry, which works on the
    rows of the user's arrays.
    """

    def __init__(self, module: Module, program: Program, *, blocked: bool):
        super().__init__(module)
        self.program = program
        self.blocked = blocked
        self.head: list[str] = []
        self.results: dict[Symbol, dict[int, str]] = {}
        self.rows: dict[str, str] = {}
        self.offsets: dict[str, int] = {}
        start = 0
        for array in program.inputs:
            self.offsets[array.name] = start
            start += array.size
        self.scratch_size = 0
        self.argument_size = 0
        self.crossing: dict[Symbol, int] = {}  # what other parts of a long line leave in memory, by slot
        self.deferred = {node for run in stack_runs(program.results) for node in program.results[run.start : run.stop]}

    @cached_property
    def block_slots(self) -> int:
        """Blocks of scratch memory for loops and called programs; what crosses between parts stands behind them."""
        return _scratch_of_blocks(self.program)

    def entry_text(self) -> str:
        """The whole text as the module's entry."""
        ins = [f"%in{k}" for k in range(len(self.program.inputs))]
        outs = [f"%out{k}" for k in range(len(self.program.outputs))]
        self.batch(ins, outs)
        arguments = ", ".join(["i64 %n", *(f"ptr {p}" for p in (*ins, *outs))])
        return f"define void @{ENTRY}({arguments}) #0 {{\n" + self.finished("ret void")

    def called_text(self, name: str) -> str:
        """The whole text as a function that others call: it reads and writes blocks of lanes."""
        self.run_program()
        if plan_of(self.program) is None:
            self.store_all(self.program.results, "%out")
        else:
            self.store_results("%out")
        return f"define internal void {name}(ptr %in, ptr %out, ptr %scratch) noinline #0 {{\n" + self.finished("ret void")

    def finished(self, last: str, *, scratch: bool = True) -> str:
        """The whole body, with the memory it turned out to need."""
        real, module = self.module.real, self.module
        head = ["entry:"]
        if self.argument_size:
            head.append(f"  %arguments = alloca [{self.argument_size} x {real}], align 64")
        if self.result_size:
            head.append(f"  %returned = alloca [{self.result_size} x {real}], align 64")
        tail = [f"  {last}", "}"]
        if scratch and not self.blocked:
            slots = scratch_size(self.program)
            size = module.align * slots
            if size > _STACK_BYTES:
                module.declare("ptr", "malloc", ["i64"])
                module.declare("void", "free", ["ptr"])
                head.append(f"  %heap = call ptr @malloc(i64 {size + 64})")
                head.append("  %heapbits = ptrtoint ptr %heap to i64")
                head.append("  %heapup = add i64 %heapbits, 63")
                head.append("  %heapaligned = and i64 %heapup, -64")
                head.append("  %scratch = inttoptr i64 %heapaligned to ptr")
                tail.insert(0, "  call void @free(ptr %heap)")
            elif slots:
                head.append(f"  %scratch = alloca [{slots} x {real}], align 64")
        return "\n".join([*head, *self.head, *self.lines, *tail])

    # --- the line, whole or in parts ----------------------------------------------------------------------------------
    def run_program(self) -> None:
        """Computes the program's line; a long one by calling the functions of its parts."""
        plan = plan_of(self.program)
        if plan is None:
            self.run_line(self.program.line)
            return
        known: dict[Symbol, int] = {}
        for part in plan.parts:
            writer = self.part_writer(known)
            for loop_node in self.stacks:
                writer.values[loop_node] = "loop"  # ran in an earlier part
            writer.run_line(part)
            for node in part:
                if node in plan.slots:
                    writer.cross(node, plan.slots[node])
            self.scratch_size = writer.scratch_size
            known = known | {node: plan.slots[node] for node in part if node in plan.slots}
            self.call_part(writer, "%scratch")
        self.crossing = known

    def store_results(self, base: str) -> None:
        """The results of a long line into an array of blocks, by functions that are as short as its parts."""
        results = self.program.results
        for start in range(0, len(results), PART):
            writer = self.part_writer(self.crossing)
            for k in range(start, min(start + PART, len(results))):
                place = writer.slot("%base", k)
                writer.effect(f"store {self.module.real} {writer.value(results[k])}, ptr {place}, align {self.module.align}")
            self.call_part(writer, base)

    def part_writer(self, known: dict[Symbol, int]) -> Function:
        """The writer of a part's function: it finds what is `known` in memory."""
        writer = Function(self.module, self.program, blocked=self.blocked)
        writer.crossing, writer.stacks, writer.scratch_size = known, self.stacks, self.scratch_size
        writer.block_slots = self.block_slots
        writer.rows = {name: f"%row{k}" for k, name in enumerate(self.rows)}
        return writer

    def call_part(self, writer: Function, base: str) -> None:
        """Ends the function of a part, and calls it."""
        name = f"@part{len(self.module.functions)}"

        def listed(rows: Iterable[str], base: str) -> str:
            return ", ".join(f"ptr {pointer}" for pointer in (*(["%in"] if self.blocked else rows), "%scratch", base))

        text = writer.finished("ret void", scratch=False)
        head = f"define internal void {name}({listed(writer.rows.values(), '%base')}) noinline #0"
        self.module.functions.append(f"{head} {{\n{text}")
        self.effect(f"call void {name}({listed(self.rows.values(), base)})")

    def cross(self, node: Symbol, slot: int) -> None:
        """Leaves a value in memory for other parts; conditions as 0 or 1."""
        value = self.value(node)
        if node.op in _CONDITIONS:
            value = self.line(f"uitofp {self.module.condition} {value} to {self.module.real}")
        address = self.slot("%scratch", self.block_slots + slot)
        self.effect(f"store {self.module.real} {value}, ptr {address}, align {self.module.align}")

    def value(self, node: Symbol) -> str:
        if node not in self.values and node in self.crossing:
            slot = self.slot("%scratch", self.block_slots + self.crossing[node])
            value = self.line(f"load {self.module.real}, ptr {slot}, align {self.module.align}")
            if node.op in _CONDITIONS:
                value = self.line(f"fcmp une {self.module.real} {value}, {self.module.constant(0.0)}")
            self.values[node] = value
        return super().value(node)

    # --- the batch ----------------------------------------------------------------------------------------------------
    def batch(self, ins: Sequence[str], outs: Sequence[str]) -> None:
        """Blocks of lanes, one after the other; the last one slides back to end with the batch."""
        lanes, program = self.module.lanes, self.program
        self.head += ["  %empty = icmp eq i64 %n, 0", "  br i1 %empty, label %end, label %states"]
        self.start("states")
        last = self.line(f"sub i64 %n, {lanes}")
        self.effect("br label %next")
        self.start("next")
        self.effect("%first = phi i64 [ 0, %states ], [ %following, %done ]")
        past = self.line(f"icmp ugt i64 %first, {last}")
        state = self.line(f"select i1 {past}, i64 {last}, i64 %first")
        for pointer, array in zip(ins, program.inputs, strict=True):
            offset = self.line(f"mul i64 {state}, {array.size}")
            self.rows[array.name] = self.line(f"getelementptr {self.module.element}, ptr {pointer}, i64 {offset}")
        self.run_program()
        whole = plan_of(program) is None
        if whole:
            for node in program.results:
                if node not in self.deferred:
                    self.value(node)  # all is read before anything is written: outputs may be inputs
        else:
            self.result_size = max(self.result_size, len(program.results))
            self.store_results("%returned")
        position = 0
        for pointer, array in zip(outs, program.outputs, strict=True):
            offset = self.line(f"mul i64 {state}, {array.size}")
            row = self.line(f"getelementptr {self.module.element}, ptr {pointer}, i64 {offset}")
            if whole:
                self.scatter_all(program.results[position : position + array.size], row)
            else:
                self.scatter_buffer(position, array.size, row)
            position += array.size
        self.effect("br label %done")
        self.start("done")
        self.effect(f"%following = add i64 %first, {lanes}")
        more = self.line("icmp ult i64 %following, %n")
        self.effect(f"br i1 {more}, label %next, label %end")
        self.start("end")

    # --- inputs, tables, indices --------------------------------------------------------------------------------------
    def compute_input(self, node: Symbol) -> str:
        return self.read_input(*node.payload)

    def compute_load(self, node: Symbol) -> str:
        return self.read_input(node.payload[0], self.position(node))

    def read_input(self, name: str, element: int | str) -> str:
        if self.blocked:
            offset = self.offsets[name]
            at = element + offset if isinstance(element, int) else self.line(f"add i64 {element}, {offset}")
            return self.line(f"load {self.module.real}, ptr {self.slot('%in', at)}, align {self.module.align}")
        size = next(array.size for array in self.program.inputs if array.name == name)
        return self.gather(self.rows[name], size, element)

    def position(self, node: Symbol) -> int | str:
        """stride·counter + offset, where a node reads by index."""
        _, stride, offset = node.payload
        if stride == 0:
            return offset
        scaled = self.line(f"mul i64 {self.values[node.args[-1]]}, {stride}")
        return self.line(f"add i64 {scaled}, {offset}")

    def spread(self, single: str) -> str:
        """One number on all lanes."""
        if self.module.lanes == 1:
            return single
        real = self.module.real
        first = self.line(f"insertelement {real} poison, {self.module.element} {single}, i32 0")
        return self.line(f"shufflevector {real} {first}, {real} poison, <{self.module.lanes} x i32> zeroinitializer")

    def compute_lookup(self, node: Symbol) -> str:
        table, position = self.module.table(node.payload[0]), self.position(node)
        pointer = self.line(f"getelementptr {self.module.element}, ptr {table}, i64 {position}")
        return self.spread(self.line(f"load {self.module.element}, ptr {pointer}, align {self.module.precision.bytes}"))

    def compute_ordinal(self, node: Symbol) -> str:
        return self.spread(self.line(f"sitofp i64 {self.position(node)} to {self.module.element}"))

    def compute_capture(self, node: Symbol) -> str:
        return self.value(node.payload)

    # --- loops and calls ----------------------------------------------------------------------------------------------
    def compute_result(self, node: Symbol) -> str:
        (block,) = node.args
        self.value(block)
        return self.results[block][node.payload]

    def compute_element(self, node: Symbol) -> str:
        self.value(node.args[0])
        first, columns = self.stacks[origin(node.args[0])]
        position, slots = self.position(node), len(columns)
        column = first + columns[node.payload[0]]
        if isinstance(position, int):
            at: int | str = position * slots + column
        else:
            at = self.line(f"add i64 {self.line(f'mul i64 {position}, {slots}')}, {column}")
        return self.line(f"load {self.module.real}, ptr {self.slot('%scratch', at)}, align {self.module.align}")

    def compute_call(self, node: Symbol) -> str:
        program: Program = node.payload
        real = self.module.real
        self.argument_size = max(self.argument_size, len(node.args), 1)
        self.result_size = max(self.result_size, len(program.results), 1)
        for k, argument in enumerate(node.args):
            self.effect(f"store {real} {self.value(argument)}, ptr {self.slot('%arguments', k)}, align {self.module.align}")
        scratch = self.slot("%scratch", _scratch_of_loops(self.program)) if scratch_size(self.program) else "null"
        name = self.module.callee(program, lambda called, name: Function(self.module, called, blocked=True).called_text(name))
        self.effect(f"call void {name}(ptr %arguments, ptr %returned, ptr {scratch})")
        self.results[node] = {
            k: self.line(f"load {real}, ptr {self.slot('%returned', k)}, align {self.module.align}")
            for k in range(len(program.results))
        }
        return "call"

    def compute_loop(self, node: Symbol) -> str:
        block: Loop = node.payload
        real, label = self.module.real, f"loop{self.count}"
        self.count += 1  # a loop in it may begin before any line
        carries, keeps = block.carries, block.keeps
        first = [self.value(a) for a in node.args[: len(carries)]]
        for outer in node.args[len(carries) :]:
            self.value(outer)  # loaded or computed before the loop, not in it
        self.stacks[node] = (self.scratch_size, {k: column for column, k in enumerate(keeps)})
        self.scratch_size += block.count * len(keeps)
        before = self.block
        self.effect(f"br label %{label}")
        self.start(label)
        counter, following = f"%{label}.i", f"%{label}.next"
        self.effect(f"{counter} = phi i64 [ 0, %{before} ], [ {following}, %{label}.latch ]")
        for k, start in zip(carries, first, strict=True):
            self.effect(f"%{label}.c{k} = phi {real} [ {start}, %{before} ], [ %{label}.n{k}, %{label}.latch ]")
            self.values[carries[k][0]] = f"%{label}.c{k}"
        for part in block.line:
            if part.op == "counter":
                self.values[part] = counter
        going = None if block.condition is None else self.going(block, label, counter)
        self.run_line(block.line)
        carried = {k: self.value(then) for k, (_, then) in carries.items()}
        for column, kept_symbol in enumerate(keeps.values()):
            row = self.line(f"mul i64 {counter}, {len(keeps)}")
            at = self.line(f"add i64 {row}, {self.stacks[node][0] + column}")
            self.effect(f"store {real} {self.value(kept_symbol)}, ptr {self.slot('%scratch', at)}, align {self.module.align}")
        self.effect(f"br label %{label}.latch")
        self.start(f"{label}.latch")
        for k, value in carried.items():
            # bitcast to itself: a name for the value that the phi can refer to before it is known
            kept = f"select {self.module.condition} {going}, {real} {value}, {real} %{label}.c{k}"
            self.effect(f"%{label}.n{k} = {kept if going else f'bitcast {real} {value} to {real}'}")
        self.effect(f"{following} = add i64 {counter}, 1")
        if going:
            self.effect(f"br label %{label}")
        else:
            self.effect(f"br i1 {self.line(f'icmp ult i64 {following}, {block.count}')}, label %{label}, label %{label}.end")
        self.start(f"{label}.end")
        self.results[node] = {k: f"%{label}.{'c' if going else 'n'}{k}" for k in carries}
        return "loop"

    def going(self, block: Loop, label: str, counter: str) -> str:
        """The lanes that go on, asked before a pass; with none left, or all passes made, the loop ends."""
        assert block.condition is not None
        self.run_line(live(block.line, [block.condition]))
        condition = self.value(block.condition)
        more = self.line(f"icmp ult i64 {counter}, {block.count}")
        more = self.line(f"and i1 {more}, {self.any(condition)}")
        self.effect(f"br i1 {more}, label %{label}.pass, label %{label}.end")
        self.start(f"{label}.pass")
        return condition

    def any(self, condition: str) -> str:
        """Whether a condition holds on some lane."""
        if self.module.lanes == 1:
            return condition
        name = f"llvm.vector.reduce.or.v{self.module.lanes}i1"
        self.module.declare("i1", name, [self.module.condition])
        return self.line(f"call i1 @{name}({self.module.condition} {condition})")


def _own_scratch(line: Sequence[Symbol]) -> int:
    """Blocks of lanes that the loops of a line (and the loops in them) keep."""
    return sum(n.payload.count * len(n.payload.keeps) + _own_scratch(n.payload.line) for n in line if n.op == "loop")


@Remembered
def _scratch_of_loops(program: Program) -> int:
    """Blocks of lanes that the loops of a program need, without the programs it calls."""
    return _own_scratch(program.line)


def _scratch_of_blocks(program: Program) -> int:
    """Blocks of lanes that the loops of a program and the programs it calls need."""
    return _scratch_of_loops(program) + max((scratch_size(callee) for callee in program.callees), default=0)


def scratch_size(program: Program) -> int:
    """Blocks of lanes that a program needs, all included."""
    plan = plan_of(program)
    return _scratch_of_blocks(program) + (plan.size if plan else 0)
