"""From Python's expressions to typed ones. Every rule that an expression can break is said where it is checked."""

from __future__ import annotations

import ast
import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ..scalar import Array, Program, maximum, minimum
from ..scalar.operations import LIBRARY, OPERATIONS
from . import tree
from .kinds import BOOL, FLOAT, INT, LETTERS, ArrayKind, Kind, NumberKind, RecordKind, local, local_ints
from .programs import apply, apply_at, at, by_name, call_at, over, program_of
from .source import UNKNOWN, Source, kind_of

_ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_WHOLE = {
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl",
    ast.RShift: "shr",
}  # fmt: skip
_COMPARED = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
#: Operations that are computed here where their operands are constants.
_FOLDED = {"add.i", "sub.i", "mul.i", "neg.i", "neg", "shl.i", "floordiv.i"}
_LARGEST_POWER = 4
_TRUE, _FALSE = tree.Constant(True, BOOL), tree.Constant(False, BOOL)


def whole(value: int) -> tree.Constant:
    """An integer."""
    return tree.Constant(value, INT)


class Expressions:
    """Reads the expressions of a function's source into what is `typed`.

    `assigned` are the names that have a value here on every path; None where no path leads.
    """

    def __init__(self, source: Source, typed: tree.TypedProcedure):
        self.source, self.typed = source, typed
        self.assigned: set[str] | None = set()
        self.before: list[tree.Statement] = []  # arrays that are computed before the statement
        self.once: list[tree.Statement] | None = None  # numbers that are computed before the elements of an array are

    # --- one expression -----------------------------------------------------------------------------------------------
    def read(self, node: ast.expr) -> tree.Expression:
        """The typed form of an expression."""
        value = self.source.static(node)
        if value is not UNKNOWN:
            return self.constant(node, value)
        method = getattr(self, f"read_{type(node).__name__}", None)
        if method is None:
            raise self.source.fault(node, f"{type(node).__name__} is not an expression of procedures; see kumitate.procedure")
        found: tree.Expression = method(node)
        return found

    def constant(self, node: ast.AST, value: Any) -> tree.Constant:
        """A value from outside of the function."""
        if isinstance(value, bool | np.bool_):
            return tree.Constant(bool(value), BOOL)
        if isinstance(value, int | np.integer):
            if not -(2**63) <= value < 2**63:
                raise self.source.fault(node, f"{value} has more than 64 bits; integers are from -2**63 to 2**63 - 1")
            return whole(int(value))
        if isinstance(value, float | np.floating):
            return tree.Constant(float(value), FLOAT)
        if isinstance(value, tuple | np.ndarray) and not hasattr(value, "_fields"):
            array = np.array(value)
            if array.size and array.dtype.kind in "fi":
                kind, element = (float, FLOAT) if array.dtype.kind == "f" else (np.int64, INT)
                return tree.Constant(array.astype(kind).tolist(), ArrayKind(element, array.shape, True))
        raise self.source.fault(
            node, f"stands for {type(value).__name__}, which is not a value of procedures; constants of the module are "
            "numbers, and tuples or arrays of numbers"
        )  # fmt: skip

    def read_Constant(self, node: ast.Constant) -> tree.Expression:
        return self.constant(node, node.value)

    def read_Name(self, node: ast.Name) -> tree.Expression:
        kind = self.typed.names.get(node.id)
        if kind is None or (self.assigned is not None and node.id not in self.assigned):
            raise self.source.fault(node, f"{node.id} may have no value here; give it one before, on every path")
        return tree.Local(node.id, kind)

    def read_Tuple(self, node: ast.Tuple) -> tree.Expression:
        parts = tuple(map(self.value, node.elts))
        return tree.Made(parts, RecordKind(tuple(part.kind for part in parts)))

    def read_Attribute(self, node: ast.Attribute) -> tree.Expression:
        record = self.read(node.value)
        if not isinstance(record.kind, RecordKind) or node.attr not in record.kind.names:
            fields = record.kind.names if isinstance(record.kind, RecordKind) else ()
            known = f"its fields are {', '.join(fields)}"
            known = known if fields else "only NamedTuples have fields; len(x) is an array's rows"
            raise self.source.fault(node, f"{record.kind} has no {node.attr}; {known}")
        position = record.kind.names.index(node.attr)
        return tree.Member(record, position, record.kind.parts[position])

    # --- arithmetic ---------------------------------------------------------------------------------------------------
    def operation(self, name: str, arguments: Sequence[tree.Expression], node: ast.AST) -> tree.Expression:
        """A row of the table; of constants, its value."""
        if name in _FOLDED and all(isinstance(a, tree.Constant) for a in arguments):
            values = [a.value for a in arguments if isinstance(a, tree.Constant)]
            meaning = OPERATIONS[name].meaning
            if meaning and not (name == "floordiv.i" and values[1] == 0) and not (name == "shl.i" and not 0 <= values[1] < 64):
                return self.constant(node, meaning(*values))
        kind = LETTERS[OPERATIONS[name].kinds[-1]]
        return tree.Operation(name, tuple(arguments), kind, self.source.site(node))

    def number(self, node: ast.expr) -> tree.Expression:
        """An expression that is a number."""
        found = self.read(node)
        if not isinstance(found.kind, NumberKind):
            raise self.source.fault(node, f"is {found.kind}, not a number; name an element, as in x[i]")
        return found

    def as_kind(self, found: tree.Expression, kind: Kind, node: ast.AST) -> tree.Expression:
        """The same value as another kind: an int as a float, a bool as an int, an array of fixed shape as one of any length."""
        given = found.kind
        if given == kind:
            return found
        if (given, kind) == (BOOL, INT):
            return self.operation("int.b", [found], node)
        if kind == FLOAT and given in (INT, BOOL):
            if isinstance(found, tree.Constant):
                return tree.Constant(float(found.value), FLOAT)
            return self.operation("float.i", [self.as_kind(found, INT, node)], node)
        if isinstance(given, ArrayKind) and isinstance(kind, ArrayKind) and given.element == kind.element:
            if given.shape == kind.shape:
                return found
            if given.row == kind.row and not kind.is_fixed:
                return tree.ArraySlice(found, whole(0), None, kind, self.source.site(node))
        given_parts = found.parts if isinstance(found, tree.Made) else ()
        if isinstance(kind, RecordKind) and not kind.names and given_parts and len(given_parts) == len(kind.parts):
            return tree.Made(tuple(self.as_kind(a, b, node) for a, b in zip(given_parts, kind.parts, strict=True)), kind)
        hint = "; write int(...) to drop the fraction" if (given, kind) == (FLOAT, INT) else ""
        raise self.source.fault(node, f"is {given}, where {kind} is needed{hint}")

    def condition(self, node: ast.expr) -> tree.Expression:
        """An expression that is true or false; an int is true if it is not 0."""
        found = self.number(node)
        if found.kind == INT:
            return self.operation("ne.i", [found, whole(0)], node)
        if found.kind == FLOAT:
            raise self.source.fault(node, "is a float, where true or false is needed; compare it, as in x != 0.0")
        return found

    def joined(self, a: tree.Expression, b: tree.Expression, node: ast.AST) -> tuple[tree.Expression, tree.Expression, str]:
        """Two numbers as floats or, if both are integers, as integers; and how names of operations on them end."""
        kind = FLOAT if FLOAT in (a.kind, b.kind) else INT
        return self.as_kind(a, kind, node), self.as_kind(b, kind, node), "" if kind == FLOAT else ".i"

    def binary(self, op: ast.operator, a: tree.Expression, b: tree.Expression, node: ast.AST) -> tree.Expression:
        """The value of `a op b`."""
        for side in (a, b):
            if not isinstance(side.kind, NumberKind):
                raise self.source.fault(
                    node, f"computes with {side.kind}; arithmetic is of numbers: write a loop over elements"
                )
        symbol = type(op)
        if symbol in _ARITHMETIC:
            a, b, ending = self.joined(a, b, node)
            return self.operation(f"{_ARITHMETIC[symbol]}{ending}", [a, b], node)
        if symbol is ast.Div:
            return self.operation("div", [self.as_kind(a, FLOAT, node), self.as_kind(b, FLOAT, node)], node)
        if symbol is ast.Pow:
            return self.power(a, b, node)
        if symbol in _WHOLE:
            if (a.kind, b.kind) == (BOOL, BOOL) and symbol in (ast.BitAnd, ast.BitOr, ast.BitXor):
                return self.operation(_WHOLE[symbol], [a, b], node)
            if FLOAT in (a.kind, b.kind):
                raise self.source.fault(node, "is of integers only; for floats, write math.floor(a / b)")
            return self.operation(f"{_WHOLE[symbol]}.i", [self.as_kind(a, INT, node), self.as_kind(b, INT, node)], node)
        raise self.source.fault(node, "is not an operation of procedures; write loops over elements")

    def power(self, a: tree.Expression, b: tree.Expression, node: ast.AST) -> tree.Expression:
        """A small constant power, by products; of floats only the square, as a library's cube rounds once instead of twice."""
        most = 2 if a.kind == FLOAT else _LARGEST_POWER
        if not isinstance(b, tree.Constant) or b.kind != INT or not 1 <= b.value <= most:
            raise self.source.fault(node, f"powers of {a.kind} are constants from 1 to {most}; write products, or math.exp")
        return reduce(lambda found, one: self.binary(ast.Mult(), found, one, node), [a] * b.value)

    def read_BinOp(self, node: ast.BinOp) -> tree.Expression:
        if isinstance(node.op, ast.MatMult) and self.shape(node):
            raise self.source.fault(node, "is an array; only those that arrays are given, as in x[:] = A @ b, are computed")
        if isinstance(node.op, ast.MatMult):
            return self.product(node, ())
        return self.binary(node.op, self.read(node.left), self.read(node.right), node)

    def read_UnaryOp(self, node: ast.UnaryOp) -> tree.Expression:
        if isinstance(node.op, ast.Not):
            return self.operation("not", [self.condition(node.operand)], node)
        found = self.number(node.operand)
        if found.kind == BOOL:
            found = self.as_kind(found, INT, node)
        if isinstance(node.op, ast.UAdd):
            return found
        if isinstance(node.op, ast.Invert):
            return self.operation("invert.i", [self.as_kind(found, INT, node)], node)
        return self.operation("neg" if found.kind == FLOAT else "neg.i", [found], node)

    def read_Compare(self, node: ast.Compare) -> tree.Expression:
        sides = [self.number(side) for side in (node.left, *node.comparators)]
        for side, between in zip(sides[1:-1], node.comparators[:-1], strict=True):
            if any(isinstance(part, ast.Call) for part in ast.walk(between)):
                raise self.source.fault(between, f"is {side.kind} between two comparisons and is computed once; name it before")
        compared = []
        for op, (left, right) in zip(node.ops, pairwise(sides), strict=True):
            if type(op) not in _COMPARED:
                raise self.source.fault(node, "is not a comparison of procedures; they have < <= > >= == !=")
            a, b, ending = self.joined(left, right, node)
            compared.append(self.operation(f"{_COMPARED[type(op)]}{ending}", [a, b], node))
        return reduce(lambda found, one: tree.Chosen(found, one, _FALSE, BOOL), compared)

    def read_BoolOp(self, node: ast.BoolOp) -> tree.Expression:
        found = self.at_once(node.values[-1], self.condition)
        for value in reversed(node.values[:-1]):
            first = self.at_once(value, self.condition)
            both = isinstance(node.op, ast.And)
            found = tree.Chosen(first, found, _FALSE, BOOL) if both else tree.Chosen(first, _TRUE, found, BOOL)
        return found

    def read_IfExp(self, node: ast.IfExp) -> tree.Expression:
        condition = self.condition(node.test)
        then, other = self.at_once(node.body, self.read), self.at_once(node.orelse, self.read)
        if isinstance(then.kind, NumberKind) and isinstance(other.kind, NumberKind) and then.kind != other.kind:
            then, other, _ = self.joined(then, other, node)
        return tree.Chosen(condition, then, self.as_kind(other, then.kind, node.orelse), then.kind)

    # --- elements, rows and slices of arrays ---------------------------------------------------------------------------
    def read_Subscript(self, node: ast.Subscript) -> tree.Expression:
        base = self.read(node.value)
        written = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(base.kind, RecordKind):
            chosen = self.read(written[0])
            if len(written) == 1 and isinstance(chosen, tree.Constant) and 0 <= chosen.value < len(base.kind.parts):
                return tree.Member(base, chosen.value, base.kind.parts[chosen.value])
            raise self.source.fault(node, f"an index of a tuple is a number from 0 to {len(base.kind.parts) - 1}")
        if not isinstance(base.kind, ArrayKind):
            raise self.source.fault(node, f"{base.kind} has no elements")
        last = written[-1]
        if isinstance(last, ast.Slice):
            if len(written) > 1:
                base = self.place(base, written[:-1], node)
            return self.part(base, last, node)
        return self.place(base, written, node)

    def place(self, base: tree.Expression, written: Sequence[ast.expr], node: ast.AST) -> tree.Expression:
        """What indices choose: an element, or a row."""
        assert isinstance(base.kind, ArrayKind)
        if len(written) > len(base.kind.shape):
            raise self.source.fault(node, f"{base.kind} has {len(base.kind.shape)} axes, and there are {len(written)} indices")
        indices = tuple(self.index(base, axis, part) for axis, part in enumerate(written))
        kind = base.kind.after(len(indices))
        made = tree.ArrayRow if isinstance(kind, ArrayKind) else tree.ArrayElement
        return made(base, indices, kind, self.source.site(node))

    def index(self, base: tree.Expression, axis: int, node: ast.expr) -> tree.Expression:
        """One index; a constant one is checked, and counted from the end if it is negative."""
        if isinstance(node, ast.Slice):
            raise self.source.fault(node.lower or node.upper or ast.Constant(None, lineno=1), "a slice is the last index only")
        found = self.number(node)
        if found.kind == FLOAT:
            raise self.source.fault(node, "is a float; indices are integers: write int(...)")
        found = self.as_kind(found, INT, node)
        assert isinstance(base.kind, ArrayKind)
        size = base.kind.shape[axis]
        if isinstance(found, tree.Constant):
            if size is None:
                return found if found.value >= 0 else self.operation("add.i", [tree.Length(base, INT), found], node)
            if not -size <= found.value < size:
                raise self.source.fault(node, f"index {found.value} of an axis of {size} elements")
            return whole(found.value % size)
        return found

    def part(self, base: tree.Expression, cut: ast.Slice, node: ast.AST) -> tree.Expression:
        """`x[a:b]`: of fixed shape if both are constants."""
        assert isinstance(base.kind, ArrayKind)
        if cut.step is not None:
            raise self.source.fault(node, "slices have no step; write a loop")
        size, length = base.kind.shape[0], None
        start = whole(0) if cut.lower is None else self.as_kind(self.number(cut.lower), INT, node)
        stop: tree.Expression | None = None if size is None else whole(size)
        if cut.upper is not None:
            stop = self.as_kind(self.number(cut.upper), INT, node)
        if isinstance(start, tree.Constant) and isinstance(stop, tree.Constant):
            length = stop.value - start.value
        for end in (start, stop):
            if isinstance(end, tree.Constant) and (end.value < 0 or (size is not None and end.value > size)):
                raise self.source.fault(node, f"{end.value} is not an end of an array of {size or 'any number of'} rows")
        if length is not None and length < 0:
            raise self.source.fault(node, "the slice ends before it begins")
        kind = replace(base.kind, shape=(length, *base.kind.shape[1:]))
        return tree.ArraySlice(base, start, stop, kind, self.source.site(node))

    # --- arithmetic on arrays, element by element ---------------------------------------------------------------------
    def shape(self, node: ast.expr) -> tuple[int | None, ...]:
        """The sizes of a value of arithmetic on arrays; () of a number."""
        if isinstance(node, ast.BinOp):
            a, b = self.shape(node.left), self.shape(node.right)
            if isinstance(node.op, ast.MatMult):
                if not a or not b or a[-1] is None or a[-1] != b[0]:
                    raise self.source.fault(node, f"multiplies arrays of the sizes {a} and {b}; inner sizes are equal")
                return a[:-1] + b[1:]
            if a and b and a != b:
                raise self.source.fault(node, f"joins arrays of the sizes {a} and {b}; both are equal, or one is a number")
            return a or b
        if isinstance(node, ast.UnaryOp):
            return self.shape(node.operand)
        if self.is_crossed(node):
            return (3,)
        if isinstance(node, ast.Attribute) and node.attr == "T":
            return self.shape(node.value)[::-1]
        kind = self.read(node).kind
        return kind.shape if isinstance(kind, ArrayKind) else ()

    def value(self, node: ast.expr) -> tree.Expression:
        """A value that is named or handed over; what arithmetic on arrays gives is computed before the statement."""
        return self.read(self.computed(node) if self.is_arithmetic(node) and self.shape(node) else node)

    @abstractmethod
    def computed(self, value: ast.expr) -> ast.Name:
        """A name for what arithmetic on arrays gives before the statement."""

    def at_once(self, node: ast.expr, read: Callable[[ast.expr], tree.Expression]) -> tree.Expression:
        """An expression that is not always computed, or more than once, so that no array can be computed for it before."""
        count, found = len(self.before), read(node)
        if len(self.before) > count:
            raise self.source.fault(node, "computes an array on some paths only, or again; name it where it is needed")
        return found

    def is_arithmetic(self, node: ast.expr) -> bool:
        """Whether a value is computed, which arrays are element by element."""
        return isinstance(node, ast.BinOp | ast.UnaryOp) or self.is_crossed(node)

    def is_crossed(self, node: ast.expr) -> TypeGuard[ast.Call]:
        """Whether this is a vector product."""
        return isinstance(node, ast.Call) and self.source.static(node.func) is np.cross

    def element(self, node: ast.expr, at: Sequence[tree.Expression]) -> tree.Expression:
        """The number of a value of arithmetic on arrays at some indices."""
        if isinstance(node, ast.BinOp) and self.shape(node):
            if isinstance(node.op, ast.MatMult):
                return self.product(node, at)
            return self.binary(node.op, self.element(node.left, at), self.element(node.right, at), node)
        if isinstance(node, ast.UnaryOp) and self.shape(node):
            return self.operation("neg", [self.element(node.operand, at)], node)
        if self.is_crossed(node):
            if not isinstance(at[0], tree.Constant):
                raise self.source.fault(node, "is a vector of three; give it to one")
            i, j, (a, b) = whole((at[0].value + 1) % 3), whole((at[0].value + 2) % 3), node.args
            one, other = (
                self.binary(ast.Mult(), self.element(a, [k]), self.element(b, [m]), node) for k, m in ((i, j), (j, i))
            )
            return self.binary(ast.Sub(), one, other, node)
        if isinstance(node, ast.Attribute) and node.attr == "T":
            return self.element(node.value, at[::-1])
        found = self.read(node)
        if isinstance(found.kind, ArrayKind):
            return self.element_of(found, at, node)
        if self.once is None or isinstance(found, tree.Constant | tree.Local):
            return found
        name = f"_once{len(self.typed.names)}"
        self.typed.names[name], self.typed.origins[name] = found.kind, [found]
        self.typed.assignments[name] += 1
        self.once.append(tree.Set((tree.Local(name, found.kind),), found))
        return tree.Local(name, found.kind)

    def reads(self, node: ast.expr, written: set[str], *, elsewhere: bool = False) -> bool:
        """Whether a value of arithmetic on arrays may read what is written at other places than the one that it is for."""
        if isinstance(node, ast.BinOp):
            elsewhere = elsewhere or isinstance(node.op, ast.MatMult)
            return any(self.reads(side, written, elsewhere=elsewhere) for side in (node.left, node.right))
        if isinstance(node, ast.UnaryOp):
            return self.reads(node.operand, written, elsewhere=elsewhere)
        if self.is_crossed(node):
            return any(self.reads(side, written, elsewhere=True) for side in node.args)
        if isinstance(node, ast.Attribute) and node.attr == "T":
            return self.reads(node.value, written, elsewhere=True)
        found = self.read(node)
        anywhere = elsewhere or isinstance(found, tree.ArraySlice)
        return isinstance(found.kind, ArrayKind) and anywhere and bool(tree.roots(self.typed, found) & written)

    def product(self, node: ast.BinOp, at: Sequence[tree.Expression]) -> tree.Expression:
        """The number of a product `a @ b` of matrices and vectors at some indices."""
        a = self.shape(node.left)
        parts = []
        for k in range(a[-1] or 0):
            left = self.element(node.left, [*at[: len(a) - 1], whole(k)])
            right = self.element(node.right, [whole(k), *at[len(a) - 1 :]])
            parts.append(self.binary(ast.Mult(), left, right, node))
        return reduce(lambda found, part: self.binary(ast.Add(), found, part, node), parts)

    def element_of(self, array: tree.Expression, at: Sequence[tree.Expression], node: ast.AST) -> tree.ArrayElement:
        """An element of an array or of a row."""
        assert isinstance(array.kind, ArrayKind)
        base, before = (array.array, array.indices) if isinstance(array, tree.ArrayRow) else (array, ())
        return tree.ArrayElement(base, (*before, *at), array.kind.element, self.source.site(node))


# --- calls ----------------------------------------------------------------------------------------------------------------
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
        return reduce(lambda found, argument: self.operation(name, [found, argument], node), arguments)

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
