"""The functions that physics may call on a scalar, whether it is a float or a `Symbol`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .graph import Scalar
from .rules import apply


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
