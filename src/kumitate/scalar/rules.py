"""The simplification of each operation while the graph is built, one function per operation; and what physics may call.

Signs are moved outwards (a negation is never an operand of a product, a difference and its opposite share a node), constants
are folded, and zeros and ones vanish. A float and a float give a float, so constants become nodes only when they meet a symbol.
Floating point is treated as the field of reals where physics needs it: 0·x is 0 even if x could be infinite, and dividing by a
constant is multiplying by its reciprocal. Sums are not reordered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from .graph import Graph, Scalar, Symbol, TraceError, scope_of
from .operations import FLOAT, TRACED


def _meet(a: Scalar, b: Scalar) -> tuple[Graph, Symbol, Symbol]:
    """Both as nodes of the inner scope of the two."""
    if a.__class__ is Symbol and b.__class__ is Symbol and a.graph is b.graph and not a.graph.floors:  # nearly always
        return a.graph, a, b
    graph = scope_of(a, b)
    return graph, graph.lift(a), graph.lift(b)


def known_number(a: Scalar) -> float | None:
    """The value of a float or constant node, else None."""
    if a.__class__ is Symbol:
        return a.payload if a.op == "const" else None
    return a  # type: ignore[return-value]


def same(a: Scalar, b: Scalar) -> bool:
    """Whether two values are known to be equal."""
    return a is b or (a.__class__ is not Symbol and b.__class__ is not Symbol and a == b)


def negate(a: Scalar) -> Scalar:
    if a.__class__ is not Symbol:
        return -a
    if a.op == "const":
        return -a.payload
    if a.op == "neg":
        return a.args[0]
    if a.op == "sub":
        return a.graph.node("sub", (a.args[1], a.args[0]))
    return _plain("neg", a)


def add(a: Scalar, b: Scalar) -> Scalar:
    x, y = known_number(a), known_number(b)
    if x is not None and y is not None:
        return x + y
    if x == 0.0:
        return b
    if y == 0.0:
        return a
    graph, a, b = _meet(a, b)
    if b.op == "neg":
        return subtract(a, b.args[0])
    if a.op == "neg":
        return subtract(b, a.args[0])
    if y is not None and y < 0.0:
        return subtract(a, -y)
    if x is not None and x < 0.0:
        return subtract(b, -x)
    if a is b:
        return multiply(2.0, a)
    return graph.node("add", (a, b) if a.serial < b.serial else (b, a))


def subtract(a: Scalar, b: Scalar) -> Scalar:
    x, y = known_number(a), known_number(b)
    if x is not None and y is not None:
        return x - y
    if y == 0.0:
        return a
    if x == 0.0:
        return negate(b)
    graph, a, b = _meet(a, b)
    if a is b:
        return 0.0
    if b.op == "neg":
        return add(a, b.args[0])
    if a.op == "neg":
        return negate(add(a.args[0], b))
    if y is not None and y < 0.0:
        return add(a, -y)
    opposite = graph.peek("sub", (b, a))
    if opposite is not None:
        return graph.node("neg", (opposite,))
    return graph.node("sub", (a, b))


def multiply(a: Scalar, b: Scalar) -> Scalar:
    x, y = known_number(a), known_number(b)
    if x is not None and y is not None:
        return x * y
    if y is not None:  # constants come first
        a, b, x, y = b, a, y, x
    if x is not None:
        if x == 0.0:
            return 0.0
        if x < 0.0:
            return negate(multiply(-x, b))
        if x == 1.0:
            return b
        if isinstance(b, Symbol) and b.op == "mul" and b.args[0].op == "const":
            return multiply(x * b.args[0].payload, b.args[1])
    graph, a, b = _meet(a, b)
    if a.op == "neg":
        return negate(multiply(a.args[0], b))
    if b.op == "neg":
        return negate(multiply(a, b.args[0]))
    return graph.node("mul", (a, b) if x is not None or a.serial <= b.serial else (b, a))


def divide(a: Scalar, b: Scalar) -> Scalar:
    x, y = known_number(a), known_number(b)
    if x is not None and y is not None:
        return x / y
    if y is not None:
        return multiply(a, 1.0 / y)
    if x == 0.0:
        return 0.0
    if x is not None and x < 0.0:
        return negate(divide(-x, b))
    graph, a, b = _meet(a, b)
    if a is b:
        return 1.0
    if a.op == "neg":
        return negate(divide(a.args[0], b))
    if b.op == "neg":
        return negate(divide(a, b.args[0]))
    return graph.node("div", (a, b))


def power(a: Scalar, exponent: Scalar) -> Scalar:
    n = known_number(exponent)
    if n is None:
        raise TraceError("only constant exponents can be traced; write exp(y*log(x)) for a variable one")
    if a.__class__ is not Symbol:
        return a**n
    if n == 0.5:
        return apply("sqrt", a)
    if n != int(n):
        return apply("exp", multiply(n, apply("log", a)))
    if n < 0:
        return divide(1.0, power(a, -n))
    result: Scalar = 1.0
    for bit in bin(int(n))[2:]:  # square and multiply, from the highest bit
        result = multiply(result, result)
        if bit == "1":
            result = multiply(result, a)
    return result


def _plain(op: str, *args: Scalar) -> Symbol:
    """The node of an operation."""
    graph = scope_of(*args)
    return graph.node(op, tuple(graph.lift(a) for a in args))


def _odd(op: str, a: Symbol) -> Scalar:
    return negate(apply(op, a.args[0])) if a.op == "neg" else _plain(op, a)


def _even(op: str, a: Symbol) -> Scalar:
    return _plain(op, a.args[0] if a.op == "neg" else a)


def _extreme(op: str, a: Scalar, b: Scalar) -> Scalar:
    return a if a is b else _plain(op, a, b)


def _select(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    if condition.__class__ is not Symbol:
        return a if condition else b
    if same(a, b):
        return a
    return _plain("select", condition, a, b)


def _junction(op: str, a: Scalar, b: Scalar) -> Scalar:
    """ "and" and "or" of conditions, simplified if one of them is a plain truth value."""
    absorbing = op == "or"
    for known, other in ((a, b), (b, a)):
        if known.__class__ is not Symbol:
            return absorbing if bool(known) is absorbing else other
    return _extreme(op, a, b)


#: The rules of the operations that have some; the others are nodes of what they are given.
_RULES: dict[str, Callable[..., Any]] = {
    "neg": negate,
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "div": divide,
    **{name: partial(_odd, name) for name in ("sin", "tanh")},
    **{name: partial(_even, name) for name in ("cos", "abs")},
    **{name: partial(_extreme, name) for name in ("min", "max")},
    **{name: partial(_junction, name) for name in ("and", "or")},
    "select": _select,
}
_SYMBOLIC = {name: _RULES.get(name) or partial(_plain, name) for name in TRACED}


def apply(op: str, *args: Scalar) -> Scalar:
    """`op`: a number for numbers, a simplified symbol if an operand is a symbol."""
    for a in args:
        if a.__class__ is Symbol:
            if op != "select" and all(b.__class__ is not Symbol or b.op == "const" for b in args):
                return FLOAT[op](*(b.payload if b.__class__ is Symbol else b for b in args))
            return _SYMBOLIC[op](*args)
    return FLOAT[op](*args)


def _attach() -> None:
    """Attaches to Symbol its operators and the method names that NumPy's functions call on object arrays."""

    def number(x: Any) -> bool:
        return isinstance(x, int | float) or (hasattr(x, "__float__") and getattr(x, "ndim", 0) == 0)

    def binary(rule: Callable, swap: bool = False) -> Callable:
        def method(self: Symbol, other: Any) -> Any:
            if other.__class__ is not Symbol and other.__class__ is not float:
                if not number(other):
                    return NotImplemented
                other = float(other)
            return rule(other, self) if swap else rule(self, other)

        return method

    rules = {"add": add, "sub": subtract, "mul": multiply, "truediv": divide}
    less, least = partial(apply, "lt"), partial(apply, "le")
    attributes: dict[str, Any] = {
        **{f"__{name}__": binary(rule) for name, rule in rules.items()},
        **{f"__r{name}__": binary(rule, swap=True) for name, rule in rules.items()},
        "__pow__": binary(power),
        "__neg__": negate,
        "__pos__": lambda self: self,
        "__abs__": lambda self: apply("abs", self),
        "__lt__": binary(less),
        "__le__": binary(least),
        "__gt__": binary(less, swap=True),
        "__ge__": binary(least, swap=True),
        "__and__": lambda self, other: apply("and", self, other),
        "__or__": lambda self, other: apply("or", self, other),
        "__invert__": lambda self: apply("not", self),
        "conjugate": lambda self: self,
    }
    for name in ("sqrt", "sin", "cos", "exp", "log", "tanh"):
        attributes[name] = lambda self, op=name: apply(op, self)
    attributes["arctan2"] = lambda self, x: apply("atan2", self, x if x.__class__ is Symbol else float(x))
    for name, value in attributes.items():
        setattr(Symbol, name, value)


