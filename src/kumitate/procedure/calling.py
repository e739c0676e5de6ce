"""Calls: of functions that are operations, of other procedures, and of what makes arrays and records."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from ..scalar import Array, Program, maximum, minimum
from ..scalar.operations import LIBRARY, OPERATIONS
from . import tree
from .expressions import Expressions, whole
from .kinds import FLOAT, INT, ArrayKind, Kind, NumberKind, RecordKind, local, local_ints
from .programs import apply, apply_at, at, by_name, call_at, over, program_of
from .source import UNKNOWN, Source, kind_of

_METHODS = ("bit_count", "bit_length")


class FunctionRow(NamedTuple):
    """A function that pages call: its operation for floats, that for integers, and whether it takes two or more arguments."""

    real: str
    whole: str | None = None
    folded: bool = False


#: The functions of Python, of `math` and of `scalar` that are one operation.
FUNCTIONS: dict[Callable[..., Any], FunctionRow] = {
    **{getattr(math, name): FunctionRow(name) for name in (*LIBRARY, "sqrt", "floor", "ceil", "copysign", "isnan", "isfinite")},
    abs: FunctionRow("abs", "abs.i"),
    math.fabs: FunctionRow("abs"),
    min: FunctionRow("least", "min.i", folded=True),
    max: FunctionRow("greatest", "max.i", folded=True),
    minimum: FunctionRow("min"),
    maximum: FunctionRow("max"),
}


class Calling(Expressions):
    """Reads calls. `handed` are those of procedures, with where they stand; `written` arrays likewise."""

    def __init__(self, source: Source, typed: tree.TypedProcedure):
        super().__init__(source, typed)
        self.handed: list[tuple[tree.Invoke, ast.AST]] = []
        self.written: list[tuple[tree.Expression, ast.AST]] = []

    def read_Call(self, node: ast.Call) -> tree.Expression:
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            number = self.as_kind(self.number(node.func.value), INT, node)
            return self.operation(f"{node.func.attr}.i", [number], node)
        called = self.source.static(node.func)
        typed = getattr(called, "typed", None)
        if isinstance(typed, tree.TypedProcedure):
            return self.invoke(typed, node)
        if called is call_at:
            return self.invoke_at(node)
        if isinstance(called, type) and isinstance(kind := kind_of(called), RecordKind):
            parts = self.arguments(node, list(zip(kind.names, kind.parts, strict=True)))
            return tree.Made(parts, kind)
        if called in (apply, over):
            return self.program(node, several=called is over)
        if called is apply_at:
            return self.located(node)
        if called in (local, local_ints):
            return self.fresh(node, FLOAT if called is local else INT)
        if called in (len, int, float, bool):
            return self.conversion(called, node)
        if called is not UNKNOWN and isinstance(called, Hashable) and called in FUNCTIONS:
            return self.function(FUNCTIONS[called], node)
        if called is range:
            raise self.source.fault(node, "stands outside of a loop; write for i in range(n)")
        raise self.source.fault(
            node, f"{ast.unparse(node.func)} cannot be called in a procedure; others of the subset are in kumitate.procedure, "
            "and functions of your own need @procedure"
        )  # fmt: skip

    def function(self, row: FunctionRow, node: ast.Call) -> tree.Expression:
        """A function that is an operation."""
        arguments = [self.number(argument) for argument in node.args]
        wanted = len(OPERATIONS[row.real].kinds) - 1
        if node.keywords or (len(arguments) < 2 if row.folded else len(arguments) != wanted):
            raise self.source.fault(node, f"takes {wanted} numbers{' or more' if row.folded else ''}, got {len(arguments)}")
        integers = row.whole is not None and all(argument.kind != FLOAT for argument in arguments)
        name, kind = (row.whole, INT) if integers and row.whole else (row.real, FLOAT)
        arguments = [self.as_kind(argument, kind, node) for argument in arguments]
        if not row.folded:
            return self.operation(name, arguments, node)
        found = arguments[0]
        for argument in arguments[1:]:
            found = self.operation(name, [found, argument], node)
        return found

    def conversion(self, called: Any, node: ast.Call) -> tree.Expression:
        """`len`, `int`, `float`, `bool` of one argument."""
        if len(node.args) != 1 or node.keywords:
            raise self.source.fault(node, "takes one argument")
        if called is len:
            array = self.read(node.args[0])
            if not isinstance(array.kind, ArrayKind):
                raise self.source.fault(node, f"{array.kind} has no length; arrays have one")
            return whole(array.kind.shape[0]) if array.kind.shape[0] is not None else tree.Length(array, INT)
        if called is bool:
            return self.condition(node.args[0])
        found = self.number(node.args[0])
        if called is float:
            return self.as_kind(found, FLOAT, node)
        return self.operation("int.f", [found], node) if found.kind == FLOAT else self.as_kind(found, INT, node)

    def fresh(self, node: ast.Call, element: NumberKind) -> tree.Expression:
        """`local(6, 6)`: its sizes are constants."""
        sizes = [self.read(argument) for argument in node.args]
        if not sizes or node.keywords or not all(isinstance(s, tree.Constant) and s.kind == INT and s.value > 0 for s in sizes):
            raise self.source.fault(node, "sizes of local arrays are constants above 0; larger arrays are arguments")
        return tree.Fresh(ArrayKind(element, tuple(size.value for size in sizes if isinstance(size, tree.Constant))))

    def arguments(self, node: ast.Call, parameters: Sequence[tuple[str, Kind]]) -> tuple[tree.Expression, ...]:
        """The arguments of a call in the order of the parameters."""
        given = dict(zip((name for name, _ in parameters), node.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        if len(node.args) + len(node.keywords) != len(parameters) or set(given) != {name for name, _ in parameters}:
            names = ", ".join(name for name, _ in parameters)
            raise self.source.fault(node, f"takes {len(parameters)} arguments ({names})")
        return tuple(self.as_kind(self.value(given[name]), kind, given[name]) for name, kind in parameters)

    def program(self, node: ast.Call, *, several: bool) -> tree.Expression:
        """A call of a traced program: `apply(program, …)`, or `over(program, count, …)`."""
        usage = "over(program, count, arrays…)" if several else "apply(program, rows…)"
        if node.keywords or len(node.args) < 1 + several:
            raise self.source.fault(node, f"is called as {usage}")
        value = self.source.static(node.args[0])
        try:
            program = program_of(value)
        except TypeError:
            rule = "is not a traced program; name one of the module or of the function around: kumitate.scalar.trace makes it"
            raise self.source.fault(node.args[0], rule) from None
        count = self.as_kind(self.number(node.args[1]), INT, node) if several else None
        arrays, given = (*program.inputs, *program.outputs), self.by_name(program, node.args[1 + several :], node)
        found = []
        for k, (array, part) in enumerate(zip(arrays, given, strict=True)):
            rows, index = self.rows(array, part, several=several, is_input=k < len(program.inputs))
            found.append((rows, index))
            if k >= len(program.inputs):
                self.written.append((rows, part))
        return tree.RunProgram(program, count, tuple(found), self.source.site(node))

    def by_name(self, program: Program, nodes: Sequence[ast.expr], node: ast.Call) -> list[ast.expr]:
        """What is handed to each array of a program."""

        def is_chosen(argument: ast.expr) -> bool:
            return isinstance(argument, ast.Call) and len(argument.args) == 2 and self.source.static(argument.func) is at

        def names(argument: ast.expr) -> Sequence[str]:
            record = argument.args[0] if isinstance(argument, ast.Call) and is_chosen(argument) else argument
            kind = self.read(record).kind if isinstance(record, ast.Name | ast.Attribute) else None
            return kind.names if isinstance(kind, RecordKind) else ()

        def field(argument: ast.expr, name: str) -> ast.expr:
            found: ast.expr
            if isinstance(argument, ast.Call) and is_chosen(argument):
                found = ast.Call(argument.func, [ast.Attribute(argument.args[0], name, ast.Load()), argument.args[1]], [])
            else:
                found = ast.Attribute(argument, name, ast.Load())
            return ast.fix_missing_locations(ast.copy_location(found, argument))

        parts = [(argument, names(argument)) for argument in nodes]
        return by_name(program, parts, field, lambda part, rule: self.source.fault(part or node, rule))

    def located(self, node: ast.Call) -> tree.Expression:
        """A call of a program by its address: `apply_at(address, (inputs…), (outputs…))`."""
        parts = node.args[1:]
        if node.keywords or len(node.args) != 3 or not all(isinstance(part, ast.Tuple) for part in parts):
            raise self.source.fault(node, "is called as apply_at(address, (inputs…), (outputs…))")
        found: list[tree.Expression] = []
        inputs, outputs = (part.elts for part in parts if isinstance(part, ast.Tuple))
        for part in (*inputs, *outputs):
            value = self.read(part)
            if not isinstance(value.kind, ArrayKind) and part in inputs:
                value = self.as_kind(value, FLOAT, part)
            elif not isinstance(value.kind, ArrayKind) or value.kind.element != FLOAT:
                raise self.source.fault(part, f"is {value.kind}; programs read and write arrays of floats")
            found.append(value)
        self.written += [(found[len(inputs) + k], part) for k, part in enumerate(outputs)]
        return tree.RunAt(self.as_kind(self.number(node.args[0]), INT, node), tuple(found), self.source.site(node))

    def rows(
        self, array: Array, node: ast.expr, *, several: bool, is_input: bool
    ) -> tuple[tree.Expression, tree.Expression | None]:
        """What a program reads or writes, and the list that chooses its rows."""
        index = None
        if isinstance(node, ast.Call) and self.source.static(node.func) is at:
            if len(node.args) != 2:
                raise self.source.fault(node, "takes an array of rows and a list of integers")
            if not several:
                return self.one_row(array, node, is_input=is_input), None
            index = self.as_kind(self.read(node.args[1]), ArrayKind(INT, (None,)), node.args[1])
            node = node.args[0]
        found = self.read(node)
        if not several and not array.shape and is_input:
            return self.as_kind(found, FLOAT, node), None
        shape = array.shape if several else array.shape or (1,)
        kind = found.kind
        fits = isinstance(kind, ArrayKind) and kind.element == FLOAT and (kind.row if several else kind.shape) == shape
        if not fits:
            wanted = ArrayKind(FLOAT, (None, *shape)) if several else ArrayKind(FLOAT, shape)
            raise self.source.fault(node, f"is {kind}; {array.name} of the program needs {wanted}")
        return found, index

    def one_row(self, array: Array, node: ast.Call, *, is_input: bool) -> tree.Expression:
        """`at(rows, k)` of one evaluation: row k, a number for an input without axes."""
        row = self.place(self.read(node.args[0]), [node.args[1]], node)
        if isinstance(row, tree.ArrayElement) and row.kind == FLOAT and not array.shape:
            if is_input:
                return row
            after = self.operation("add.i", [row.indices[0], whole(1)], node)
            return tree.ArraySlice(row.array, row.indices[0], after, ArrayKind(FLOAT, (1,)), row.site)
        if not isinstance(row.kind, ArrayKind) or row.kind.element != FLOAT or row.kind.shape != array.shape:
            wanted = ArrayKind(FLOAT, (None, *array.shape))
            raise self.source.fault(node, f"has rows of {row.kind}; {array.name} of the program needs those of {wanted}")
        return row

    def invoke(self, typed: tree.TypedProcedure, node: ast.Call) -> tree.Expression:
        """A call of another procedure."""
        if typed not in self.typed.calls:
            self.typed.calls.append(typed)
        return self.handing(typed, node)

    def handing(self, typed: tree.TypedProcedure, node: ast.Call) -> tree.Invoke:
        """What a call hands to a procedure."""
        made = tree.Invoke(typed, self.arguments(node, typed.parameters), typed.result, self.source.site(node))
        self.handed.append((made, node))
        return made

    def invoke_at(self, node: ast.Call) -> tree.Expression:
        """A call of a procedure by its address: `call_at(address, like, arguments…)`."""
        like = getattr(self.source.static(node.args[1]), "typed", None) if len(node.args) > 1 else None
        if not isinstance(like, tree.TypedProcedure):
            raise self.source.fault(node, "is called as call_at(address, like, arguments…), like being a procedure")
        address = self.as_kind(self.number(node.args[0]), INT, node)
        rest = ast.copy_location(ast.Call(node.args[1], node.args[2:], node.keywords), node)
        return tree.InvokeAt(address, self.handing(like, rest), like.result, self.source.site(node))
