"""The operations of both languages, traced programs and procedures: a row each, with all that any form of them needs.

A row gives the kinds of its operands and, last, of its result: f a float, b true or false, i an integer. Then come its text in
LLVM's language and, of traced programs, in C and in WebAssembly; what it means on Python's numbers, which all forms must
reproduce; and its partial derivatives.

Texts have the operands as {0}, {1}, … In LLVM's, {f} and {b} are the types of floats and conditions, numbers or vectors, {s} is
the suffix that names of LLVM's own functions have for {f}, {nsz} and {contract} are permissions to forget the sign of zeros and
to fuse products with sums; several instructions stand apart by semicolons, all but the last one with a name for what follows.
In WebAssembly's, an instruction takes its operands from the stack: without {0}, … they are put there in their order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple


class OperationRow(NamedTuple):
    """An operation.

    Attributes:
        kinds: of its operands and its result.
        llvm, c, wasm: its texts; that in WebAssembly is "f64." and its name, unless another is given.
        meaning: what it gives for Python's numbers.
        partials: its derivatives by its operands, of a function that applies an operation, the value, and the operands.
    """

    kinds: str
    llvm: str
    c: str = ""
    meaning: Callable[..., Any] | None = None
    partials: Callable[..., tuple[Any, ...]] | None = None
    wasm: str = ""


def _library(name: str, partials: Callable[..., tuple[Any, ...]] | None = None, operands: int = 1) -> OperationRow:
    """A function of C's library of mathematics, on one number at a time."""
    listed = ", ".join(f"double {{{k}}}" for k in range(operands))
    c = f"{name}({listed.replace('double ', '')})"
    return OperationRow("f" * (operands + 1), f"call double @{name}({listed})", c, getattr(math, name), partials)


def _intrinsic(kinds: str, name: str, c: str = "", flags: str = "") -> OperationRow:
    """A function of LLVM on floats."""
    listed = ", ".join(f"{{f}} {{{k}}}" for k in range(len(kinds) - 1))
    return OperationRow(kinds, f"call{flags} {{f}} @llvm.{name}.{{s}}({listed})", c)


def _extreme(name: str, sign: str, meaning: Callable[..., Any], partials: Callable[..., tuple[Any, ...]]) -> OperationRow:
    """The smaller or larger of two; a NaN is kept: an error must not vanish from a residual or an estimate."""
    # which of two zeros is the smaller one costs two instructions more on x86
    row = _intrinsic("fff", name, f"{{1}} {sign} {{0}} || {{1}} != {{1}} ? {{1}} : {{0}}", "{nsz}")
    return row._replace(meaning=meaning, partials=partials)


def _chosen(do: Callable[..., Any], first: Any) -> tuple[Any, Any]:
    """The derivatives by the first and the second of two operands of which one is chosen."""
    return do("select", first, 1.0, 0.0), do("select", first, 0.0, 1.0)


