"""A journal of everything mutable that a function can reach: detects changes and restores the old values."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cached_property
from types import CellType
from typing import Any, NamedTuple

import numpy as np

from .known import CONSTANTS

__all__ = ["JournalEntry", "cached_names", "entry_of", "entry_of_attributes", "entry_of_items", "entry_of_names"]

_MISSING = object()


class JournalEntry(NamedTuple):
    """The recorded value of one mutable thing.

    Attributes:
        path: its name in the user's code: "self.n".
        key: the same for the same thing, however it was reached.
        changed: the path of a difference from the recorded value, or None.
        restore: restores the recorded value.
    """

    path: str
    key: tuple[int, str]
    changed: Callable[[], str | None]
    restore: Callable[[], None]


def entry_of(value: Any, path: str) -> JournalEntry | None:
    """The entry of a container, array or cell; None for other values."""
    if isinstance(value, np.ndarray):
        return _of_array(value, path)
    if isinstance(value, list | deque):
        return _of_sequence(value, path)
    if isinstance(value, set):
        return _of_set(value, path)
    if isinstance(value, dict):
        return entry_of_items(value, path)
    if isinstance(value, CellType):
        return _of_cell(value, path)
    return None


def entry_of_items(items: dict[Any, Any], path: str, ignored: set[str] = frozenset(), form: str = "{}[{!r}]") -> JournalEntry:  # type: ignore[assignment]
    """The entry of a dictionary, or of an object's own attributes."""
    before = dict(items)

    def changed() -> str | None:
        for key in dict.fromkeys([*before, *items]):
            if key not in ignored and not _same(before.get(key, _MISSING), items.get(key, _MISSING)):
                return form.format(path, key)
        return None

    def restore() -> None:
        for key in [key for key in items if key not in before]:
            del items[key]
        items.update(before)

    return JournalEntry(path, (id(items), "items"), changed, restore)


def entry_of_names(namespace: dict[str, Any], path: str, names: set[str]) -> JournalEntry:
    """The entry of some names among the globals of a function or module."""
    before = {name: namespace[name] for name in sorted(names)}

    def changed() -> str | None:
        differing = (name for name, value in before.items() if not _same(value, namespace.get(name, _MISSING)))
        return next((f"{path}.{name}" if path else name for name in differing), None)

    return JournalEntry(path, (id(namespace), ",".join(before)), changed, lambda: namespace.update(before))


def entry_of_attributes(owner: Any, path: str, names: set[str]) -> JournalEntry:
    """The entry of values set by `setattr`: slots, and the attributes of a class."""
    before = {name: getattr(owner, name, _MISSING) for name in sorted(names)}

    def changed() -> str | None:
        differing = (name for name, value in before.items() if not _same(value, getattr(owner, name, _MISSING)))
        return next((f"{path}.{name}" for name in differing), None)

    def restore() -> None:
        for name, value in before.items():
            if not _same(value, getattr(owner, name, _MISSING)):
                delattr(owner, name) if value is _MISSING else setattr(owner, name, value)

    return JournalEntry(path, (id(owner), ",".join(before)), changed, restore)


def cached_names(kind: type) -> set[str]:
    """The cached properties of a class: they are set on first use, which does not count as state."""
    return {name for base in kind.__mro__ for name, value in vars(base).items() if isinstance(value, cached_property)}


def _of_array(array: np.ndarray, path: str) -> JournalEntry:
    before = array.copy()

    def changed() -> str | None:
        if array.dtype == object:
            same = array.shape == before.shape and all(map(_same, array.flat, before.flat))
        else:
            same = array.shape == before.shape and array.tobytes() == before.tobytes()
        return None if same else path

    def restore() -> None:
        if changed():
            array[...] = before

    return JournalEntry(path, (id(array), "array"), changed, restore)


def _of_sequence(items: list | deque, path: str) -> JournalEntry:
    before = list(items)

    def changed() -> str | None:
        return None if len(items) == len(before) and all(map(_same, items, before)) else path

    def restore() -> None:
        items.clear()
        items.extend(before)

    return JournalEntry(path, (id(items), "sequence"), changed, restore)


def _of_set(items: set, path: str) -> JournalEntry:
    before = set(items)

    def restore() -> None:
        items.clear()
        items.update(before)

    return JournalEntry(path, (id(items), "set"), lambda: None if items == before else path, restore)


def _of_cell(cell: CellType, path: str) -> JournalEntry:
    before = cell.cell_contents

    def restore() -> None:
        cell.cell_contents = before

    return JournalEntry(path, (id(cell), "cell"), lambda: None if _same(before, cell.cell_contents) else path, restore)


def _same(a: Any, b: Any) -> bool:
    """Whether two values are identical, or equal and immutable."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, CONSTANTS):
        return bool(a == b) or (a != a and b != b)
    if isinstance(a, np.ndarray) and a.dtype != object:
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    return isinstance(a, tuple) and len(a) == len(b) and all(map(_same, a, b))
