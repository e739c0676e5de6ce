"""Structured values: lists, tuples, named or not, dictionaries and dataclasses, as scalars and back.

Of values of one structure, common numbers are constants and numbers that differ are inputs, so that one program serves all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

import numpy as np

from .graph import Symbol

T = TypeVar("T")


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


def structure_of(thing: Any) -> Hashable:
    """The structure of a value: everything except its numbers.

    >>> from kumitate.spatial import Vector3
    >>> structure_of(Vector3(1.0, 2.0, 3.0)) == structure_of(Vector3())
    True
    """
    leaves, build = flatten(thing)
    return repr(build([0.0] * len(leaves)))


class Family(Generic[T]):
    """Values of one structure, and the numbers in which they differ.

    Attributes:
        rows: (values, size), the numbers that are not the same in all of them.
        shape: one of the values.

    >>> from kumitate.spatial import Vector3
    >>> family = Family([Vector3(1.0, 2.0, 3.0), Vector3(1.0, 5.0, 3.0)])
    >>> family.rows.tolist(), family.like(["y"])
    ([[2.0], [5.0]], Vector3(x=1.0, y='y', z=3.0))
    """

    def __init__(self, things: Sequence[T]):
        """The family of these values; all must have one structure."""
        leaves, self._build = flatten(things[0])
        numbers = np.array([flatten(thing)[0] for thing in things], dtype=float).reshape(len(things), len(leaves))
        self.shape, self._shared = things[0], leaves
        self._differing = np.flatnonzero((numbers != numbers[0]).any(axis=0)).tolist()
        self.rows = np.ascontiguousarray(numbers[:, self._differing])

    @property
    def size(self) -> int:
        """The number of numbers that differ."""
        return len(self._differing)

    def like(self, numbers: Sequence[Any]) -> T:
        """A value of this structure with these numbers (size) in place of those that differ."""
        leaves = list(self._shared)
        for k, place in enumerate(self._differing):
            leaves[place] = numbers[k]
        thing: T = self._build(leaves)
        return thing