#: The operations of programs, with derivatives, save those whose values are true or false.
TRACED: dict[str, OperationRow] = {
    "neg": OperationRow("ff", "fneg {f} {0}", "-{0}", lambda a: -a, lambda do, y, a: (-1.0,)),
    "add": OperationRow(
        "fff", "fadd{contract} {f} {0}, {1}", "{0} + {1}", lambda a, b: a + b, lambda do, y, a, b: (1.0, 1.0)
    ),
    "sub": OperationRow(
        "fff", "fsub{contract} {f} {0}, {1}", "{0} - {1}", lambda a, b: a - b, lambda do, y, a, b: (1.0, -1.0)
    ),
    "mul": OperationRow("fff", "fmul{contract} {f} {0}, {1}", "{0}*{1}", lambda a, b: a * b, lambda do, y, a, b: (b, a)),
    "div": OperationRow(
        "fff", "fdiv {f} {0}, {1}", "{0}/{1}", lambda a, b: a / b, lambda do, y, a, b: (1.0 / b, -(y / b))
    ),
    "sqrt": _intrinsic("ff", "sqrt", "sqrt({0})")._replace(meaning=math.sqrt, partials=lambda do, y, a: (0.5 / y,)),
    "sin": _library("sin", lambda do, y, a: (do("cos", a),)),
    "cos": _library("cos", lambda do, y, a: (-do("sin", a),)),
    "exp": _library("exp", lambda do, y, a: (y,)),
    "log": _library("log", lambda do, y, a: (1.0 / a,)),
    "tanh": _library("tanh", lambda do, y, a: (1.0 - y * y,)),
    "atan2": _library("atan2", lambda do, y, a, b: (b / (a * a + b * b), -(a / (a * a + b * b))), 2),
    "abs": _intrinsic("ff", "fabs", "fabs({0})")._replace(
        meaning=abs, partials=lambda do, y, a: (do("select", do("lt", a, 0.0), -1.0, 1.0),)
    ),
    "min": _extreme("minimum", "<", lambda a, b: b if b < a or b != b else a, lambda do, y, a, b: _chosen(do, do("le", a, b))),
    "max": _extreme("maximum", ">", lambda a, b: b if b > a or b != b else a, lambda do, y, a, b: _chosen(do, do("le", b, a))),
    "lt": OperationRow("ffb", "fcmp olt {f} {0}, {1}", "{0} < {1}", lambda a, b: a < b),
    "le": OperationRow("ffb", "fcmp ole {f} {0}, {1}", "{0} <= {1}", lambda a, b: a <= b),
    "eq": OperationRow("ffb", "fcmp oeq {f} {0}, {1}", "{0} == {1}", lambda a, b: a == b),
    "and": OperationRow("bbb", "and {b} {0}, {1}", "{0} && {1}", lambda a, b: bool(a) and bool(b), wasm="i32.and"),
    "or": OperationRow("bbb", "or {b} {0}, {1}", "{0} || {1}", lambda a, b: bool(a) or bool(b), wasm="i32.or"),
    "not": OperationRow("bb", "xor {b} {0}, {true}", "!{0}", lambda a: not a, wasm="i32.eqz"),
    "select": OperationRow(
        "bfff", "select {b} {0}, {f} {1}, {f} {2}", "{0} ? {1} : {2}", lambda c, a, b: a if c else b,
        lambda do, y, c, a, b: (0.0, *_chosen(do, c)), wasm="{1} {2} {0} select",
    ),
}  # fmt: skip

#: Those of the traced operations whose values are true or false.
CONDITIONS = frozenset(name for name, row in TRACED.items() if row.kinds[-1] == "b")

#: What the traced operations mean on plain numbers.
FLOAT: dict[str, Callable[..., Any]] = {name: row.meaning for name, row in TRACED.items() if row.meaning is not None}

# a divisor of 0 gives 0, as with NumPy's integers, and -1 cannot overflow; the processor would stop at both
_DIVISOR = "next = add i64 {1}, 1; special = icmp ult i64 {next}, 2; by = select i1 {special}, i64 1, i64 {1}; "
_REST = (
    "rest = srem i64 {0}, {by}; some = icmp ne i64 {rest}, 0; signs = xor i64 {rest}, {by}; apart = icmp slt i64 {signs}, 0; "
    "down = and i1 {some}, {apart}; "
)
_QUOTIENT = (
    f"{_DIVISOR}cut = sdiv i64 {{0}}, {{by}}; {_REST}step = sext i1 {{down}} to i64; "
    "floor = add i64 {cut}, {step}; zero = icmp eq i64 {1}, 0; minus = sub i64 0, {0}; "
    "other = select i1 {zero}, i64 0, i64 {minus}; select i1 {special}, i64 {other}, i64 {floor}"
)
_REMAINDER = f"{_DIVISOR}{_REST}more = select i1 {{down}}, i64 {{by}}, i64 0; add i64 {{rest}}, {{more}}"
_SIZE = "size = call i64 @llvm.abs.i64(i64 {0}, i1 false)"
_TO_WHOLE = "call i64 @llvm.fptosi.sat.i64.f64(double {%s})"

