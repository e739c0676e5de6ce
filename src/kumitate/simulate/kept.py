"""A cache in memory for things that are costly to make, by what they are made of."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """A cache of the things used last, up to a number of them, by their keys; thread-safe."""

    def __init__(self, most: int):
        self._most, self._things, self._lock = most, OrderedDict[Hashable, T](), Lock()

    def get(self, key: Hashable | None, make: Callable[[], T]) -> T:
        """The thing of a key, made if it is not in the cache; with the key None it is always made."""
        if key is None:
            return make()
        with self._lock:
            if key in self._things:
                self._things.move_to_end(key)
                return self._things[key]
        made = make()  # without the lock: it may take seconds, and two threads would make the same thing
        with self._lock:
            made = self._things.setdefault(key, made)
            while len(self._things) > self._most:
                self._things.popitem(last=False)
        return made
