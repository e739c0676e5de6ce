"""Arrays of symbols: NumPy's functions on traced values, so that a controller is written as it would be for numbers.

`SymbolArray` answers NumPy's protocols (`__array_ufunc__`, `__array_function__`), and so does a single `Symbol`: `np.clip`,
`np.where`, `np.minimum`, `np.sign`, `np.dot`, `@`, comparisons and slices give symbols where they meet symbols. `np.array` and
`np.zeros` do not dispatch on their arguments and give plain arrays; the functions of this module accept those too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .graph import Symbol, TraceError
from .rules import apply
from .tracing import active_scope


class SymbolArray(np.ndarray):
    """An array of traced values and numbers (dtype object). Its elements may be written to."""

    def __new__(cls, values: Sequence[Any]) -> SymbolArray:
        return np.array(list(values), dtype=object).view(cls)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return _ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Callable, types: Any, arguments: Any, options: Any) -> Any:
        if function in _FUNCTIONS:
            return _FUNCTIONS[function](*arguments, **options)
        return _wrapped(super().__array_function__(function, types, arguments, options))  # type: ignore[arg-type]


# --- what users write with ----------------------------------------------------------------------------------------------------
def minimum(a: Any, b: Any) -> Any:
    """The smaller of two, element by element; of numbers, of traced values and of arrays of either.

    >>> float(minimum(1.0, 2.0)), minimum([1.0, 5.0], 2.0).tolist()
    (1.0, [1.0, 2.0])
    """
    return _either_way(np.minimum, a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two, element by element; as `minimum`.

    >>> maximum([1.0, 5.0], 2.0).tolist()
    [2.0, 5.0]
    """
    return _either_way(np.maximum, a, b)


def clip(x: Any, lower: Any, upper: Any) -> Any:
    """`x` limited to between `lower` and `upper`, element by element, as `minimum`.

    >>> clip([-3.0, 0.5, 3.0], -1.0, 1.0).tolist()
    [-1.0, 0.5, 1.0]
    """
    return minimum(maximum(x, lower), upper)


def sign(x: Any) -> Any:
    """−1, 0 or 1: the sign of every element, as `minimum`.

    >>> sign([-3.0, 0.0, 2.0]).tolist()
    [-1.0, 0.0, 1.0]
    """
    return _either_way(np.sign, x)


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, else `b`, element by element; both are computed. As `minimum`.

    >>> where([True, False], 1.0, 2.0).tolist()
    [1.0, 2.0]
    """
    return _where(condition, a, b) if any(map(is_traced, (condition, a, b))) else np.where(condition, a, b)


def zeros(shape: int | tuple[int, ...]) -> np.ndarray:
    """An array of zeros whose elements may be set to traced values while a function is traced: `np.zeros` otherwise.

    >>> zeros(2).tolist()
    [0.0, 0.0]
    """
    return np.zeros(shape) if active_scope() is None else np.full(shape, 0.0, dtype=object).view(SymbolArray)


# --- NumPy's protocols --------------------------------------------------------------------------------------------------------
def _ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """The result of a universal function of NumPy with symbols among its inputs."""
    out = options.pop("out", None)
    for target in out or ():
        if target is not None and target.dtype != object:
            raise TraceError(
                f"traced values cannot be written into an array of {target.dtype}; make it by np.zeros_like(v) or km.zeros(n)"
            )
    if out is not None:
        options["out"] = tuple(None if target is None else target.view(np.ndarray) for target in out)
    elements = _ELEMENTWISE.get(ufunc.__name__)
    if elements is None and ufunc not in _BY_OPERATORS:
        raise TraceError(f"np.{ufunc.__name__} cannot be traced")
    found = getattr(elements or ufunc, method)(*map(_plain, inputs), **options)
    return out[0] if out is not None else _wrapped(found)


def _function_of_symbol(self: Symbol, function: Callable, types: Any, arguments: Any, options: Any) -> Any:
    """The result of a NumPy array function for a single symbol: the same as for an array without axes."""
    if function in _FUNCTIONS:
        return _FUNCTIONS[function](*arguments, **options)
    return _wrapped(function(*_as_array(arguments), **{key: _as_array(value) for key, value in options.items()}))


def _as_array(x: Any) -> Any:
    """An argument with every symbol in it, in lists and tuples too, as an array without axes."""
    if x.__class__ in (list, tuple):
        return x.__class__(map(_as_array, x))
    return _plain(x).view(SymbolArray) if x.__class__ is Symbol else x


def _plain(x: Any) -> Any:
    """An input as NumPy takes it: symbols as arrays without axes, arrays without the protocols."""
    if isinstance(x, SymbolArray):
        return x.view(np.ndarray)
    if x.__class__ is Symbol:
        array = np.empty((), dtype=object)
        array[()] = x
        return array
    return x


def _wrapped(found: Any) -> Any:
    """A result: an array of symbols, or its only element if it has no axes."""
    if not isinstance(found, np.ndarray) or found.dtype != object:
        return found
    return found.view(SymbolArray) if found.ndim else found[()]


def is_traced(x: Any) -> bool:
    """Whether there are symbols in x."""
    if x.__class__ is Symbol or isinstance(x, SymbolArray):
        return True
    return np.asarray(x).dtype == object


def is_masked(x: Any) -> bool:
    """Whether x is a masked array, which NumPy's functions take for its numbers alone."""
    return isinstance(x, np.ndarray) and hasattr(x, "filled")


