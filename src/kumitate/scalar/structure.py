"""Structured values: lists, tuples, named or not, dictionaries and dataclasses, as scalars and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from .graph import Symbol


def flatten(value: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """The scalars of `value` in order, and the function that builds a value of the same structure from other scalars.

    Floats and symbols are scalars; lists, tuples, named tuples, dictionaries and dataclasses are taken apart; all else
    (integers, names, None) belongs to the structure and stays.
    """
    leaves: list[Any] = []
    build = _take(value, leaves)

    def rebuild(scalars: Sequence[Any]) -> Any:
        return build(iter(scalars))

    return leaves, rebuild


def _take(value: Any, leaves: list[Any]) -> Callable[[Any], Any]:
    kind = value.__class__
    if kind is Symbol or isinstance(value, float):
        leaves.append(value)
        return next
    names = _fields(kind)
    if names is not None:
        parts = [_take(getattr(value, name), leaves) for name in names]
        return lambda scalars: kind(**{name: part(scalars) for name, part in zip(names, parts, strict=True)})
    if kind is tuple or kind is list:
        parts = [_take(item, leaves) for item in value]
        return lambda scalars: kind(part(scalars) for part in parts)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        parts = [_take(item, leaves) for item in value]
        return lambda scalars: kind(*(part(scalars) for part in parts))
    if kind is dict:
        items = {key: _take(item, leaves) for key, item in value.items()}
        return lambda scalars: {key: part(scalars) for key, part in items.items()}
    return lambda scalars: value


@cache
def _fields(kind: type) -> tuple[str, ...] | None:
    """The names of a dataclass's fields, None for other classes."""
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None
