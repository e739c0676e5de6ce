"""The body of one program: its line, whole or in parts, its loops, and the programs that it calls.

It does not know where the inputs come from (`ProgramInputs`), nor how the function around it is called (`entry`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from ...scalar import Hole, LoopBlock, Program, Symbol, live, origin
from ...scalar.operations import CONDITIONS
from . import plan
from .stacks import KeptInMemory, ProgramInputs, loop_stack, stacks_in_results, write_blocks, write_passes
from .straight_line import uses, uses_of_pass
from .writer import Module, Writer


class BlockInputs:
    """Inputs stored as blocks of lanes, one array after the other, from `%in` on."""

    pointers = ("%in",)

    def __init__(self, program: Program):
        starts = accumulate((array.size for array in program.inputs), initial=0)
        self.offsets = {array.name: start for array, start in zip(program.inputs, starts, strict=False)}

    def handed(self) -> BlockInputs:
        """The same inputs: the address has the same name in every function."""
        return self

    def read(self, to: Writer, name: str, element: int | str) -> str:
        """One block of lanes."""
        offset = self.offsets[name]
        return to.load_block("%in", element + offset if isinstance(element, int) else to.line(f"add i64 {element}, {offset}"))

    def address(self, to: Writer, name: str, element: int | str) -> str:
        """Where an element of an input is, of one state."""
        at = to.line(f"add i64 {element}, {self.offsets[name]}")
        return to.line(f"getelementptr {to.module.element}, ptr %in, i64 {at}")


def hole_name(hole: str) -> str:
    """The name of the function that fills a hole."""
    return f"hole_{hole}"


def called_function(module: Module, program: Program) -> str:
    """The function `(ptr in, ptr out, ptr scratch)` of a program, on blocks of lanes, written if it is not yet.

    That of a hole, or of a shared program, is written by an entry of its own into another module.
    """
    if isinstance(program, Hole):
        return f"@{hole_name(program.name)}"
    if program in module.shared:
        return f"@{module.shared[program]}"
    return module.callee(program, lambda program, name: blocks_function(module, program, f"internal void {name}"))


def blocks_function(module: Module, program: Program, head: str) -> str:
    """The text of the function of a program on blocks of lanes; `head`: its linkage, type and name."""
    body = ProgramBody(module, program, BlockInputs(program))
    body.in_results = {} if body.in_parts else stacks_in_results(program)
    body.run_program()
    body.store_results("%out")
    kept = "" if module.threads else " noinline"  # inlined, a thread's arguments are registers; LLVM knows what is too long
    return body.function(f"define {head}(ptr %in, ptr %out, ptr %scratch){kept} #0")


class ProgramBody(KeptInMemory):
    """Writes the body of a program. Its loops and the programs that it calls keep blocks of lanes from `%scratch` on.

    Attributes:
        results: the names of the results of the loops and calls so far, by number.
        argument_size, result_size, turn_size: blocks of lanes in the buffers `%arguments`, `%returned` and `%turns`.
        crossing: values that other parts of a long line leave in memory, by slot.
        noted: called with every node of the program's line when its value is known.
        handed_over: what the buffer `%arguments` holds, by place, and the block of instructions in which it was stored.
            Programs do not write to their arguments, so that the same ones need not be stored for the next call.
    """

    def __init__(self, module: Module, program: Program, inputs: ProgramInputs):
        super().__init__(module, program, inputs)
        self.results: dict[Symbol, dict[int, str]] = {}
        self.scratch_used = self.argument_size = self.result_size = 0
        self.crossing: dict[Symbol, int] = {}
        self.noted: Callable[[Symbol], None] | None = None
        self.handed_over: tuple[str, dict[int, Symbol]] = ("", {})

    @cached_property
    def block_slots(self) -> int:
        """Blocks of scratch memory for loops and called programs; values that cross between parts follow them."""
        return plan.scratch_of_blocks(self.program)

    @cached_property
    def used(self) -> Counter[Symbol]:
        """How often each node of the program's line is used."""
        return uses(self.program.line, self.program.results)

    @cached_property
    def independent(self) -> set[Symbol]:
        """The loops that are written without a loop; none in long lines, where what they keep goes through memory."""
        return set() if self.in_parts else {self.program.line[k] for k in plan.independent_loops(self.program)}

    @property
    def in_parts(self) -> bool:
        """Whether the line is so long that functions of its parts compute it."""
        return plan.line_partition(self.program) is not None

    def function(self, head: str, *, begin: Sequence[str] = (), end: Sequence[str] = ()) -> str:
        """The function that this is the body of, with the buffers that it turned out to need.

        `head` is its first line, up to the brace; `begin` and `end` are instructions before and behind the body.
        """
        buffers = (("arguments", self.argument_size), ("returned", self.result_size), ("turns", self.turn_size))
        made = [f"  %{name} = alloca [{size} x {self.module.real}], align 64" for name, size in buffers if size]
        self.lines += [*end, "  ret void"]
        return self.framed(head, [*made, *begin])

    # --- the line, whole or in parts ----------------------------------------------------------------------------------
    def run_program(self) -> None:
        """Computes the program's line; a long one by calling the functions of its parts."""
        partition = plan.line_partition(self.program)
        if partition is None:
            self.run_line(self.program.line, self.used, self.noted)
            return
        known: dict[Symbol, int] = {}
        for part in partition.parts:
            writer = self.part_writer(known)
            for loop_node in self.stacks:
                writer.values[loop_node] = "loop"  # ran in an earlier part
            writer.run_line(part, self.used)
            for node in part:
                if node in partition.slots:
                    writer.cross(node, partition.slots[node])
            self.scratch_used = writer.scratch_used
            known = known | {node: partition.slots[node] for node in part if node in partition.slots}
            self.call_part(writer, "%scratch")
        self.crossing = known

    def store_results(self, base: str) -> None:
        """The results into an array of blocks; those of a long line by functions that are as short as its parts."""
        results = self.program.results
        if not self.in_parts:
            self.store_all(results, base)
            return
        for start in range(0, len(results), plan.PART):
            writer = self.part_writer(self.crossing)
            for k in range(start, min(start + plan.PART, len(results))):
                place = writer.slot("%base", k)
                writer.effect(f"store {self.module.real} {writer.value(results[k])}, ptr {place}, align {self.module.align}")
            self.call_part(writer, base)

    def part_writer(self, known: dict[Symbol, int]) -> ProgramBody:
        """The writer of a part's function: the values in `known` are in memory."""
        writer = ProgramBody(self.module, self.program, self.inputs.handed())
        writer.crossing, writer.stacks, writer.scratch_used = known, self.stacks, self.scratch_used
        writer.block_slots = self.block_slots
        return writer

    def call_part(self, writer: ProgramBody, base: str) -> None:
        """Ends the function of a part, and calls it."""
        name = f"@part{len(self.module.functions)}"

        def listed(inputs: ProgramInputs, base: str) -> str:
            return ", ".join(f"ptr {pointer}" for pointer in (*inputs.pointers, "%scratch", base))

        head = f"define internal void {name}({listed(writer.inputs, '%base')}) noinline #0"
        self.module.functions.append(writer.function(head))
        self.effect(f"call void {name}({listed(self.inputs, base)})")

    def cross(self, node: Symbol, slot: int) -> None:
        """Leaves a value in memory for other parts; conditions as 0 or 1."""
        value = self.value(node)
        if node.op in CONDITIONS:
            value = self.line(f"uitofp {self.module.condition} {value} to {self.module.real}")
        self.store_block(value, "%scratch", self.block_slots + slot)

    def value(self, node: Symbol) -> str:
        """The name of a node's value; values computed by another part are loaded."""
        if node not in self.values and node in self.crossing:
            value = self.load_block("%scratch", self.block_slots + self.crossing[node])
            if node.op in CONDITIONS:
                value = self.line(f"fcmp une {self.module.real} {value}, {self.module.constant(0.0)}")
            self.values[node] = value
        return super().value(node)

    # --- inputs, tables, indices --------------------------------------------------------------------------------------
    def compute_input(self, node: Symbol) -> str:
        return self.inputs.read(self, *node.payload)

    def compute_load(self, node: Symbol) -> str:
        return self.inputs.read(self, node.payload[0], self.position(node))

    def position(self, node: Symbol) -> int | str:
        """stride·counter + offset, where a node reads by index."""
        _, stride, offset = node.payload
        if stride == 0:
            return offset
        if node.args[-1] in self.passes:
            return stride * self.passes[node.args[-1]] + offset
        scaled = self.line(f"mul i64 {self.values[node.args[-1]]}, {stride}")
        return self.line(f"add i64 {scaled}, {offset}")

    def compute_lookup(self, node: Symbol) -> str:
        position = self.position(node)
        if isinstance(position, int):
            return self.module.constant(node.payload[0].values[position])
        table = self.module.table(node.payload[0])
        pointer = self.line(f"getelementptr {self.module.element}, ptr {table}, i64 {position}")
        single = self.line(f"load {self.module.element}, ptr {pointer}, {self.module.apart}")
        return self.spread(single, self.module.element, self.module.lanes)

    def compute_ordinal(self, node: Symbol) -> str:
        position = self.position(node)
        if isinstance(position, int):
            return self.module.constant(float(position))
        return self.spread(self.line(f"sitofp i64 {position} to {self.module.element}"), self.module.element, self.module.lanes)

    def compute_capture(self, node: Symbol) -> str:
        return self.value(node.payload)

    # --- loops and calls ----------------------------------------------------------------------------------------------
    def compute_result(self, node: Symbol) -> str:
        (block,) = node.args
        self.value(block)
        if block in self.left:
            return self.load_block(*self.place(node))
        return self.results[block][node.payload]

    def compute_element(self, node: Symbol) -> str:
        self.value(node.args[0])
        source, position = origin(node.args[0]), self.position(node)
        if source in self.side_by_side:
            vector = self.module.vector(self.module.element, source.payload.count)
            return self.line(f"extractelement {vector} {self.side_by_side[source][node.payload[0]]}, i32 {position}")
        if source in self.one_by_one:
            return self.one_by_one[source][int(position)][node.payload[0]]
        stack = self.stacks[source]
        column = stack.columns[node.payload[0]]
        if isinstance(position, int):
            at: int | str = position * stack.apart + column
        else:
            at = self.line(f"add i64 {self.line(f'mul i64 {position}, {stack.apart}')}, {column}")
        return self.load_block(stack.base, at)

    def compute_call(self, node: Symbol) -> str:
        program: Program = node.payload
        self.argument_size = max(self.argument_size, len(node.args), 1)
        read = plan.inputs_read(program)
        if self.handed_over[0] != self.block:  # what another block of instructions has stored may not have been
            self.handed_over = (self.block, {})
        for k, argument in enumerate(node.args):
            if k in read and self.handed_over[1].get(k) is not argument:
                self.store_block(self.value(argument), "%arguments", k)
                self.handed_over[1][k] = argument
        scratch = self.slot("%scratch", plan.scratch_of_loops(self.program)) if plan.scratch_size(self.program) else "null"
        function = called_function(self.module, program)
        if plan.left_in_memory(node):
            self.left[node], self.scratch_used = self.scratch_used, self.scratch_used + len(program.results)
            returned = self.slot("%scratch", self.left[node])
            self.effect(f"call void {function}(ptr %arguments, ptr {returned}, ptr {scratch})")
            return "call"
        self.result_size = max(self.result_size, len(program.results), 1)
        self.effect(f"call void {function}(ptr %arguments, ptr %returned, ptr {scratch})")
        self.results[node] = {k: self.load_block("%returned", k) for k in range(len(program.results))}
        return "call"

    def compute_loop(self, node: Symbol) -> str:
        block: LoopBlock = node.payload
        if node in self.independent:
            write_passes(self, node)
            return "loop"
        real, label = self.module.real, f"loop{self.count}"
        self.count += 1  # a loop in it may begin before any line
        carries, keeps = block.carries, block.keeps
        first = [self.value(a) for a in node.args[: len(carries)]]
        inside = plan.read_inside(node) - self.values.keys()
        for outer in node.args[len(carries) :]:
            if outer not in inside:
                self.value(outer)  # loaded or computed before the loop, not in it
        stack = self.in_results.get(node) or loop_stack(node, self.scratch_used, packs=self.module.packs)
        self.stacks[node] = stack
        self.scratch_used += block.count * len(keeps)
        if plan.in_blocks(node, packs=self.module.packs):
            write_blocks(self, node)
            self.forget(inside)
            return "loop"
        before = self.block
        self.go(label)
        counter, following = f"%{label}.i", f"%{label}.next"
        self.effect(f"{counter} = phi i64 [ 0, %{before} ], [ {following}, %{label}.latch ]")
        for k, start in zip(carries, first, strict=True):
            self.effect(f"%{label}.c{k} = phi {real} [ {start}, %{before} ], [ %{label}.n{k}, %{label}.latch ]")
            self.values[carries[k][0]] = f"%{label}.c{k}"
        for part in block.line:
            if part.op == "counter":
                self.values[part] = counter
        used = uses_of_pass(block)
        going = None if block.condition is None else self.going(block, used, label, counter)
        self.run_line(block.line, used)
        carried = {k: self.value(then) for k, (_, then) in carries.items()}
        for k, kept_symbol in keeps.items():
            at = self.line(f"add i64 {self.line(f'mul i64 {counter}, {stack.apart}')}, {stack.columns[k]}")
            self.store_block(self.value(kept_symbol), stack.base, at)
        self.go(f"{label}.latch")
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
        self.forget(inside)
        return "loop"

    def forget(self, inputs: Iterable[Symbol]) -> None:
        """Has inputs read again where they are used next: they are too many to be kept."""
        for node in inputs:
            self.values.pop(node, None)

    def going(self, block: LoopBlock, used: Mapping[Symbol, int], label: str, counter: str) -> str:
        """The lanes that continue, determined before a pass; the loop ends without any, or after all passes."""
        assert block.condition is not None
        self.run_line(live(block.line, [block.condition]), used)
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
        return self.line(f"call i1 @llvm.vector.reduce.or.v{self.module.lanes}i1({self.module.condition} {condition})")
