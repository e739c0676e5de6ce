"""Coordinates by name, as on the command line: "shoulder=30deg, elbow=-0.2"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import get_close_matches

from ..errors import InputError

__all__ = ["with_values"]


def with_values(text: str, option: str, names: Sequence[str], start: Sequence[float]) -> list[float]:
    """`start` with the values that the text names.

    Args:
        text: "name=value" with commas between; SI units, or degrees as in "30deg".
        option: where the text is from, for messages.
        names: of the components of `start`.

    Raises:
        InputError: for an unknown name or a value that is not a number.

    >>> with_values("b=90deg, a=2", "--q", ("a", "b"), (0.0, 0.0))
    [2.0, 1.5707963267948966]
    """
    values = [float(value) for value in start]
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = (part.strip() for part in item.partition("="))
        if not names:
            raise InputError(
                f"{option}: {item!r} names a component, and there are none: all joints are fixed. Leave {option} out"
            )
        if not equals:
            raise InputError(f'{option}: {item!r} is not of the form name=value; write "{names[0]}=0.5" or "{names[0]}=30deg"')
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise InputError(f"{option}: there is no component {name!r}; {hint}There are {', '.join(names)}")
        values[list(names).index(name)] = _number(option, item, number)
    return values


def _number(option: str, item: str, text: str) -> float:
    degrees = text.endswith("deg")
    try:
        value = float(text.removesuffix("deg"))
    except ValueError:
        raise InputError(f"{option}: in {item!r}, {text!r} is not a number; write 0.5 (SI units) or 30deg") from None
    if not math.isfinite(value):
        raise InputError(f"{option}: in {item!r}, {text!r} is not finite")
    return math.radians(value) if degrees else value