_attach()


# --- the functions that physics may call on a scalar, whether it is a float or a `Symbol` -----------------------------------
def sin(x: Any) -> Any:
    """Sine of `x` [rad]."""
    return apply("sin", x)


def cos(x: Any) -> Any:
    """Cosine of `x` [rad]."""
    return apply("cos", x)


def sqrt(x: Any) -> Any:
    """Square root."""
    return apply("sqrt", x)


def exp(x: Any) -> Any:
    """Exponential."""
    return apply("exp", x)


def log(x: Any) -> Any:
    """Natural logarithm."""
    return apply("log", x)


def tanh(x: Any) -> Any:
    """Hyperbolic tangent."""
    return apply("tanh", x)


def arctan2(y: Any, x: Any) -> Any:
    """Angle of the point (x, y), in (−π, π] [rad]."""
    return apply("atan2", y, x)


def absolute(x: Any) -> Any:
    """Absolute value."""
    return apply("abs", x)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two; NaN if one of them is NaN."""
    return apply("min", a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two; NaN if one of them is NaN."""
    return apply("max", a, b)


def select(condition: Any, a: Any, b: Any) -> Any:
    """`a` where `condition` holds, else `b`. Both are computed; write them so that neither fails."""
    return apply("select", condition, a, b)


def equal(a: Any, b: Any) -> Any:
    """Condition a = b. (`==` on symbols tests whether they are the same node, as hashing requires.)"""
    return apply("eq", a, b)


def both(a: Any, b: Any) -> Any:
    """Condition: a and b."""
    return apply("and", a, b)


def either(a: Any, b: Any) -> Any:
    """Condition: a or b."""
    return apply("or", a, b)


def is_double(x: Any) -> Any:
    """Condition: numbers tell x > 0 from x (1 + 1e-9), as double precision does and single precision does not.

    >>> is_double(2.0)
    True
    """
    return x * (1.0 + 1e-9) - x > 0.0


def is_zero(x: Scalar) -> bool:
    """Whether `x` is known to be zero, so that what it multiplies need not be computed; False for symbols, and for arrays.

    >>> is_zero(0.0), is_zero(1e-300)
    (True, False)
    """
    return isinstance(x, float | int) and bool(x == 0.0)


def floats(scalars: Iterable[Scalar]) -> list[float]:
    """Scalars that are numbers for certain, such as a model's, as floats.

    Raises:
        TraceError: if one of them is a symbol.

    >>> floats((1, 2.0))
    [1.0, 2.0]
    """
    return [float(x) for x in scalars]
