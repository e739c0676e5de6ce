"""From Python's expressions to typed ones. Every rule that an expression can break is said where it is checked."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kinds import BOOL, FLOAT, INT, ArrayKind, Kind, NumberKind, RecordKind
from ..operations import LETTERS, OPERATIONS
from ..tree import ArraySlice, Chosen, Constant, Expression, Local, Made, Member, Operation, TypedProcedure
from .source import UNKNOWN, Source

__all__ = ["Expressions", "whole"]

_ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_WHOLE = {
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl",
    ast.RShift: "shr",
}  # fmt: skip
_COMPARED = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
_FOLDED: dict[str, Callable[..., Any]] = {
    "add.i": int.__add__, "sub.i": int.__sub__, "mul.i": int.__mul__, "neg.i": int.__neg__, "neg.f": float.__neg__,
    "shl.i": int.__lshift__, "floordiv.i": int.__floordiv__,
}  # fmt: skip
_LARGEST_POWER = 4
_TRUE, _FALSE = Constant(True, BOOL), Constant(False, BOOL)


def whole(value: int) -> Constant:
    """An integer."""
    return Constant(value, INT)


class Expressions:
    """Reads the expressions of one procedure.

    Attributes:
        source: of the function.
        typed: what is made of it.
        assigned: the names that have a value here on every path; None where no path leads.
    """

    def __init__(self, source: Source, typed: TypedProcedure):
        self.source, self.typed = source, typed
        self.assigned: set[str] | None = set()

    # --- one expression -----------------------------------------------------------------------------------------------
    def read(self, node: ast.expr) -> Expression:
        """The typed form of an expression."""
        value = self.source.static(node)
        if value is not UNKNOWN:
            return self.constant(node, value)
        method = getattr(self, f"read_{type(node).__name__}", None)
        if method is None:
            raise self.source.fault(node, f"{type(node).__name__} is not an expression of procedures; see kumitate.procedure")
        found: Expression = method(node)
        return found

    def constant(self, node: ast.AST, value: Any) -> Constant:
        """A value from outside of the function."""
        if isinstance(value, bool | np.bool_):
            return Constant(bool(value), BOOL)
        if isinstance(value, int | np.integer):
            if not -(2**63) <= value < 2**63:
                raise self.source.fault(node, f"{value} has more than 64 bits; integers are from -2**63 to 2**63 - 1")
            return whole(int(value))
        if isinstance(value, float | np.floating):
            return Constant(float(value), FLOAT)
        if isinstance(value, tuple | np.ndarray) and not hasattr(value, "_fields"):
            array = np.array(value)
            if array.size and array.dtype.kind in "fi":
                element = FLOAT if array.dtype.kind == "f" else INT
                return Constant(
                    array.astype(float if element == FLOAT else np.int64).tolist(), ArrayKind(element, array.shape, True)
                )
        raise self.source.fault(
            node, f"stands for {type(value).__name__}, which is not a value of procedures; constants of the module are "
            "numbers, and tuples or arrays of numbers"
        )  # fmt: skip

    def read_Constant(self, node: ast.Constant) -> Expression:
        return self.constant(node, node.value)

    def read_Name(self, node: ast.Name) -> Expression:
        kind = self.typed.names.get(node.id)
        if kind is None or (self.assigned is not None and node.id not in self.assigned):
            raise self.source.fault(node, f"{node.id} may have no value here; give it one before, on every path")
        return Local(node.id, kind)

    def read_Tuple(self, node: ast.Tuple) -> Expression:
        parts = tuple(self.read(part) for part in node.elts)
        return Made(parts, RecordKind(tuple(part.kind for part in parts)))

    def read_Attribute(self, node: ast.Attribute) -> Expression:
        record = self.read(node.value)
        if not isinstance(record.kind, RecordKind) or node.attr not in record.kind.names:
            fields = record.kind.names if isinstance(record.kind, RecordKind) else ()
            known = (
                f"its fields are {', '.join(fields)}" if fields else "only NamedTuples have fields; len(x) is an array's rows"
            )
            raise self.source.fault(node, f"{record.kind} has no {node.attr}; {known}")
        position = record.kind.names.index(node.attr)
        return Member(record, position, record.kind.parts[position])

    # --- arithmetic ---------------------------------------------------------------------------------------------------
    def operation(self, name: str, arguments: Sequence[Expression], node: ast.AST) -> Expression:
        """A row of the table; of constants, its value."""
        if name in _FOLDED and all(isinstance(a, Constant) for a in arguments):
            values = [a.value for a in arguments if isinstance(a, Constant)]
            if not (name == "floordiv.i" and values[1] == 0) and not (name == "shl.i" and not 0 <= values[1] < 64):
                return self.constant(node, _FOLDED[name](*values))
        kind = LETTERS[OPERATIONS[name].kinds[-1]]
        return Operation(name, tuple(arguments), kind, self.source.site(node))

    def number(self, node: ast.expr) -> Expression:
        """An expression that is a number."""
        found = self.read(node)
        if not isinstance(found.kind, NumberKind):
            raise self.source.fault(node, f"is {found.kind}, not a number; name an element, as in x[i]")
        return found

    def as_kind(self, found: Expression, kind: Kind, node: ast.AST) -> Expression:
        """The same value as another kind: an int as a float, a bool as an int, an array of fixed shape as one of any length."""
        given = found.kind
        if given == kind:
            return found
        if (given, kind) == (BOOL, INT):
            return self.operation("int.b", [found], node)
        if kind == FLOAT and given in (INT, BOOL):
            if isinstance(found, Constant):
                return Constant(float(found.value), FLOAT)
            return self.operation("float.i", [self.as_kind(found, INT, node)], node)
        if isinstance(given, ArrayKind) and isinstance(kind, ArrayKind) and given.element == kind.element:
            if given.shape == kind.shape:
                return found
            if given.row == kind.row and not kind.is_fixed:
                return ArraySlice(found, whole(0), None, kind, self.source.site(node))
        if isinstance(found, Made) and isinstance(kind, RecordKind) and len(found.parts) == len(kind.parts) and not kind.names:
            return Made(tuple(self.as_kind(a, b, node) for a, b in zip(found.parts, kind.parts, strict=True)), kind)
        hint = "; write int(...) to drop the fraction" if (given, kind) == (FLOAT, INT) else ""
        raise self.source.fault(node, f"is {given}, where {kind} is needed{hint}")

    def condition(self, node: ast.expr) -> Expression:
        """An expression that is true or false; an int is true if it is not 0."""
        found = self.number(node)
        if found.kind == INT:
            return self.operation("ne.i", [found, whole(0)], node)
        if found.kind == FLOAT:
            raise self.source.fault(node, "is a float, where true or false is needed; compare it, as in x != 0.0")
        return found

    def joined(self, a: Expression, b: Expression, node: ast.AST) -> tuple[Expression, Expression, str]:
        """Two numbers as floats or, if both are integers, as integers; and the letter of that kind."""
        kind = FLOAT if FLOAT in (a.kind, b.kind) else INT
        return self.as_kind(a, kind, node), self.as_kind(b, kind, node), "f" if kind == FLOAT else "i"

    def binary(self, op: ast.operator, a: Expression, b: Expression, node: ast.AST) -> Expression:
        """The value of `a op b`."""
        for side in (a, b):
            if not isinstance(side.kind, NumberKind):
                raise self.source.fault(
                    node, f"computes with {side.kind}; arithmetic is of numbers: write a loop over elements"
                )
        symbol = type(op)
        if symbol in _ARITHMETIC:
            a, b, letter = self.joined(a, b, node)
            return self.operation(f"{_ARITHMETIC[symbol]}.{letter}", [a, b], node)
        if symbol is ast.Div:
            return self.operation("div.f", [self.as_kind(a, FLOAT, node), self.as_kind(b, FLOAT, node)], node)
        if symbol is ast.Pow:
            return self.power(a, b, node)
        if symbol in _WHOLE:
            if (a.kind, b.kind) == (BOOL, BOOL) and symbol in (ast.BitAnd, ast.BitOr, ast.BitXor):
                return self.operation(f"{_WHOLE[symbol]}.b", [a, b], node)
            if FLOAT in (a.kind, b.kind):
                raise self.source.fault(node, "is of integers only; for floats, write math.floor(a / b)")
            return self.operation(f"{_WHOLE[symbol]}.i", [self.as_kind(a, INT, node), self.as_kind(b, INT, node)], node)
        raise self.source.fault(node, "is not an operation of procedures; write loops over elements")

    def power(self, a: Expression, b: Expression, node: ast.AST) -> Expression:
        """A small constant power, by products; of floats only the square, as a library's cube rounds once instead of twice."""
        most = 2 if a.kind == FLOAT else _LARGEST_POWER
        if not isinstance(b, Constant) or b.kind != INT or not 1 <= b.value <= most:
            raise self.source.fault(node, f"powers of {a.kind} are constants from 1 to {most}; write products, or math.exp")
        found = a
        for _ in range(b.value - 1):
            found = self.binary(ast.Mult(), found, a, node)
        return found

    def read_BinOp(self, node: ast.BinOp) -> Expression:
        return self.binary(node.op, self.read(node.left), self.read(node.right), node)

    def read_UnaryOp(self, node: ast.UnaryOp) -> Expression:
        if isinstance(node.op, ast.Not):
            return self.operation("not.b", [self.condition(node.operand)], node)
        found = self.number(node.operand)
        if found.kind == BOOL:
            found = self.as_kind(found, INT, node)
        if isinstance(node.op, ast.UAdd):
            return found
        if isinstance(node.op, ast.Invert):
            return self.operation("invert.i", [self.as_kind(found, INT, node)], node)
        return self.operation("neg.f" if found.kind == FLOAT else "neg.i", [found], node)

    def read_Compare(self, node: ast.Compare) -> Expression:
        sides = [self.number(side) for side in (node.left, *node.comparators)]
        for side, between in zip(sides[1:-1], node.comparators[:-1], strict=True):
            if any(isinstance(part, ast.Call) for part in ast.walk(between)):
                raise self.source.fault(between, f"is {side.kind} between two comparisons and is computed once; name it before")
        found: Expression | None = None
        for k, op in enumerate(node.ops):
            if type(op) not in _COMPARED:
                raise self.source.fault(node, "is not a comparison of procedures; they have < <= > >= == !=")
            a, b, letter = self.joined(sides[k], sides[k + 1], node)
            one = self.operation(f"{_COMPARED[type(op)]}.{letter}", [a, b], node)
            found = one if found is None else Chosen(found, one, _FALSE, BOOL)
        assert found is not None
        return found

    def read_BoolOp(self, node: ast.BoolOp) -> Expression:
        found = self.condition(node.values[-1])
        for value in reversed(node.values[:-1]):
            first = self.condition(value)
            both = isinstance(node.op, ast.And)
            found = Chosen(first, found, _FALSE, BOOL) if both else Chosen(first, _TRUE, found, BOOL)
        return found

    def read_IfExp(self, node: ast.IfExp) -> Expression:
        condition, then, other = self.condition(node.test), self.read(node.body), self.read(node.orelse)
        if isinstance(then.kind, NumberKind) and isinstance(other.kind, NumberKind) and then.kind != other.kind:
            then, other, _ = self.joined(then, other, node)
        return Chosen(condition, then, self.as_kind(other, then.kind, node.orelse), then.kind)
