"""Checks of the numbers and poses that users give: real, finite, and within the rule for their quantity.

Sizes are bounded so that their squares, and products of a few, stay far from the limits of double precision (about 1e-308 and
1e308), where numbers lose digits or become infinite, and accelerations would silently become NaN.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..errors import InputError, KumitateError, ModelError
from ..scalar import floats
from ..scalar.arrays import is_masked
from ..spatial import DenseRotation, Matrix3, Transform, Vector3, is_rotation

Part = TypeVar("Part")

#: The largest size of any quantity of a model, in SI units, and the smallest of those that appear in denominators, unless 0.
LARGEST, SMALLEST = 1e50, 1e-100


@dataclass(frozen=True)
class Rule:
    """A rule for numbers: in words, as a test, and with a remedy."""

    words: str
    remedy: str
    holds: Callable[[float], bool]


def _within(low: float, high: float, x: float) -> bool:
    return low <= x <= high


def _sized(x: float) -> bool:
    return x == 0.0 or SMALLEST <= abs(x) <= LARGEST


def _massive(x: float) -> bool:
    return x >= 0.0 and _sized(x)


# no lambdas where parameters of sweeps have them: they are sent to other processes
_BOUND, _INF = f"at most {LARGEST:g}", math.inf
FINITE = Rule(f"finite, {_BOUND} in size", "Check the number and its unit (SI)", partial(_within, -LARGEST, LARGEST))
NOT_NEGATIVE = Rule(f"zero or more, {_BOUND}", "Check the sign and the unit (SI)", partial(_within, 0.0, LARGEST))
LENGTH = Rule(f"zero or more, {_BOUND}", "Give a length in metres", partial(_within, 0.0, LARGEST))
POSITIVE = Rule(
    f"above zero, from {SMALLEST:g} to {LARGEST:g}", "Check the sign and the unit (SI)", partial(_within, SMALLEST, LARGEST)
)
MASS = Rule(f"zero, or from {SMALLEST:g} to {LARGEST:g}", "Check the unit (SI), or write 0 for what has none", _massive)
SCALE = Rule(f"zero, or from {SMALLEST:g} to {LARGEST:g} in size", "Check the number and its unit (SI)", _sized)
FRACTION = Rule("between 0 and 1", "Give a fraction", partial(_within, 0.0, 1.0))
ANY = Rule("a number", "Give one", lambda x: True)
BOUND = Rule("a number, infinite for none", "Leave out limits that are not known", partial(_within, -_INF, _INF))
MOST = Rule("zero or more, infinite for none", "Leave out limits that are not known", partial(_within, 0.0, _INF))


def checked_number(owner: str, what: str, value: Any, rule: Rule = FINITE, *, error: type[KumitateError] = ModelError) -> float:
    """The value as a float; an `error` with value, rule and remedy if it is not a real number or breaks the rule.

    `owner` is its owner in messages, such as "body 'hand'", and `what` the quantity with its unit, such as "the mass [kg]".

    >>> checked_number("body 'hand'", "the mass [kg]", 2, MASS)
    2.0
    """
    number = _real(value)
    if number is None:
        raise error(f"{owner}: {what} is {shown(value)}, which is not a real number; it must be {rule.words}. {rule.remedy}")
    if not rule.holds(number):
        raise error(f"{owner}: {what} is {number!r}; it must be {rule.words}. {rule.remedy}")
    return number


def checked_numbers(
    owner: str, what: str, values: Any, count: int, rule: Rule = FINITE, *, error: type[KumitateError] = ModelError
) -> tuple[float, ...]:
    """`count` values as floats; errors as in `checked_number`, or for another count."""
    try:
        parts = None if isinstance(values, str | bytes) else tuple(values)
    except TypeError:
        parts = None
    numbers_of = f"{count} number{'s' * (count != 1)}"
    if parts is None or len(parts) != count:
        held = "" if parts is None else f" ({len(parts)} value{'s' * (len(parts) != 1)})"
        raise error(f"{owner}: {what} is {shown(values)}{held}; it must be {numbers_of}. Give them as a tuple or list")
    found = tuple(_real(part) for part in parts)
    if not all(part is not None and rule.holds(part) for part in found):
        given = parts if None in found else found
        each = "it must be" if count == 1 else "each of its numbers must be"
        raise error(f"{owner}: {what} is {shown(given[0] if count == 1 else given)}; {each} {rule.words}. {rule.remedy}")
    return found  # type: ignore[return-value]


def checked_array(
    owner: str, what: str, given: Any, shape: tuple[int, ...] | None = None, rule: Rule = FINITE, *,
    error: type[KumitateError] = InputError,
) -> np.ndarray:  # fmt: skip
    """Real numbers as a new array of floats: of any shape without `shape`, otherwise of that shape or one number for all."""
    array = real_array(given)
    if array is None:
        raise error(f"{owner}: {shown(given)} is given for {what}; it must be real numbers. Give a number or an array of them")
    if shape is not None:
        if array.shape not in ((), shape):
            raise error(
                f"{owner}: an array of shape {array.shape} is given for {what}; it must be one number, or have the shape "
                f"{shape}. Give as many numbers"
            )
        array = np.array(np.broadcast_to(array, shape))
    for number in array.flat:
        if not rule.holds(float(number)):
            raise error(f"{owner}: {float(number)} is given for {what}; it must be {rule.words}. {rule.remedy}")
    return array


def real_array(given: Any) -> np.ndarray | None:
    """A new array of floats; None for values that are not real numbers, such as texts, dates and masked arrays."""
    try:
        array = np.array(given)
        return None if array.dtype.kind in "cmMSU" or is_masked(given) else array.astype(float)
    except (TypeError, ValueError, OverflowError):
        return None


def checked_whole(
    owner: str, what: str, value: Any, least: int, *, remedy: str, error: type[KumitateError] = ModelError
) -> int:
    """A whole number of at least `least`, as an int; 2.0 is accepted."""
    if type(value) is int and least <= value < 2**53:
        return value  # as most are, at every step of a simulation too
    number = _real(value)
    if number is None or not number.is_integer() or number < least:
        raise error(f"{owner}: {what} is {shown(value)}; it must be a whole number, {least} or more. {remedy}")
    return int(value)


def checked_name(owner: str, value: Any) -> str:
    """A name: a text that can be written to files."""
    try:
        if isinstance(value, str) and value.encode() is not None:
            return value
    except UnicodeEncodeError:
        pass
    raise ModelError(f"{owner}: the name is {shown(value)}; it must be a text that UTF-8 can hold. Give another")


def checked_parts(owner: str, what: str, given: Any, kind: type[Part]) -> tuple[Part, ...]:
    """A list of parts of one class as a tuple; a single part counts as a list of one."""
    parts = (given,) if isinstance(given, kind | str) or not isinstance(given, Iterable) else tuple(given)
    for part in parts:
        if not isinstance(part, kind):
            raise ModelError(f"{owner}: {what} holds {shown(part)}; it must hold {kind.__name__} only. Make one of each")
    return parts


def checked_pose(owner: str, what: str, value: Any) -> Transform:
    """A pose with finite translation and a proper rotation: a `Transform`, or a 4×4 matrix [R p; 0 1] of which it is made."""
    if not isinstance(value, Transform):
        X = real_array(value)
        if X is None or X.shape != (4, 4) or X[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
            raise ModelError(
                f"{owner}: {what} is {shown(value)}; it must be a pose. Make one by kumitate.pose(xyz, rpy), or give its 4×4 "
                "matrix [R p; 0 1]"
            )
        value = Transform(DenseRotation(Matrix3.of(X[:3, :3].tolist())), Vector3.of(X[:3, 3].tolist()))
    checked_numbers(owner, f"the position of {what} [m]", value.translation, 3)
    rows = [floats(row) for row in value.rotation.matrix()]
    if not is_rotation(rows):
        raise ModelError(
            f"{owner}: the matrix of {what} is {shown(rows)}, which is not a rotation; its rows must be "
            "orthonormal and right-handed. Divide rows by their lengths, and check their signs"
        )
    return value


def shown(value: Any, most: int = 60) -> str:
    """A value in a message: short, on one line, whatever it is."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # numbers of too many digits, and errors of foreign objects
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= most else text[: most - 1] + "…"


def _real(value: Any) -> float | None:
    """The value as a float; None for what is not a real number, such as texts, truth values and complex numbers."""
    if type(value) is float:
        return value
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        return float(value)
    except (OverflowError, ValueError):
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