#: All operations; those of procedures alone are of integers, by names that end in `.i`, and more of the library.
OPERATIONS: dict[str, OperationRow] = TRACED | {
    "gt": OperationRow("ffb", "fcmp ogt double {0}, {1}"),
    "ge": OperationRow("ffb", "fcmp oge double {0}, {1}"),
    "ne": OperationRow("ffb", "fcmp une double {0}, {1}"),
    "xor": OperationRow("bbb", "xor i1 {0}, {1}"),
    # Python's own min and max: the second operand only if it is smaller or larger
    "least": OperationRow("fff", "less = fcmp olt double {1}, {0}; select i1 {less}, double {1}, double {0}"),
    "greatest": OperationRow("fff", "more = fcmp ogt double {1}, {0}; select i1 {more}, double {1}, double {0}"),
    "add.i": OperationRow("iii", "add i64 {0}, {1}", meaning=int.__add__),
    "sub.i": OperationRow("iii", "sub i64 {0}, {1}", meaning=int.__sub__),
    "mul.i": OperationRow("iii", "mul i64 {0}, {1}", meaning=int.__mul__),
    "floordiv.i": OperationRow("iii", _QUOTIENT, meaning=lambda a, b: a // b if b else 0),
    "mod.i": OperationRow("iii", _REMAINDER),
    "neg.i": OperationRow("ii", "sub i64 0, {0}", meaning=int.__neg__),
    "abs.i": OperationRow("ii", "call i64 @llvm.abs.i64(i64 {0}, i1 false)"),
    "min.i": OperationRow("iii", "call i64 @llvm.smin.i64(i64 {0}, i64 {1})"),
    "max.i": OperationRow("iii", "call i64 @llvm.smax.i64(i64 {0}, i64 {1})"),
    "and.i": OperationRow("iii", "and i64 {0}, {1}"),
    "or.i": OperationRow("iii", "or i64 {0}, {1}"),
    "xor.i": OperationRow("iii", "xor i64 {0}, {1}"),
    "invert.i": OperationRow("ii", "xor i64 {0}, -1"),
    "shl.i": OperationRow("iii", "by = and i64 {1}, 63; shl i64 {0}, {by}", meaning=lambda a, b: a << (b & 63)),
    "shr.i": OperationRow("iii", "by = and i64 {1}, 63; ashr i64 {0}, {by}"),
    "bit_count.i": OperationRow("ii", f"{_SIZE}; call i64 @llvm.ctpop.i64(i64 {{size}})"),
    "bit_length.i": OperationRow(
        "ii", f"{_SIZE}; zeros = call i64 @llvm.ctlz.i64(i64 {{size}}, i1 false); sub i64 64, {{zeros}}"
    ),
    **{
        f"{name}.i": OperationRow("iib", f"icmp {signed} i64 {{0}}, {{1}}")
        for name, signed in (("lt", "slt"), ("le", "sle"), ("gt", "sgt"), ("ge", "sge"), ("eq", "eq"), ("ne", "ne"))
    },
    "float.i": OperationRow("if", "sitofp i64 {0} to double"),
    "int.f": OperationRow("fi", _TO_WHOLE % 0),
    "int.b": OperationRow("bi", "zext i1 {0} to i64"),
    "isnan": OperationRow("fb", "fcmp uno double {0}, {0}"),
    "isfinite": OperationRow("fb", "none = fsub double {0}, {0}; fcmp oeq double {none}, 0.0"),
    "floor": OperationRow("fi", f"down = call double @llvm.floor.f64(double {{0}}); {_TO_WHOLE % 'down'}"),
    "ceil": OperationRow("fi", f"up = call double @llvm.ceil.f64(double {{0}}); {_TO_WHOLE % 'up'}"),
    "copysign": _intrinsic("fff", "copysign"),
    "hypot": _library("hypot", operands=2),
    **{name: _library(name) for name in ("tan", "asin", "acos", "atan")},
}

#: The functions of C's library of mathematics among them.
LIBRARY = frozenset(name for name, row in OPERATIONS.items() if row.llvm.startswith("call double @"))
