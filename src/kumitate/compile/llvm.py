"""A program as LLVM text, for one state or for several lanes at once.

The kernel's signature is `void kernel(i64 n, ptr in…, ptr out…)`: n states, each array with one contiguous row a state. Lanes are
gathered from and scattered to the user's rows; what a program calls works on lanes throughout. The last block of a batch slides
back over states that are done already, so that no tail needs code of its own: n must be at least the number of lanes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ..scalar import Loop, Program, Symbol, Table, origin
from .sincos import emit_sincos

__all__ = ["ENTRY", "emit"]

#: The name of the compiled function.
ENTRY = "kernel"
_STACK_BYTES = 1 << 17  # scratch memory beyond this comes from the heap
_SCATTER_ONE_BY_ONE = 64  # outputs with more elements are scattered by a loop

_ARITHMETIC = {"add": "fadd contract", "sub": "fsub contract", "mul": "fmul contract", "div": "fdiv"}
_COMPARE = {"lt": "fcmp olt", "le": "fcmp ole", "eq": "fcmp oeq"}
_LOGIC = {"and": "and", "or": "or"}
_INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "min": "minnum", "max": "maxnum"}
_LIBRARY = {"exp": 1, "log": 1, "tanh": 1, "atan2": 2}


def emit(program: Program, lanes: int) -> str:
    """The LLVM module of `program` for `lanes` states at a time."""
    module = _Module(lanes)
    module.entry(program)
    return module.text()


class _Module:
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

    def callee(self, program: Program) -> str:
        """The function of a called program: it reads and writes blocks of lanes."""
        if program not in self.names:
            self.names[program] = f"@program{len(self.names)}"
            body = _Function(self, program, blocked=True)
            body.run()
            body.store_blocked()
            self.functions.append(
                f"define internal void {self.names[program]}(ptr %in, ptr %out, ptr %scratch) noinline #0 {{\n"
                + body.finished("ret void")
            )
        return self.names[program]

    def entry(self, program: Program) -> None:
        ins = [f"%in{k}" for k in range(len(program.inputs))]
        outs = [f"%out{k}" for k in range(len(program.outputs))]
        body = _Function(self, program, blocked=False)
        body.batch(ins, outs)
        arguments = ", ".join(["i64 %n", *(f"ptr {p}" for p in (*ins, *outs))])
        self.functions.append(f"define void @{ENTRY}({arguments}) #0 {{\n" + body.finished("ret void"))


class _Function:
    """The code of one program."""

    def __init__(self, module: _Module, program: Program, *, blocked: bool):
        self.module = module
        self.program = program
        self.blocked = blocked
        self.head: list[str] = []
        self.lines: list[str] = []
        self.values: dict[Symbol, str] = {}
        self.results: dict[Symbol, dict[int, str]] = {}
        self.stacks: dict[Symbol, tuple[int, dict[int, int]]] = {}  # loop node → first slot of its stack, column of each value
        self.trig: dict[Symbol, tuple[str, str]] = {}
        self.block = "entry"
        self.count = 0
        self.rows: dict[str, str] = {}
        self.offsets: dict[str, int] = {}
        start = 0
        for array in program.inputs:
            self.offsets[array.name] = start
            start += array.size
        self.scratch_size = 0
        self.argument_size = self.result_size = 0

    # --- writing ------------------------------------------------------------------------------------------------------
    def line(self, text: str) -> str:
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = {text}")
        return name

    def effect(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block = label

    def finished(self, last: str) -> str:
        """The whole body, with the memory it turned out to need."""
        real, module = self.module.real, self.module
        head = ["entry:"]
        if self.argument_size:
            head.append(f"  %arguments = alloca [{self.argument_size} x {real}], align 64")
        if self.result_size:
            head.append(f"  %returned = alloca [{self.result_size} x {real}], align 64")
        tail = [f"  {last}", "}"]
        if not self.blocked:
            slots = _scratch(self.program)
            size = 8 * module.lanes * slots
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
            self.rows[array.name] = self.line(f"getelementptr double, ptr {pointer}, i64 {offset}")
        self.run()
        for node in program.results:
            self.value(node)  # all is read before anything is written: outputs may be inputs
        position = 0
        for pointer, array in zip(outs, program.outputs, strict=True):
            offset = self.line(f"mul i64 {state}, {array.size}")
            row = self.line(f"getelementptr double, ptr {pointer}, i64 {offset}")
            self.scatter_all(program.results[position : position + array.size], row)
            position += array.size
        self.effect("br label %done")
        self.start("done")
        self.effect(f"%following = add i64 %first, {lanes}")
        more = self.line("icmp ult i64 %following, %n")
        self.effect(f"br i1 {more}, label %next, label %end")
        self.start("end")

    def gather(self, row: str, stride: int, element: int | str) -> str:
        """Element `element` of the rows of all lanes."""
        if self.module.lanes == 1:
            return self.line(f"load double, ptr {self.line(f'getelementptr double, ptr {row}, i64 {element}')}, align 8")
        value = "poison"
        for lane in range(self.module.lanes):
            at = element + lane * stride if isinstance(element, int) else self.line(f"add i64 {element}, {lane * stride}")
            pointer = self.line(f"getelementptr double, ptr {row}, i64 {at}")
            loaded = self.line(f"load double, ptr {pointer}, align 8")
            value = self.line(f"insertelement {self.module.real} {value}, double {loaded}, i32 {lane}")
        return value

    def scatter_all(self, nodes: Sequence[Symbol], row: str) -> None:
        """All elements of an output; many of them by a loop over a buffer, which keeps the code small."""
        size = len(nodes)
        if self.module.lanes == 1 or size <= _SCATTER_ONE_BY_ONE:
            for k, node in enumerate(nodes):
                self.scatter(self.value(node), row, size, k)
            return
        self.result_size = max(self.result_size, size)
        for k, node in enumerate(nodes):
            value = self.value(node)
            self.effect(f"store {self.module.real} {value}, ptr {self.slot('%returned', k)}, align {self.align}")
        label, before = f"scatter{self.count}", self.block
        self.effect(f"br label %{label}")
        self.start(label)
        self.effect(f"%{label}.k = phi i64 [ 0, %{before} ], [ %{label}.next, %{label} ]")
        address = self.slot("%returned", f"%{label}.k")
        value = self.line(f"load {self.module.real}, ptr {address}, align {self.align}")
        self.scatter(value, self.line(f"getelementptr double, ptr {row}, i64 %{label}.k"), size, 0)
        self.effect(f"%{label}.next = add i64 %{label}.k, 1")
        more = self.line(f"icmp ult i64 %{label}.next, {size}")
        self.effect(f"br i1 {more}, label %{label}, label %{label}.end")
        self.start(f"{label}.end")

    def scatter(self, value: str, row: str, stride: int, element: int) -> None:
        for lane in range(self.module.lanes):
            pointer = self.line(f"getelementptr double, ptr {row}, i64 {element + lane * stride}")
            single = value
            if self.module.lanes > 1:
                single = self.line(f"extractelement {self.module.real} {value}, i32 {lane}")
            self.effect(f"store double {single}, ptr {pointer}, align 8")

    def slot(self, base: str, index: int | str) -> str:
        """The address of a block of lanes in an array of them."""
        return self.line(f"getelementptr {self.module.real}, ptr {base}, i64 {index}")

    def store_blocked(self) -> None:
        for k, node in enumerate(self.program.results):
            self.effect(f"store {self.module.real} {self.value(node)}, ptr {self.slot('%out', k)}, align {self.align}")

    @property
    def align(self) -> int:
        return 8 * self.module.lanes

    # --- lines --------------------------------------------------------------------------------------------------------
    def run(self) -> None:
        self.run_line(self.program.line)

    def run_line(self, line: Sequence[Symbol]) -> None:
        for node in line:
            # what is only read, not computed, is loaded where it is first used
            if node.op not in ("const", "input", "carried", "counter", "capture"):
                self.value(node)

    def value(self, node: Symbol) -> str:
        found = self.values.get(node)
        if found is None:
            found = self.values[node] = self.compute(node)
        return found

    def compute(self, node: Symbol) -> str:
        op, module = node.op, self.module
        if op == "const":
            return module.constant(node.payload)
        if op in _ARITHMETIC:
            a, b = (self.value(x) for x in node.args)
            return self.line(f"{_ARITHMETIC[op]} {module.real} {a}, {b}")
        if op in ("sin", "cos"):
            (x,) = node.args
            if x not in self.trig:
                self.module.declare(module.real, f"llvm.fma.{module.suffix}", [module.real] * 3)
                self.trig[x] = emit_sincos(
                    self.value(x), module.real, module.integer, self.line, module.constant, module.whole, module.suffix
                )
            return self.trig[x][op == "cos"]
        if op == "neg":
            return self.line(f"fneg {module.real} {self.value(node.args[0])}")
        if op in _INTRINSIC:
            name = f"llvm.{_INTRINSIC[op]}.{module.suffix}"
            module.declare(module.real, name, [module.real] * len(node.args))
            arguments = ", ".join(f"{module.real} {self.value(x)}" for x in node.args)
            return self.line(f"call {module.real} @{name}({arguments})")
        if op in _COMPARE:
            a, b = (self.value(x) for x in node.args)
            return self.line(f"{_COMPARE[op]} {module.real} {a}, {b}")
        if op in _LOGIC:
            a, b = (self.value(x) for x in node.args)
            return self.line(f"{_LOGIC[op]} {module.condition} {a}, {b}")
        if op == "not":
            true = "true" if module.lanes == 1 else "splat (i1 true)"
            return self.line(f"xor {module.condition} {self.value(node.args[0])}, {true}")
        if op == "select":
            c, a, b = (self.value(x) for x in node.args)
            return self.line(f"select {module.condition} {c}, {module.real} {a}, {module.real} {b}")
        if op in _LIBRARY:
            return self.library(node)
        return getattr(self, f"compute_{op}")(node)

    def library(self, node: Symbol) -> str:
        """A function of the C library, lane by lane."""
        module = self.module
        module.declare("double", node.op, ["double"] * _LIBRARY[node.op])
        arguments = [self.value(x) for x in node.args]
        if module.lanes == 1:
            return self.line(f"call double @{node.op}({', '.join(f'double {a}' for a in arguments)})")
        value = "poison"
        for lane in range(module.lanes):
            singles = [self.line(f"extractelement {module.real} {a}, i32 {lane}") for a in arguments]
            result = self.line(f"call double @{node.op}({', '.join(f'double {s}' for s in singles)})")
            value = self.line(f"insertelement {module.real} {value}, double {result}, i32 {lane}")
        return value

    # --- inputs, tables, indices --------------------------------------------------------------------------------------
    def compute_input(self, node: Symbol) -> str:
        return self.read_input(*node.payload)

    def compute_load(self, node: Symbol) -> str:
        return self.read_input(node.payload[0], self.position(node))

    def read_input(self, name: str, element: int | str) -> str:
        if self.blocked:
            offset = self.offsets[name]
            at = element + offset if isinstance(element, int) else self.line(f"add i64 {element}, {offset}")
            return self.line(f"load {self.module.real}, ptr {self.slot('%in', at)}, align {self.align}")
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
        first = self.line(f"insertelement {real} poison, double {single}, i32 0")
        return self.line(f"shufflevector {real} {first}, {real} poison, <{self.module.lanes} x i32> zeroinitializer")

    def compute_lookup(self, node: Symbol) -> str:
        pointer = self.line(f"getelementptr double, ptr {self.module.table(node.payload[0])}, i64 {self.position(node)}")
        return self.spread(self.line(f"load double, ptr {pointer}, align 8"))

    def compute_ordinal(self, node: Symbol) -> str:
        return self.spread(self.line(f"sitofp i64 {self.position(node)} to double"))

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
        return self.line(f"load {self.module.real}, ptr {self.slot('%scratch', at)}, align {self.align}")

    def compute_call(self, node: Symbol) -> str:
        program: Program = node.payload
        real = self.module.real
        self.argument_size = max(self.argument_size, len(node.args), 1)
        self.result_size = max(self.result_size, len(program.results), 1)
        for k, argument in enumerate(node.args):
            self.effect(f"store {real} {self.value(argument)}, ptr {self.slot('%arguments', k)}, align {self.align}")
        scratch = self.slot("%scratch", _own_scratch(self.program.line)) if _scratch(self.program) else "null"
        self.effect(f"call void {self.module.callee(program)}(ptr %arguments, ptr %returned, ptr {scratch})")
        self.results[node] = {
            k: self.line(f"load {real}, ptr {self.slot('%returned', k)}, align {self.align}") for k in range(len(program.results))
        }
        return "call"

    def compute_loop(self, node: Symbol) -> str:
        block: Loop = node.payload
        real, label = self.module.real, f"loop{self.count}"
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
            self.values[block.carried[k]] = f"%{label}.c{k}"
        for part in block.line:
            if part.op == "counter":
                self.values[part] = counter
        self.run_line(block.line)
        carried = {k: self.value(block.following[k]) for k in carries}
        for column, k in enumerate(keeps):
            row = self.line(f"mul i64 {counter}, {len(keeps)}")
            at = self.line(f"add i64 {row}, {self.stacks[node][0] + column}")
            self.effect(f"store {real} {self.value(block.stacked[k])}, ptr {self.slot('%scratch', at)}, align {self.align}")
        going = self.value(block.condition) if block.condition is not None else None
        self.effect(f"br label %{label}.latch")
        self.start(f"{label}.latch")
        for k, value in carried.items():
            # bitcast to itself: a name for the value that the phi can refer to before it is known
            kept = f"select {self.module.condition} {going}, {real} {value}, {real} %{label}.c{k}"
            self.effect(f"%{label}.n{k} = {kept if going else f'bitcast {real} {value} to {real}'}")
        self.effect(f"{following} = add i64 {counter}, 1")
        more = self.line(f"icmp ult i64 {following}, {block.count}")
        if going:
            more = self.line(f"and i1 {more}, {self.any(going)}")
        self.effect(f"br i1 {more}, label %{label}, label %{label}.end")
        self.start(f"{label}.end")
        self.results[node] = {k: f"%{label}.n{k}" for k in carries}
        return "loop"

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


def _scratch(program: Program) -> int:
    """Blocks of lanes that a program needs, the programs it calls included."""
    return _own_scratch(program.line) + max((_scratch(callee) for callee in program.callees), default=0)


def _hex(value: float) -> str:
    """A float64 in LLVM's exact notation."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
