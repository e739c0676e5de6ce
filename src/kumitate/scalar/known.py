"""What is known of a scalar while a page is traced: whether it is zero, and its value if it is a number."""

from __future__ import annotations

from collections.abc import Iterable

from .graph import Scalar

__all__ = ["floats", "is_zero"]


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
