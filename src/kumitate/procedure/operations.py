"""What can be done with numbers: a row per operation, as LLVM and as C.

Letters are kinds: f a float, i an int, b a bool; the last one is that of the result. `{0}` and `{1}` are the operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ..scalar import maximum, minimum
from .kinds import BOOL, FLOAT, INT, NumberKind

__all__ = ["C_LIBRARY", "LETTERS", "LLVM_LIBRARY", "OPERATIONS", "FunctionRow", "OperationRow", "function_table"]

LETTERS: dict[str, NumberKind] = {"f": FLOAT, "i": INT, "b": BOOL}


class OperationRow(NamedTuple):
    """The kinds of an operation, and how it is written in LLVM's language and in C."""

    kinds: str
    llvm: str
    c: str


def _library(name: str, count: int = 1) -> OperationRow:
    """A function of C's library of mathematics."""
    arguments = ", ".join(f"double {{{k}}}" for k in range(count))
    return OperationRow("f" * (count + 1), f"call double @{name}({arguments})", f"{name}({', '.join(_OPERANDS[:count])})")


_OPERANDS = ("{0}", "{1}")
_INTS, _FLOATS = "i64 {0}, {1}", "double {0}, {1}"
_BY_NAME = {name: _library(name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "tanh")}

OPERATIONS: dict[str, OperationRow] = {
    "add.f": OperationRow("fff", f"fadd{{contract}} {_FLOATS}", "{0} + {1}"),
    "sub.f": OperationRow("fff", f"fsub{{contract}} {_FLOATS}", "{0} - {1}"),
    "mul.f": OperationRow("fff", f"fmul{{contract}} {_FLOATS}", "{0} * {1}"),
    "div.f": OperationRow("fff", f"fdiv {_FLOATS}", "{0} / {1}"),
    "neg.f": OperationRow("ff", "fneg double {0}", "-{0}"),
    "abs.f": OperationRow("ff", "call double @llvm.fabs.f64(double {0})", "fabs({0})"),
    "min.f": OperationRow("fff", "call double @least(double {0}, double {1})", "{1} < {0} ? {1} : {0}"),
    "max.f": OperationRow("fff", "call double @greatest(double {0}, double {1})", "{1} > {0} ? {1} : {0}"),
    **{
        name: OperationRow(
            "fff", f"call nsz double @llvm.{name}.f64(double {{0}}, double {{1}})",
            f"{{1}} {sign} {{0}} || {{1}} != {{1}} ? {{1}} : {{0}}",
        )
        for name, sign in (("minimum", "<"), ("maximum", ">"))
    },
    "add.i": OperationRow("iii", f"add {_INTS}", "{0} + {1}"),
    "sub.i": OperationRow("iii", f"sub {_INTS}", "{0} - {1}"),
    "mul.i": OperationRow("iii", f"mul {_INTS}", "{0} * {1}"),
    "floordiv.i": OperationRow("iii", "call i64 @floor_quotient(i64 {0}, i64 {1})", "floor_quotient({0}, {1})"),
    "mod.i": OperationRow("iii", "call i64 @floor_remainder(i64 {0}, i64 {1})", "floor_remainder({0}, {1})"),
    "neg.i": OperationRow("ii", "sub i64 0, {0}", "-{0}"),
    "abs.i": OperationRow("ii", "call i64 @llvm.abs.i64(i64 {0}, i1 false)", "{0} < 0 ? -{0} : {0}"),
    "min.i": OperationRow("iii", "call i64 @llvm.smin.i64(i64 {0}, i64 {1})", "{1} < {0} ? {1} : {0}"),
    "max.i": OperationRow("iii", "call i64 @llvm.smax.i64(i64 {0}, i64 {1})", "{1} > {0} ? {1} : {0}"),
    "and.i": OperationRow("iii", f"and {_INTS}", "{0} & {1}"),
    "or.i": OperationRow("iii", f"or {_INTS}", "{0} | {1}"),
    "xor.i": OperationRow("iii", f"xor {_INTS}", "{0} ^ {1}"),
    "invert.i": OperationRow("ii", "xor i64 {0}, -1", "~{0}"),
    "shl.i": OperationRow("iii", "call i64 @left(i64 {0}, i64 {1})", "left({0}, {1})"),
    "shr.i": OperationRow("iii", "call i64 @right(i64 {0}, i64 {1})", "{0} >> ({1} & 63)"),
    "bit_count.i": OperationRow("ii", "call i64 @bits(i64 {0})", "__builtin_popcountll({0} < 0 ? -{0} : {0})"),
    "bit_length.i": OperationRow("ii", "call i64 @width(i64 {0})", "width({0})"),
    "and.b": OperationRow("bbb", "and i1 {0}, {1}", "{0} & {1}"),
    "or.b": OperationRow("bbb", "or i1 {0}, {1}", "{0} | {1}"),
    "xor.b": OperationRow("bbb", "xor i1 {0}, {1}", "{0} ^ {1}"),
    "not.b": OperationRow("bb", "xor i1 {0}, true", "!{0}"),
    **{
        f"{name}.{letter}": OperationRow(2 * letter + "b", f"{llvm} {operands}", f"{{0}} {sign} {{1}}")
        for name, sign, real, whole in (
            ("lt", "<", "olt", "slt"), ("le", "<=", "ole", "sle"), ("gt", ">", "ogt", "sgt"), ("ge", ">=", "oge", "sge"),
            ("eq", "==", "oeq", "eq"), ("ne", "!=", "une", "ne"),
        )
        for letter, llvm, operands in (("f", f"fcmp {real}", _FLOATS), ("i", f"icmp {whole}", _INTS))
    },
    "float.i": OperationRow("if", "sitofp i64 {0} to double", "(double){0}"),
    "int.f": OperationRow("fi", "call i64 @llvm.fptosi.sat.i64.f64(double {0})", "whole({0})"),
    "int.b": OperationRow("bi", "zext i1 {0} to i64", "(long long){0}"),
    "isnan": OperationRow("fb", "fcmp uno double {0}, {0}", "{0} != {0}"),
    "isfinite": OperationRow("fb", "call i1 @finite(double {0})", "({0} - {0} == 0.0)"),
    "sqrt": OperationRow("ff", "call double @llvm.sqrt.f64(double {0})", "sqrt({0})"),
    "floor": OperationRow("fi", "call i64 @floor_whole(double {0})", "whole(floor({0}))"),
    "ceil": OperationRow("fi", "call i64 @ceil_whole(double {0})", "whole(ceil({0}))"),
    "copysign": OperationRow("fff", "call double @llvm.copysign.f64(double {0}, double {1})", "copysign({0}, {1})"),
    "atan2": _library("atan2", 2),
    "hypot": _library("hypot", 2),
    **_BY_NAME,
}  # fmt: skip