def _either_way(ufunc: np.ufunc, *inputs: Any) -> Any:
    return _ufunc(ufunc, "__call__", inputs, {}) if any(map(is_traced, inputs)) else ufunc(*inputs)


def _where(condition: Any, *values: Any) -> Any:
    if len(values) != 2:
        raise TraceError("np.where(condition) alone cannot be traced, as its result's size is not known; give both values too")
    return _wrapped(np.frompyfunc(partial(apply, "select"), 3, 1)(*map(_plain, (condition, *values))))


def _like(fill: float | None) -> Callable[..., np.ndarray]:
    """`np.zeros_like` and similar functions: their arrays can hold symbols, unless another dtype is given."""

    def make(prototype: Any, *given: Any, dtype: Any = None, shape: Any = None, **options: Any) -> np.ndarray:
        value = given[0] if fill is None else fill
        size = np.shape(prototype) if shape is None else shape
        made = np.full(size, value, dtype=dtype or object)
        return made.view(SymbolArray) if made.dtype == object else made

    return make


def _cross(a: Any, b: Any, *axes: Any, **named: Any) -> Any:
    """`np.cross`. NumPy 2.0 keeps a product of two elements, if that is a number such as 0, in an array of numbers, into which
    the next product, a symbol, does not go; an axis more makes that array one of objects.
    """
    first, second = (np.asarray(_plain(x), dtype=object) for x in (a, b))
    if first.ndim == second.ndim == 1:
        return _wrapped(np.cross(first[None], second[None])[0])
    return _wrapped(np.cross(first, second, *axes, **named))


def _within_circle(x: Any) -> Any:
    return apply("sqrt", 1.0 - x * x)


_FUNCTIONS: dict[Callable, Callable[..., Any]] = {
    np.where: _where,
    np.cross: _cross,
    np.zeros_like: _like(0.0),
    np.empty_like: _like(0.0),
    np.ones_like: _like(1.0),
    np.full_like: _like(None),
}

#: Functions whose object loops use operators that a symbol has.
_BY_OPERATORS = {
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.positive, np.power, np.square, np.matmul, np.reciprocal,
    *(getattr(np, name) for name in ("vecdot", "matvec", "vecmat") if hasattr(np, name)), # NumPy 2
}  # fmt: skip

#: The rest, element by element: how many operands each has, and its rule.
RULES: dict[str, tuple[int, Callable[..., Any]]] = {
    **{name: (1, partial(apply, name)) for name in ("sin", "cos", "sqrt", "exp", "log", "tanh")},
    **dict.fromkeys(("absolute", "fabs"), (1, partial(apply, "abs"))),
    "sign": (1, lambda x: apply("select", apply("lt", 0.0, x), 1.0, apply("select", apply("lt", x, 0.0), -1.0, 0.0))),
    "tan": (1, lambda x: apply("sin", x) / apply("cos", x)),
    "sinh": (1, lambda x: 0.5 * (apply("exp", x) - apply("exp", -x))),
    "cosh": (1, lambda x: 0.5 * (apply("exp", x) + apply("exp", -x))),
    "arcsin": (1, lambda x: apply("atan2", x, _within_circle(x))),
    "arccos": (1, lambda x: apply("atan2", _within_circle(x), x)),
    "arctan": (1, lambda x: apply("atan2", x, 1.0)),
    "arctan2": (2, partial(apply, "atan2")),
    "hypot": (2, lambda x, y: apply("sqrt", x * x + y * y)),
    **dict.fromkeys(("deg2rad", "radians"), (1, lambda x: x * (np.pi / 180.0))),
    **dict.fromkeys(("rad2deg", "degrees"), (1, lambda x: x * (180.0 / np.pi))),
    "minimum": (2, partial(apply, "min")),
    "maximum": (2, partial(apply, "max")),
    "clip": (3, lambda x, lower, upper: apply("min", apply("max", x, lower), upper)),
    "less": (2, partial(apply, "lt")),
    "less_equal": (2, partial(apply, "le")),
    "greater": (2, lambda a, b: apply("lt", b, a)),
    "greater_equal": (2, lambda a, b: apply("le", b, a)),
    "equal": (2, partial(apply, "eq")),
    "not_equal": (2, lambda a, b: apply("not", apply("eq", a, b))),
    **dict.fromkeys(("logical_and", "bitwise_and"), (2, partial(apply, "and"))),
    **dict.fromkeys(("logical_or", "bitwise_or"), (2, partial(apply, "or"))),
    **dict.fromkeys(("logical_not", "invert"), (1, partial(apply, "not"))),
}
_ELEMENTWISE = {name: np.frompyfunc(rule, inputs, 1) for name, (inputs, rule) in RULES.items()}

Symbol.__array_ufunc__ = lambda self, ufunc, method, *inputs, **options: _ufunc(ufunc, method, inputs, options)  # type: ignore[attr-defined]
Symbol.__array_function__ = _function_of_symbol  # type: ignore[attr-defined]
