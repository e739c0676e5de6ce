"""The types of a procedure's arguments, its arrays, and the mark of a procedure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

__all__ = ["Floats", "Ints", "Shaped", "local", "local_ints", "procedure"]

Function = TypeVar("Function", bound=Callable[..., object])


class Floats(np.ndarray):
    """An array (n, ...) of floats; `Floats[6]` has rows of six."""


class Ints(np.ndarray):
    """An array (n, ...) of integers; `Ints[2]` has rows of two."""


class Shaped(np.ndarray):
    """An array of floats of a fixed shape: `Shaped[6, 6]`."""


def local(*shape: int) -> np.ndarray:
    """A new array of zeros."""
    return np.zeros(shape)


def local_ints(*shape: int) -> np.ndarray:
    """A new array of zeros of integers."""
    return np.zeros(shape, dtype=np.int64)


def procedure(function: Function) -> Function:
    """Marks a function as a procedure."""
    return function