class FunctionRow(NamedTuple):
    """A function that pages call: its operation for floats, that for integers, and whether it takes two or more arguments."""

    real: str
    whole: str | None = None
    folded: bool = False


def function_table() -> dict[Callable[..., Any], FunctionRow]:
    """The functions of Python, of `math` and of `scalar` that are one operation."""
    names = [*_BY_NAME, "sqrt", "floor", "ceil", "copysign", "atan2", "hypot", "isnan", "isfinite"]
    found: dict[Callable[..., Any], FunctionRow] = {getattr(math, name): FunctionRow(name) for name in names}
    return found | {
        abs: FunctionRow("abs.f", "abs.i"),
        math.fabs: FunctionRow("abs.f"),
        min: FunctionRow("min.f", "min.i", folded=True),
        max: FunctionRow("max.f", "max.i", folded=True),
        minimum: FunctionRow("minimum"),
        maximum: FunctionRow("maximum"),
    }


#: Functions that the rows above call, by their names: written into a module if it calls them.
LLVM_LIBRARY: dict[str, str] = {
    "least": """(double %a, double %b) alwaysinline {
  %c = fcmp olt double %b, %a
  %r = select i1 %c, double %b, double %a
  ret double %r
}""",
    "greatest": """(double %a, double %b) alwaysinline {
  %c = fcmp ogt double %b, %a
  %r = select i1 %c, double %b, double %a
  ret double %r
}""",
    # a divisor of 0 gives 0, as with NumPy's integers, and -1 cannot overflow; the processor would stop at both
    "floor_quotient": """(i64 %a, i64 %b) alwaysinline {
  %b1 = add i64 %b, 1
  %special = icmp ult i64 %b1, 2
  %by = select i1 %special, i64 1, i64 %b
  %q = sdiv i64 %a, %by
  %r = srem i64 %a, %by
  %some = icmp ne i64 %r, 0
  %signs = xor i64 %r, %by
  %apart = icmp slt i64 %signs, 0
  %down = and i1 %some, %apart
  %step = sext i1 %down to i64
  %floor = add i64 %q, %step
  %zero = icmp eq i64 %b, 0
  %minus = sub i64 0, %a
  %other = select i1 %zero, i64 0, i64 %minus
  %result = select i1 %special, i64 %other, i64 %floor
  ret i64 %result
}""",
    "floor_remainder": """(i64 %a, i64 %b) alwaysinline {
  %b1 = add i64 %b, 1
  %special = icmp ult i64 %b1, 2
  %by = select i1 %special, i64 1, i64 %b
  %r = srem i64 %a, %by
  %some = icmp ne i64 %r, 0
  %signs = xor i64 %r, %by
  %apart = icmp slt i64 %signs, 0
  %down = and i1 %some, %apart
  %more = select i1 %down, i64 %by, i64 0
  %result = add i64 %r, %more
  ret i64 %result
}""",
    "left": """(i64 %a, i64 %b) alwaysinline {
  %by = and i64 %b, 63
  %r = shl i64 %a, %by
  ret i64 %r
}""",
    "right": """(i64 %a, i64 %b) alwaysinline {
  %by = and i64 %b, 63
  %r = ashr i64 %a, %by
  ret i64 %r
}""",
    "bits": """(i64 %a) alwaysinline {
  %size = call i64 @llvm.abs.i64(i64 %a, i1 false)
  %r = call i64 @llvm.ctpop.i64(i64 %size)
  ret i64 %r
}""",
    "width": """(i64 %a) alwaysinline {
  %size = call i64 @llvm.abs.i64(i64 %a, i1 false)
  %zeros = call i64 @llvm.ctlz.i64(i64 %size, i1 false)
  %r = sub i64 64, %zeros
  ret i64 %r
}""",
    "finite": """(double %a) alwaysinline {
  %none = fsub double %a, %a
  %r = fcmp oeq double %none, 0.0
  ret i1 %r
}""",
    "floor_whole": """(double %a) alwaysinline {
  %down = call double @llvm.floor.f64(double %a)
  %r = call i64 @llvm.fptosi.sat.i64.f64(double %down)
  ret i64 %r
}""",
    "ceil_whole": """(double %a) alwaysinline {
  %up = call double @llvm.ceil.f64(double %a)
  %r = call i64 @llvm.fptosi.sat.i64.f64(double %up)
  ret i64 %r
}""",
}

C_LIBRARY = """
static inline long long floor_quotient(long long a, long long b)
{
    if (b == 0) return 0;
    if (b == -1) return (long long)(0ULL - (unsigned long long)a);
    return a / b - (a % b != 0 && (a % b ^ b) < 0);
}
static inline long long floor_remainder(long long a, long long b)
{
    if (b == 0 || b == -1) return 0;
    return a % b + ((a % b != 0 && (a % b ^ b) < 0) ? b : 0);
}
static inline long long left(long long a, long long b)
{
    return (long long)((unsigned long long)a << (b & 63));
}
static inline long long width(long long a)
{
    return a == 0 ? 0 : 64 - __builtin_clzll(a < 0 ? 0ULL - (unsigned long long)a : (unsigned long long)a);
}
static inline long long whole(double a)
{
    return a != a ? 0 : a >= 9223372036854775808.0 ? 9223372036854775807LL
        : a < -9223372036854775808.0 ? -9223372036854775807LL - 1 : (long long)a;
}
"""
