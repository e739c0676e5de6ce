"""One procedure as a function of LLVM text."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...scalar import Program
from ..kinds import FLOAT, INT, ArrayKind, NumberKind
from ..operations import OPERATIONS
from ..tree import ArrayElement, Constant, Counting, Expression, Old, Operation, Set, SetElement, Site, TypedProcedure
from .vectors import depends, loops_side_by_side
from .walk import ProcedureWriter

if TYPE_CHECKING:
    from .llvm_form import LlvmText

__all__ = ["LLVM_TYPES", "LlvmFunction"]

#: Loops of at most so many passes are written out, if all passes together have at most so many lines.
_UNROLLED, _WRITTEN_OUT = 16, 10000
#: Functions of more lines that call others or have loops of unknown length are not inlined: a call costs them little, and the
#: time that LLVM takes grows faster than the size of a function.
_INLINED = 60
#: The types of the leaves of values.
LLVM_TYPES = {"float": "double", "int": "i64", "bool": "i1", "pointer": "ptr"}


@dataclass
class _Count:
    """A loop that counts: its counter, label and step; the line and the number of calls where it begins; lines of inner loops
    that are written out, apart from those that stand here."""

    counter: str
    again: str
    step: int
    begin: int
    calls: int
    more: int = 0


class LlvmFunction(ProcedureWriter):
    """Writes one function. `labels` are of the loops around: where a pass ends, and where the loop does."""

    def __init__(self, typed: TypedProcedure, module: LlvmText):
        super().__init__(typed, module.names, module.needs, checked=module.checked)
        self.module = module
        self.long = False  # whether it has a loop of unknown length
        self.side_by_side = {} if module.checked else loops_side_by_side(typed)
        self.head: list[str] = []
        self.lines: list[str] = []
        self.count = 0
        self.label = "entry"
        self.labels: list[tuple[str, str]] = []
        self.whens: list[list[str]] = []
        self.counts: list[_Count] = []
        self.calls = 0  # of other functions, and loops that are not written out

    def text(self) -> str:
        """The whole function."""
        leaves = [leaf for _, kind in self.typed.parameters for leaf in kind.leaves]
        self.write_body([f"%a{k}" for k in range(len(leaves))])
        needs = self.needs[self.typed]
        parameters = [f"{LLVM_TYPES[leaves[k]]}{' noalias' if leaves[k] == 'pointer' else ''} %a{k}" for k in needs]
        result = self.module.result_type(self.typed.result)
        self.effect("ret void" if result == "void" else f"ret {result} {self.nothing(result)}")
        head = f"define internal {result} @{self.functions[self.typed]}({', '.join([*self.module.fault(), *parameters])}) #0 {{"
        if len(self.lines) > _INLINED and (self.typed.calls or self.long):
            head = head.replace("#0 {", "noinline #0 {")
        return "\n".join([head, "entry:", *self.head, *self.lines, "}"])

    @staticmethod
    def nothing(result: str) -> str:
        """A result that nobody reads."""
        return "zeroinitializer" if result.startswith("{") else {"double": "0.0", "i64": "0", "i1": "false"}[result]

    # --- instructions -------------------------------------------------------------------------------------------------
    def line(self, text: str) -> str:
        """An instruction with a result; the name of that."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def effect(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {text}")

    def fresh_label(self) -> str:
        """A label that is not in use."""
        self.count += 1
        return f"b{self.count}"

    def start(self, label: str) -> None:
        """Begins a basic block."""
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str) -> None:
        """Ends the block here; what follows is not reached from here."""
        self.effect(f"br label %{label}")
        self.start(self.fresh_label())

    # --- values -------------------------------------------------------------------------------------------------------
    def number(self, value: float, kind: NumberKind) -> str:
        if kind == FLOAT:
            return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return str(int(value)) if kind == INT else str(bool(value)).lower()

    def table(self, constant: Constant) -> str:
        kind = constant.kind
        assert isinstance(kind, ArrayKind)
        text = self._nested(constant.value, kind.shape, kind.element)
        return self.module.tables.setdefault(text, f"@table{len(self.module.tables)}")

    def _nested(self, value: object, shape: Sequence[int | None], element: NumberKind) -> str:
        if not shape:
            return f"{LLVM_TYPES[element.name]} {self.number(value, element)}"  # type: ignore[arg-type]
        parts = ", ".join(self._nested(part, shape[1:], element) for part in value)  # type: ignore[attr-defined]
        return f"{_rows(shape, element)} [{parts}]"

    def operation(self, name: str, operands: Sequence[str]) -> str:
        contract = "" if self.checked else " contract"
        return self.line(OPERATIONS[name].llvm.format(*operands, contract=contract))

    def variable(self, leaf: str, name: str) -> str:
        self.count += 1
        made, kind = f"%{name}.{self.count}", LLVM_TYPES[leaf]
        zero = {"ptr": "null"}.get(kind) or self.nothing(kind)
        self.head += [f"  {made} = alloca {kind}", f"  store {kind} {zero}, ptr {made}"]
        return made

    def get(self, variable: str, leaf: str) -> str:
        return self.line(f"load {LLVM_TYPES[leaf]}, ptr {variable}")

    def put(self, variable: str, leaf: str, value: str) -> None:
        self.effect(f"store {LLVM_TYPES[leaf]} {value}, ptr {variable}")

    def address(self, pointer: str, kind: ArrayKind, indices: Sequence[str]) -> str:
        places = "".join(f", i64 {index}" for index in indices)
        return self.line(f"getelementptr inbounds {_rows(kind.row, kind.element)}, ptr {pointer}{places}")

    def apart(self, pointer: str, size: str, other: str, other_size: str) -> str:
        ends = []
        for start, count in ((pointer, size), (other, other_size)):
            ends.append((start, self.line(f"getelementptr i64, ptr {start}, i64 {count}")))
        (first, first_end), (second, second_end) = ends
        before = self.line(f"icmp ule ptr {first_end}, {second}")
        after = self.line(f"icmp ule ptr {second_end}, {first}")
        return self.line(f"or i1 {before}, {after}")

    def load(self, pointer: str, kind: NumberKind) -> str:
        return self.line(f"load {LLVM_TYPES[kind.name]}, ptr {pointer}, align 8")

    def store(self, pointer: str, kind: NumberKind, value: str) -> None:
        self.effect(f"store {LLVM_TYPES[kind.name]} {value}, ptr {pointer}, align 8")

    def fresh(self, kind: ArrayKind) -> str:
        self.count += 1
        made = f"%local{self.count}"
        self.head.append(f"  {made} = alloca {_rows(kind.shape, kind.element)}, align 64")
        size = 8 * kind.row_size * (kind.shape[0] or 0)
        self.effect(f"call void @llvm.memset.p0.i64(ptr align 64 {made}, i8 0, i64 {size}, i1 false)")
        return made

    def invoke(self, called: TypedProcedure, arguments: Sequence[str]) -> list[str]:
        leaves = [leaf for _, kind in called.parameters for leaf in kind.leaves]
        types = [LLVM_TYPES[leaves[k]] for k in self.needs[called]]
        given = [f"{kind} {argument}" for kind, argument in zip(types, arguments, strict=True)]
        result = self.module.result_type(called.result)
        self.calls += 1
        call = f"call {result} @{self.functions[called]}({', '.join([*self.module.fault(), *given])})"
        found: list[str] = []
        if result == "void":
            self.effect(call)
        else:
            whole = self.line(call)
            count = len(called.result.leaves)
            found = [whole] if count == 1 else [self.line(f"extractvalue {result} {whole}, {k}") for k in range(count)]
        if self.checked:
            failed = self.line(f"icmp ne i64 {self.line('load i64, ptr %words')}, 0")
            self._return_if(failed)
        return found

    # --- several passes of a loop at once -----------------------------------------------------------------------------
    def write_Counting(self, node: Counting) -> None:
        count = self.side_by_side.get(id(node))
        if count is None:
            super().write_Counting(node)
            return
        start = self.value(node.start)[0]
        for statement in node.body:
            assert isinstance(statement, Set)
            (place,) = statement.targets
            assert isinstance(place, SetElement)
            pointer = self.first_of(place, start)
            if place.updated:
                self.old = self.line(f"load <{count} x double>, ptr {pointer}, align 8")
            value = self.several(statement.value, node.name, start, count)
            self.effect(f"store <{count} x double> {value}, ptr {pointer}, align 8")
        for variable in self.kept(node.name, INT):
            self.put(variable, "int", str(int(start) + count - 1))

    def first_of(self, place: ArrayElement | SetElement, start: str) -> str:
        """The address of the element of the first pass."""
        kind = place.array.kind
        assert isinstance(kind, ArrayKind)
        indices = [self.value(index)[0] for index in place.indices[:-1]]
        return self.address(self.address_of(place.array), kind, [*indices, start])

    def several(self, node: Expression, name: str, start: str, count: int) -> str:
        """The values of an expression in all passes."""
        if isinstance(node, Old):
            return self.old
        if not depends(node, name) and not (isinstance(node, Operation) and any(isinstance(a, Old) for a in node.arguments)):
            lane = self.line(f"insertelement <{count} x double> poison, double {self.value(node)[0]}, i32 0")
            zeros = f"<{count} x i32> zeroinitializer"
            return self.line(f"shufflevector <{count} x double> {lane}, <{count} x double> poison, {zeros}")
        if isinstance(node, ArrayElement):
            return self.line(f"load <{count} x double>, ptr {self.first_of(node, start)}, align 8")
        assert isinstance(node, Operation)
        operands = [self.several(argument, name, start, count) for argument in node.arguments]
        pattern = OPERATIONS[node.name].llvm.replace("double", f"<{count} x double>")
        return self.line(pattern.format(*operands, contract=" contract"))

    # --- traced programs ----------------------------------------------------------------------------------------------
    def run_program(self, program: Program, count: str | None, arrays: Sequence[tuple[str, str | None]]) -> None:
        short = self.module.short(program) if count is None else None
        if short is not None:
            self.effect(f"call void @{short}({', '.join(f'ptr {rows}' for rows, _ in arrays)})")
            return
        self.calls += 1
        listed = tuple(index is not None for _, index in arrays)
        name = self.module.program(program, listed, several=count is not None)
        given = [f"i64 {count or 1}", *(f"ptr {part}" for pair in arrays for part in pair if part is not None)]
        self.effect(f"call void @{name}({', '.join(given)})")

    def run_at(self, address: str, arrays: Sequence[str]) -> None:
        self.calls += 1
        function = self.line(f"inttoptr i64 {address} to ptr")
        self.effect(f"call void {function}({', '.join(['i64 1', *(f'ptr {part}' for part in arrays)])})")

    # --- paths --------------------------------------------------------------------------------------------------------
    def when(self, condition: str) -> None:
        then, other, end = self.fresh_label(), self.fresh_label(), self.fresh_label()
        self.effect(f"br i1 {condition}, label %{then}, label %{other}")
        self.whens.append([other, end])
        self.start(then)

    def otherwise(self) -> None:
        other, end = self.whens[-1]
        self.effect(f"br label %{end}")
        self.start(other)
        self.whens[-1][0] = ""

    def end_when(self) -> None:
        other, end = self.whens.pop()
        self.effect(f"br label %{end}")
        if other:
            self.start(other)
            self.effect(f"br label %{end}")
        self.start(end)

    def begin_loop(self) -> None:
        self.long = True
        self.calls += 1
        again, end = self.fresh_label(), self.fresh_label()
        self.effect(f"br label %{again}")
        self.start(again)
        self.labels.append((again, end))

    def leave_unless(self, condition: str) -> None:
        going = self.fresh_label()
        self.effect(f"br i1 {condition}, label %{going}, label %{self.labels[-1][1]}")
        self.start(going)

    def end_loop(self) -> None:
        again, end = self.labels.pop()
        self.effect(f"br label %{again}")
        self.start(end)

    def begin_count(self, start: str, stop: str, step: int) -> str:
        again, following, end, body = (self.fresh_label() for _ in range(4))
        before = self.label
        self.effect(f"br label %{again}")
        self.start(again)
        counter = f"%k{again}"
        self.effect(f"{counter} = phi i64 [ {start}, %{before} ], [ {counter}.next, %{following} ]")
        going = self.line(f"icmp {'slt' if step > 0 else 'sgt'} i64 {counter}, {stop}")
        self.effect(f"br i1 {going}, label %{body}, label %{end}")
        self.start(body)
        self.labels.append((following, end))
        self.counts.append(_Count(counter, again, step, len(self.lines), self.calls))
        return counter

    def end_count(self, passes: int | None) -> None:
        following, end = self.labels.pop()
        loop = self.counts.pop()
        self.effect(f"br label %{following}")
        self.start(following)
        self.effect(f"{loop.counter}.next = add nsw i64 {loop.counter}, {loop.step}")
        mark, lines = "", len(self.lines) - loop.begin + loop.more
        self.long |= passes is None
        if passes is None or passes > _UNROLLED or passes * lines > _WRITTEN_OUT or self.calls > loop.calls:
            self.calls += 1
        else:
            mark = f", !llvm.loop !{self.module.loops}"
            self.module.loops += 1
            lines *= passes
        if self.counts:
            self.counts[-1].more += lines - (len(self.lines) - loop.begin)
        self.effect(f"br label %{loop.again}{mark}")
        self.start(end)

    def leave(self) -> None:
        self.jump(self.labels[-1][1])

    def again(self) -> None:
        self.jump(self.labels[-1][0])

    def give(self, values: Sequence[str]) -> None:
        result = self.module.result_type(self.typed.result)
        types = [LLVM_TYPES[leaf] for leaf in self.typed.result.leaves]
        value = values[0] if len(values) == 1 else "undef"
        if len(values) > 1:
            for k, (kind, one) in enumerate(zip(types, values, strict=True)):
                value = self.line(f"insertvalue {result} {value}, {kind} {one}, {k}")
        self.effect(f"ret {result} {value}" if values else "ret void")
        self.start(self.fresh_label())

    def check(self, condition: str, site: Site, what: str, values: Sequence[str]) -> None:
        self.module.sites.append((site, what))
        failed, going = self.fresh_label(), self.fresh_label()
        self.effect(f"br i1 {condition}, label %{going}, label %{failed}")
        self.start(failed)
        for k, word in enumerate((str(len(self.module.sites)), *values)):
            place = self.line(f"getelementptr i64, ptr %words, i64 {k}")
            self.effect(f"store i64 {word}, ptr {place}")
        self._return()
        self.start(going)

    def _return_if(self, condition: str) -> None:
        leaving, going = self.fresh_label(), self.fresh_label()
        self.effect(f"br i1 {condition}, label %{leaving}, label %{going}")
        self.start(leaving)
        self._return()
        self.start(going)

    def _return(self) -> None:
        result = self.module.result_type(self.typed.result)
        self.effect("ret void" if result == "void" else f"ret {result} {self.nothing(result)}")


def _rows(shape: Sequence[int | None], element: NumberKind) -> str:
    """The type of nested arrays of a shape."""
    kind = LLVM_TYPES[element.name]
    for size in reversed(shape):
        kind = f"[{size} x {kind}]"
    return kind
