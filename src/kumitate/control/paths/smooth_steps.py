"""Steps, cut-offs and limits, sharp and smooth; for numbers, arrays and symbols (Y 10.8-10.10, 11.9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...scalar import absolute, maximum, minimum, select, tanh

Values = Any


def smooth_step(x: Values, sharpness: float) -> Values:
    """U_s(x) = 1/(1 + e^{−s x}): from 0 to 1 around x = 0, with the slope s/4 there (Y 10.10).

    >>> smooth_step(0.0, 100.0), round(smooth_step(0.05, 100.0), 4)
    (0.5, 0.9933)
    """
    return _each(lambda item: 0.5 + 0.5 * tanh(0.5 * sharpness * item), x)  # the same by tanh, which does not overflow


def smooth_trapezoid(x: Values, center: float, half_width: float, sharpness: float) -> Values:
    """trap(x; x₀, w) with rounded steps: about 1 where |x − x₀| < w, about 0 outside (Y 11.9).

    >>> round(smooth_trapezoid(0.0, 0.0, 0.29, 100.0), 6), round(smooth_trapezoid(0.5, 0.0, 0.29, 100.0), 6)
    (1.0, 0.0)
    """
    return smooth_step((x - center) + half_width, sharpness) * smooth_step(half_width - (x - center), sharpness)


def blend(x: Values, start: float, end: float) -> Values:
    """The fifth-order step from exactly 0 before `start` to exactly 1 after `end`, with two continuous derivatives.

    With `end` before `start` it falls from 1 to 0 instead: a cut-off.

    >>> blend(1.0, 1.0, 3.0), blend(2.0, 1.0, 3.0), blend(5.0, 1.0, 3.0), blend(0.0, 3.0, 1.0)
    (0.0, 0.5, 1.0, 1.0)
    """

    def one(item: Any) -> Any:
        s = maximum(0.0, minimum(1.0, (item - start) / (end - start)))
        return s * s * s * (10.0 + s * (6.0 * s - 15.0))

    return _each(one, x)


def clamp(x: Values, low: Values, high: Values) -> Values:
    """x limited to between `low` and `high`, with corners.

    >>> clamp(np.array([-3.0, 0.5]), -1.0, 1.0)
    array([-1. ,  0.5])
    """
    return _each(lambda item, below, above: maximum(below, minimum(above, item)), x, low, high)


def smooth_clamp(x: Values, limit: Values, *, knee: float = 0.8) -> Values:
    """x up to `knee` times the limit; beyond, it approaches ±limit without reaching it.

    Value and slope are continuous; the bend is a tanh. Below the knee nothing changes.

    >>> smooth_clamp(0.5, 1.0), round(smooth_clamp(50.0, 1.0), 6)
    (0.5, 1.0)
    """

    def one(item: Any, bound: Any) -> Any:
        straight, rest = knee * bound, (1.0 - knee) * bound
        size = absolute(item)
        over = maximum(size - straight, 0.0)
        bent = select(size < straight, size, straight + rest * tanh(over / rest))
        return select(item < 0.0, -bent, bent)

    return _each(one, x, limit)


def _each(function: Callable[..., Any], *values: Values) -> Values:
    """A function of scalars applied to scalars, or to all entries of arrays, broadcast against each other."""
    if not any(isinstance(value, np.ndarray | list | tuple) for value in values):
        return function(*values)
    arrays = np.broadcast_arrays(*(np.asarray(value) for value in values))
    flat = [function(*items) for items in zip(*(array.ravel().tolist() for array in arrays), strict=True)]
    dtype = object if any(array.dtype == object for array in arrays) else float
    return np.array(flat, dtype=dtype).reshape(arrays[0].shape)
