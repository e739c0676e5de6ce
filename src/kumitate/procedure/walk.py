"""Procedures as LLVM text: the walk over the typed tree of each, one instruction after the other, and their module.

A value is a list of names, one per leaf of its kind (`Kind.leaves`): a float is one name, an array of any length two. A name
that the page gives a value once stands for that value; others are kept in variables, which LLVM turns into registers. Of large
records only the leaves that are read are written, and only those that a procedure reads are handed to it.

The entry takes one block of 64-bit words: three for the message of a check that failed, then the results, then the arguments.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ..compile.llvm.writer import Writer, exact
from ..scalar.operations import OPERATIONS
from . import tree
from .kinds import BOOL, FAULT_WORDS, FLOAT, INT, ArrayKind, Kind, NumberKind, RecordKind
from .side_by_side import depends, loops_side_by_side

#: The types of the leaves of values.
LLVM_TYPES = {"float": "double", "int": "i64", "bool": "i1", "pointer": "ptr"}
#: The types of leaves in blocks of words, where another one.
_WORDS = {"bool": "i64"}
#: Functions of more lines that call others or have loops of unknown length are not inlined: a call costs them little, and the
#: time that LLVM takes grows faster than the size of a function.
_INLINED = 60
#: Loops of at most so many passes are written out, if all passes together have at most so many lines.
_UNROLLED, _WRITTEN_OUT = 16, 10000
#: The names of the leaves of a value.
Value = list[str]


class ProcedureWriter(Writer):
    """Writes the function of one procedure: the walk over its tree, one instruction after the other.

    Attributes:
        labels: of the loops around: where a pass ends, and where the loop does.
        calls: of other functions, and loops that are not written out; `long`: whether it has a loop of unknown length.
        more: lines of inner loops that are written out, apart from those that stand here.
        values, paths: of names that have one value, and of those that are another name, or a field of one.
        first: the first leaf of every parameter that keeps its value; `read`: the leaves that are read.
        whole: the `modules.LlvmText` that it is a part of.
    """

    def __init__(self, typed: tree.TypedProcedure, whole: Any):
        super().__init__(whole.module)
        self.typed, self.whole, self.checked = typed, whole, whole.checked
        self.fuses = "" if whole.portable else " contract"  # products and sums
        self.head: list[str] = []
        self.labels: list[tuple[str, str]] = []
        self.calls, self.long, self.more = 0, False, 0
        self.side_by_side = {} if whole.checked else loops_side_by_side(typed)
        self.variables: dict[str, list[str]] = {}
        self.values: dict[str, Value] = {}
        self.paths: dict[str, tree.Expression] = {}
        self.first: dict[str, int] = {}
        self.read: set[int] = set()
        self.old = ""

    def text(self) -> str:
        """The whole function."""
        at = 0
        for name, kind in self.typed.parameters:
            value = [f"%a{at + k}" for k in range(len(kind.leaves))]
            if self.typed.assignments[name] == 1:
                self.values[name], self.first[name] = value, at
            else:
                self.set_name(name, kind, value)
                self.read.update(range(at, at + len(value)))
            at += len(value)
        self.statements(self.typed.body)
        self.whole.needs[self.typed] = sorted(self.read)
        self.return_nothing()
        head = f"define internal {self.whole.head(self.typed)} #0"
        if len(self.lines) > _INLINED and (self.typed.calls or self.long):
            head = head.replace("#0", "noinline #0")
        return self.framed(head, self.head)

    # --- statements ---------------------------------------------------------------------------------------------------
    def statements(self, body: Sequence[tree.Statement]) -> None:
        """Statements in order."""
        for statement in body:
            getattr(self, f"write_{type(statement).__name__}")(statement)

    def set_name(self, name: str, kind: Kind, value: Value) -> None:
        """Gives a name its value."""
        if self.typed.assignments[name] == 1:
            self.values[name] = value
            return
        for variable, leaf, one in zip(self.kept(name, kind), kind.leaves, value, strict=True):
            self.put(variable, leaf, one)

    def kept(self, name: str, kind: Kind) -> list[str]:
        """The variables of a name."""
        if name not in self.variables:
            self.variables[name] = [self.variable(leaf, name) for leaf in kind.leaves]
        return self.variables[name]

    def write_Set(self, node: tree.Set) -> None:
        value, left, values = node.value, [*node.targets], Value()
        parts = value.parts if isinstance(value, tree.Made) and len(left) > 1 else (value,)
        if len(parts) != len(left):
            values = self.value(value)
        else:  # names of records, and of their fields, stand for them, so that only what is read of these is handed on
            left = []
            for target, part in zip(node.targets, parts, strict=True):
                if isinstance(target, tree.SetElement) and target.updated:
                    pointer, kind = self.element_address(target), _number(target.kind)
                    self.old = self.load(pointer, kind)
                    self.store(pointer, kind, self.value(part)[0])
                elif isinstance(target, tree.Local) and self.typed.assignments[target.name] == 1 and self.is_path(part):
                    self.paths[target.name] = part
                else:
                    left, values = [*left, target], [*values, *self.value(part)]
        for target in left:
            count = len(target.kind.leaves)
            if isinstance(target, tree.Local):
                self.set_name(target.name, target.kind, values[:count])
            else:
                self.store(self.element_address(target), _number(target.kind), values[0])
            values = values[count:]

    def is_path(self, node: tree.Expression) -> bool:
        """Whether an expression is a name that keeps its value, or a field of such a one."""
        if isinstance(node, tree.Member):
            return self.is_path(node.record)
        return isinstance(node, tree.Local) and self.typed.assignments[node.name] == 1

    def write_When(self, node: tree.When) -> None:
        self.choose(self.value(node.condition)[0], *(partial(self.statements, body) for body in (node.then, node.other)))

    def write_Repeat(self, node: tree.Repeat) -> None:
        self.long = True
        self.calls += 1
        again, end = self.label(), self.label()
        self.go(again)
        self.labels.append((again, end))
        if not (isinstance(node.condition, tree.Constant) and node.condition.value):
            condition, going = self.value(node.condition)[0], self.label()
            self.effect(f"br i1 {condition}, label %{going}, label %{end}")
            self.start(going)
        self.statements(node.body)
        self.labels.pop()
        self.effect(f"br label %{again}")
        self.start(end)

    def write_passes(self, node: tree.Counting) -> None:
        start, stop = self.value(node.start)[0], self.value(node.stop)[0]
        with self.counting(start, stop, node.step, node.passes) as counter:
            for variable in self.kept(node.name, INT):
                self.put(variable, "int", counter)
            if self.typed.assignments[node.name] == 1:
                self.values[node.name] = [counter]
            self.statements(node.body)
            self.values.pop(node.name, None)  # after the loop it has its last value, which the counter has left behind

    def write_Jump(self, node: tree.Jump) -> None:
        self.effect(f"br label %{self.labels[-1][node.leaves]}")
        self.start(self.label())  # which nothing leads to

    def write_Return(self, node: tree.Return) -> None:
        values = [] if node.value is None else self.value(node.value)
        result, value = self.whole.result_type(self.typed.result), values[0] if len(values) == 1 else "undef"
        if len(values) > 1:
            for k, (leaf, one) in enumerate(zip(self.typed.result.leaves, values, strict=True)):
                value = self.line(f"insertvalue {result} {value}, {LLVM_TYPES[leaf]} {one}, {k}")
        self.effect(f"ret {result} {value}" if values else "ret void")
        self.start(self.label())

    # --- expressions --------------------------------------------------------------------------------------------------
    def value(self, node: tree.Expression) -> Value:
        """The names of the leaves of an expression's value."""
        return self.leaves(node, range(len(node.kind.leaves)))

    def leaves(self, node: tree.Expression, wanted: Sequence[int]) -> Value:
        """The names of some leaves of an expression's value; what is not wanted of names and fields is not written."""
        if isinstance(node, tree.Local):
            if node.name in self.paths:
                return self.leaves(self.paths[node.name], wanted)
            if node.name in self.first:
                self.read.update(self.first[node.name] + k for k in wanted)
            if node.name in self.values:
                return [self.values[node.name][k] for k in wanted]
            variables = self.kept(node.name, node.kind)  # if it has none yet, nothing leads here
            return [self.get(variables[k], node.kind.leaves[k]) for k in wanted]
        if isinstance(node, tree.Member):
            assert isinstance(node.record.kind, RecordKind)
            start = node.record.kind.spans[node.position].start
            return self.leaves(node.record, [start + k for k in wanted])
        if isinstance(node, tree.Made):
            assert isinstance(node.kind, RecordKind)
            parts = [[k - span.start for k in wanted if k in span] for span in node.kind.spans]
            return [leaf for part, some in zip(node.parts, parts, strict=True) for leaf in self.leaves(part, some)]
        found: Value = getattr(self, f"value_{type(node).__name__}")(node)
        return [found[k] for k in wanted]

    def value_Constant(self, node: tree.Constant) -> Value:
        if isinstance(node.kind, ArrayKind):
            return [self.module.array(self._nested(node.value, node.kind.shape, node.kind.element))]
        return [self.number(node.value, _number(node.kind))]

    def value_Old(self, node: tree.Old) -> Value:
        return [self.old]

    def value_Operation(self, node: tree.Operation) -> Value:
        operands = [self.value(argument)[0] for argument in node.arguments]
        if self.checked:
            self.check_operation(node, operands)
        return [self.operation(node.name, operands)]

    def value_Chosen(self, node: tree.Chosen) -> Value:
        variables = [self.variable(leaf, "chosen") for leaf in node.kind.leaves]

        def put(part: tree.Expression) -> None:
            for variable, leaf, one in zip(variables, node.kind.leaves, self.value(part), strict=True):
                self.put(variable, leaf, one)

        self.choose(self.value(node.condition)[0], *(partial(put, part) for part in (node.then, node.other)))
        return [self.get(variable, leaf) for variable, leaf in zip(variables, node.kind.leaves, strict=True)]

    def value_ArrayElement(self, node: tree.ArrayElement) -> Value:
        return [self.load(self.element_address(node), _number(node.kind))]

    def value_ArrayRow(self, node: tree.ArrayRow) -> Value:
        return [self.element_address(node)]

    def value_ArraySlice(self, node: tree.ArraySlice) -> Value:
        pointer = self.address_of(node.array)
        start = self.value(node.start)[0]
        stop = self.rows_of(node.array) if node.stop is None else self.value(node.stop)[0]
        if self.checked:
            message = "from {0} to {1}, where the array ends or before; slices begin at 0 or later, and end after that"
            for a, b in ((self.number(0, INT), start), (start, stop), (stop, self.rows_of(node.array))):
                self.check(self.operation("le.i", [a, b]), node.site, message, [start, stop])
        if isinstance(node.start, tree.Constant) and node.start.value == 0:
            return [pointer] if node.kind.is_fixed else [pointer, stop]
        pointer = self.address(pointer, _array(node.array.kind), [start])
        return [pointer] if node.kind.is_fixed else [pointer, self.operation("sub.i", [stop, start])]

    def value_Length(self, node: tree.Length) -> Value:
        return self.leaves(node.array, [1])

    def value_Fresh(self, node: tree.Fresh) -> Value:
        return [self.fresh(node.kind)]

    def value_Invoke(self, node: tree.Invoke) -> Value:
        given, at = [], 0
        needed = self.whole.needs[node.procedure]
        for argument in node.arguments:
            count = len(argument.kind.leaves)
            given += self.leaves(argument, [k - at for k in needed if at <= k < at + count])
            at += count
        if self.checked:
            self.check_apart(node, dict(zip(needed, given, strict=True)))
        self.calls += 1
        types = [leaf for _, kind in node.procedure.parameters for leaf in kind.leaves]
        passed = [f"{LLVM_TYPES[types[k]]} {argument}" for k, argument in zip(needed, given, strict=True)]
        result, count = self.whole.result_type(node.kind), len(node.kind.leaves)
        call = f"call {result} @{self.whole.names[node.procedure]}({', '.join([*self.whole.fault(), *passed])})"
        found: Value = [self.line(call)] if count else []
        if count > 1:
            found = [self.line(f"extractvalue {result} {found[0]}, {k}") for k in range(count)]
        if not count:
            self.effect(call)
        if self.checked:
            failed = self.line(f"icmp ne i64 {self.line('load i64, ptr %words')}, 0")
            leaving, going = self.label(), self.label()
            self.effect(f"br i1 {failed}, label %{leaving}, label %{going}")
            self.start(leaving)
            self.return_nothing()
            self.start(going)
        return found

    def value_InvokeAt(self, node: tree.InvokeAt) -> Value:
        given = [leaf for argument in node.invoke.arguments for leaf in self.value(argument)]
        leaves = [leaf for argument in node.invoke.arguments for leaf in argument.kind.leaves]
        function = self.line(f"inttoptr i64 {self.value(node.address)[0]} to ptr")
        self.calls += 1
        self.count += 1
        words, results = f"%words{self.count}", node.kind.leaves
        self.head.append(f"  {words} = alloca [{FAULT_WORDS + len(results) + len(given)} x i64], align 64")

        def word(k: int) -> str:
            return self.line(f"getelementptr i64, ptr {words}, i64 {k}")

        self.effect(f"store i64 0, ptr {words}, align 8")
        for k, (leaf, value) in enumerate(zip(leaves, given, strict=True), FAULT_WORDS + len(results)):
            value = self.line(f"zext i1 {value} to i64") if leaf == "bool" else value
            self.effect(f"store {_WORDS.get(leaf, LLVM_TYPES[leaf])} {value}, ptr {word(k)}, align 8")
        self.effect(f"call void {function}(ptr {words})")
        if self.checked:
            sound = self.line(f"icmp eq i64 {self.line(f'load i64, ptr {words}')}, 0")
            self.check(sound, node.site, "the procedure at this address failed a check; call it by itself", ())
        found: Value = []
        for k, leaf in enumerate(results, FAULT_WORDS):
            value = self.line(f"load {_WORDS.get(leaf, LLVM_TYPES[leaf])}, ptr {word(k)}, align 8")
            found.append(self.line(f"icmp ne i64 {value}, 0") if leaf == "bool" else value)
        return found

    def value_RunProgram(self, node: tree.RunProgram) -> Value:
        count = None if node.count is None else self.value(node.count)[0]
        arrays: list[tuple[str, str | None]] = []
        for rows, index in node.arrays:
            if count is not None and self.checked:
                self.check_list(node, count, rows, index)
            arrays.append((self.boxed(rows), None if index is None else self.address_of(index)))
        short = self.whole.short(node.program) if count is None else None
        if short is not None:
            self.effect(f"call void @{short}({', '.join(f'ptr {rows}' for rows, _ in arrays)})")
            return []
        self.calls += 1
        listed = tuple(index is not None for _, index in arrays)
        name = self.whole.program(node.program, listed, several=count is not None)
        given = [f"i64 {count or 1}", *(f"ptr {part}" for pair in arrays for part in pair if part is not None)]
        self.effect(f"call void @{name}({', '.join(given)})")
        return []

    def value_RunAt(self, node: tree.RunAt) -> Value:
        address, arrays = self.value(node.address)[0], [self.boxed(array) for array in node.arrays]
        self.calls += 1
        function = self.line(f"inttoptr i64 {address} to ptr")
        self.effect(f"call void {function}({', '.join(['i64 1', *(f'ptr {part}' for part in arrays)])})")
        return []

    def boxed(self, node: tree.Expression) -> str:
        """The address of an array, or of a number."""
        if isinstance(node.kind, ArrayKind):
            return self.address_of(node)
        box = self.fresh(ArrayKind(FLOAT, (1,)))
        self.store(box, FLOAT, self.value(node)[0])
        return box

    # --- arrays -------------------------------------------------------------------------------------------------------
    def address_of(self, node: tree.Expression) -> str:
        """The address of an array."""
        return self.leaves(node, [0])[0]

    def rows_of(self, node: tree.Expression) -> str:
        """The number of rows of an array."""
        rows = _array(node.kind).shape[0]
        return self.leaves(node, [1])[0] if rows is None else self.number(rows, INT)

    def element_address(self, node: tree.ArrayElement | tree.ArrayRow | tree.SetElement) -> str:
        """The address of an element or a row."""
        kind = _array(node.array.kind)
        pointer = self.address_of(node.array)
        indices = [self.value(index)[0] for index in node.indices]
        if self.checked:
            sizes = [self.rows_of(node.array), *(self.number(size, INT) for size in kind.row)]
            for k, (written, index, size) in enumerate(zip(node.indices, indices, sizes, strict=False)):
                if not isinstance(written, tree.Constant) or kind.shape[k] is None:  # constant ones were checked while reading
                    self.check_between(index, size, node.site)
        return self.address(pointer, kind, indices)

    # --- checks -------------------------------------------------------------------------------------------------------
    def check_between(self, index: str, size: str, site: tree.Site) -> None:
        """An index is from 0 to the size, which it does not reach."""
        zero = self.number(0, INT)
        for holds in (self.operation("ge.i", [index, zero]), self.operation("lt.i", [index, size])):
            self.check(
                holds, site, "index {0} of an axis of {1} elements; indices are from 0 on, and below that", [index, size]
            )

    def check_apart(self, node: tree.Invoke, given: dict[int, str]) -> None:
        """No array that is written to overlaps another argument; fields of records are too many to compare at every call."""
        arrays: list[tuple[str, str, str]] = []  # the name, the address, the number of elements
        at = 0
        for name, kind in node.procedure.parameters:
            if isinstance(kind, ArrayKind) and at in given and (kind.is_fixed or at + 1 in given):
                rows = self.number(kind.shape[0] or 0, INT) if kind.is_fixed else given[at + 1]
                arrays.append((name, given[at], self.operation("mul.i", [rows, self.number(kind.row_size, INT)])))
            at += len(kind.leaves)
        for (a, first, size), (b, second, other) in itertools.combinations(arrays, 2):
            if not {a, b}.isdisjoint(node.procedure.writes):
                (begin, end), (start, stop) = (
                    (pointer, self.line(f"getelementptr i64, ptr {pointer}, i64 {count}"))
                    for pointer, count in ((first, size), (second, other))
                )
                before, after = (self.line(f"icmp ule ptr {p}, {r}") for p, r in ((end, start), (stop, begin)))
                holds = self.line(f"or i1 {before}, {after}")
                what = f"{node.procedure.name} writes to {a if a in node.procedure.writes else b}, and {a} and {b} overlap"
                self.check(holds, node.site, what, [size, other])

    def check_list(self, node: tree.RunProgram, count: str, rows: tree.Expression, index: tree.Expression | None) -> None:
        """A program's list is as long as its count, and names rows that there are."""
        length = self.rows_of(rows if index is None else index)
        holds = self.operation("le.i", [count, length])
        self.check(holds, node.site, "{0} evaluations on a list of {1}", [count, length])
        if index is not None:
            with self.counting(self.number(0, INT), count, 1, None) as counter:
                place = self.load(self.address(self.address_of(index), _array(index.kind), [counter]), INT)
                self.check_between(place, self.rows_of(rows), node.site)

    def check_operation(self, node: tree.Operation, operands: Sequence[str]) -> None:
        """Divisors of integers are not 0, and shifts are from 0 to 63."""
        zero, most = self.number(0, INT), self.number(63, INT)
        if node.name in ("floordiv.i", "mod.i"):
            self.check(self.operation("ne.i", [operands[1], zero]), node.site, "divides {0} by {1}", operands)
        elif node.name in ("shl.i", "shr.i"):
            for a, b in ((zero, operands[1]), (operands[1], most)):
                self.check(self.operation("le.i", [a, b]), node.site, "shifts {0} by {1}; shifts are from 0 to 63", operands)

    # --- several passes of a loop at once -----------------------------------------------------------------------------
    def write_Counting(self, node: tree.Counting) -> None:
        count = self.side_by_side.get(id(node))
        if count is None:
            self.write_passes(node)
            return
        start = self.value(node.start)[0]
        for statement in node.body:
            assert isinstance(statement, tree.Set)
            (place,) = statement.targets
            assert isinstance(place, tree.SetElement)
            pointer = self.first_of(place, start)
            if place.updated:
                self.old = self.line(f"load <{count} x double>, ptr {pointer}, align 8")
            value = self.several(statement.value, node.name, start, count)
            self.effect(f"store <{count} x double> {value}, ptr {pointer}, align 8")
        for variable in self.kept(node.name, INT):
            self.put(variable, "int", str(int(start) + count - 1))

    def first_of(self, place: tree.ArrayElement | tree.SetElement, start: str) -> str:
        """The address of the element of the first pass."""
        indices = [self.value(index)[0] for index in place.indices[:-1]]
        return self.address(self.address_of(place.array), _array(place.array.kind), [*indices, start])

    def several(self, node: tree.Expression, name: str, start: str, count: int) -> str:
        """The values of an expression in all passes."""
        if isinstance(node, tree.Old):
            return self.old
        if not depends(node, name) and not (
            isinstance(node, tree.Operation) and any(isinstance(a, tree.Old) for a in node.arguments)
        ):
            return self.spread(self.value(node)[0], "double", count)
        if isinstance(node, tree.ArrayElement):
            return self.line(f"load <{count} x double>, ptr {self.first_of(node, start)}, align 8")
        assert isinstance(node, tree.Operation)
        operands = [self.several(argument, name, start, count) for argument in node.arguments]
        return self.operate(self.module.wide(count).typed(OPERATIONS[node.name], self.fuses), operands)

    # --- values and memory ----------------------------------------------------------------------------------------------
    @staticmethod
    def nothing(result: str) -> str:
        """A result that nobody reads."""
        return "zeroinitializer" if result.startswith("{") else {"double": "0.0", "i64": "0", "i1": "false"}[result]

    def number(self, value: float, kind: NumberKind) -> str:
        """A constant as an operand."""
        if kind == FLOAT:
            return exact(value)
        return str(int(value)) if kind == INT else str(bool(value)).lower()

    def _nested(self, value: object, shape: Sequence[int | None], element: NumberKind) -> str:
        if not shape:
            return f"{LLVM_TYPES[element.name]} {self.number(value, element)}"  # type: ignore[arg-type]
        parts = ", ".join(self._nested(part, shape[1:], element) for part in value)  # type: ignore[attr-defined]
        return f"{_nested_type(shape, element)} [{parts}]"

    def operation(self, name: str, operands: Sequence[str]) -> str:
        """A row of the table of operations."""
        return self.operate(self.module.typed(OPERATIONS[name], self.fuses), operands)

    def variable(self, leaf: str, name: str) -> str:
        """A new variable of the function, which is 0 until it is given a value."""
        self.count += 1
        made, kind = f"%{name}.{self.count}", LLVM_TYPES[leaf]
        zero = {"ptr": "null"}.get(kind) or self.nothing(kind)
        self.head += [f"  {made} = alloca {kind}", f"  store {kind} {zero}, ptr {made}"]
        return made

    def get(self, variable: str, leaf: str) -> str:
        """Its value now."""
        return self.line(f"load {LLVM_TYPES[leaf]}, ptr {variable}")

    def put(self, variable: str, leaf: str, value: str) -> None:
        """Gives it a value."""
        self.effect(f"store {LLVM_TYPES[leaf]} {value}, ptr {variable}")

    def address(self, pointer: str, kind: ArrayKind, indices: Sequence[str]) -> str:
        """The address of an element or a row."""
        places = "".join(f", i64 {index}" for index in indices)
        return self.line(f"getelementptr inbounds {_nested_type(kind.row, kind.element)}, ptr {pointer}{places}")

    def load(self, pointer: str, kind: NumberKind) -> str:
        """The number at an address."""
        return self.line(f"load {LLVM_TYPES[kind.name]}, ptr {pointer}, align 8")

    def store(self, pointer: str, kind: NumberKind, value: str) -> None:
        """Puts a number at an address."""
        self.effect(f"store {LLVM_TYPES[kind.name]} {value}, ptr {pointer}, align 8")

    def fresh(self, kind: ArrayKind) -> str:
        """The address of a local array, filled with zeros."""
        self.count += 1
        made = f"%local{self.count}"
        self.head.append(f"  {made} = alloca {_nested_type(kind.shape, kind.element)}, align 64")
        size = 8 * kind.row_size * (kind.shape[0] or 0)
        self.effect(f"call void @llvm.memset.p0.i64(ptr align 64 {made}, i8 0, i64 {size}, i1 false)")
        return made

    # --- paths --------------------------------------------------------------------------------------------------------
    def choose(self, condition: str, then: Callable[[], None], other: Callable[[], None]) -> None:
        """Writes what is run if a condition holds, and what if it does not."""
        yes, no, end = self.label(), self.label(), self.label()
        self.effect(f"br i1 {condition}, label %{yes}, label %{no}")
        for label, write in ((yes, then), (no, other)):
            self.start(label)
            write()
            self.effect(f"br label %{end}")
        self.start(end)

    @contextlib.contextmanager
    def counting(self, start: str, stop: str, step: int, passes: int | None) -> Iterator[str]:
        """Repeats what is written inside, with the name of the counter; `passes` says how many there are if that is known."""
        again, following, end, body = (self.label() for _ in range(4))
        before, counter = self.block, f"%k{again}"
        self.go(again)
        self.effect(f"{counter} = phi i64 [ {start}, %{before} ], [ {counter}.next, %{following} ]")
        going = self.line(f"icmp {'slt' if step > 0 else 'sgt'} i64 {counter}, {stop}")
        self.effect(f"br i1 {going}, label %{body}, label %{end}")
        self.start(body)
        self.labels.append((following, end))
        begin, calls, around, self.more = len(self.lines), self.calls, self.more, 0
        yield counter
        self.labels.pop()
        self.go(following)
        self.effect(f"{counter}.next = add nsw i64 {counter}, {step}")
        written = len(self.lines) - begin
        mark, lines = "", written + self.more
        self.long |= passes is None
        if passes is None or passes > _UNROLLED or passes * lines > _WRITTEN_OUT or self.calls > calls:
            self.calls += 1
        else:
            mark = f", !llvm.loop !{self.whole.loops}"
            self.whole.loops += 1
            lines *= passes
        self.more = around + lines - written
        self.effect(f"br label %{again}{mark}")
        self.start(end)

    def check(self, condition: str, site: tree.Site, what: str, values: Sequence[str]) -> None:
        """Ends checked code with a message if a condition does not hold; `what` has places for two integers."""
        self.whole.sites.append((site, what))
        failed, going = self.label(), self.label()
        self.effect(f"br i1 {condition}, label %{going}, label %{failed}")
        self.start(failed)
        for k, word in enumerate((str(len(self.whole.sites)), *values)):
            place = self.line(f"getelementptr i64, ptr %words, i64 {k}")
            self.effect(f"store i64 {word}, ptr {place}")
        self.return_nothing()
        self.start(going)

    def return_nothing(self) -> None:
        """Returns a result that nobody reads."""
        result = self.whole.result_type(self.typed.result)
        self.effect("ret void" if result == "void" else f"ret {result} {self.nothing(result)}")


def _number(kind: Kind) -> NumberKind:
    assert kind in (FLOAT, INT, BOOL)
    return kind  # type: ignore[return-value]


def _array(kind: Kind) -> ArrayKind:
    assert isinstance(kind, ArrayKind)
    return kind


def _nested_type(shape: Sequence[int | None], element: NumberKind) -> str:
    """The type of nested arrays of a shape."""
    kind = LLVM_TYPES[element.name]
    for size in reversed(shape):
        kind = f"[{size} x {kind}]"
    return kind
