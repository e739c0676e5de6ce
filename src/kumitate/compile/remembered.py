"""Functions of programs whose results are remembered for as long as the program exists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from ..scalar import Program

__all__ = ["Remembered"]

Found = TypeVar("Found")


class Remembered(Generic[Found]):
    """A function that is called once for each program. Its results must not refer to the program, or it is never freed."""

    def __init__(self, find: Callable[[Program], Found]):
        self._find = find
        self._known: WeakKeyDictionary[Program, Found] = WeakKeyDictionary()

    def __call__(self, program: Program) -> Found:
        if program not in self._known:
            self._known[program] = self._find(program)
        return self._known[program]

    def clear(self) -> None:
        """Forgets all results."""
        self._known.clear()
