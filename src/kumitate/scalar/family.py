"""Values of one structure: common numbers are constants, numbers that differ are inputs, so one program serves all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from . import flatten

__all__ = ["Family", "structure_of"]

T = TypeVar("T")


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
