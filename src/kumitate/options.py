"""Functions that pass options on, shown with these: in their signature, their docstring, and to type checkers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, Concatenate, ParamSpec, TypeVar

_A = TypeVar("_A")
_P = ParamSpec("_P")
_R = TypeVar("_R")
#: Where entries begin, and one of them: its names, and its text up to the next entry.
_ENTRIES = re.compile(r"^(?:Args|Attributes):\n", re.MULTILINE)
_ENTRY = re.compile(r"^    (\w[\w, ]*):.*(?:\n {5,}.*)*\n?", re.MULTILINE)


def takes_options_of(
    inner: Callable[Concatenate[Any, _P], Any], *described_by: Callable[..., Any], without: Collection[str] = ()
) -> Callable[[Callable[Concatenate[_A, ...], _R]], Callable[Concatenate[_A, _P], _R]]:
    """A decorator of a function whose `**options` are the keywords of another function or dataclass, which has their defaults.

    Args:
        inner: what gets the options; its parameters after the first are those of the decorated function.
        described_by: functions whose docstrings describe some of them in other words; `inner`, and what it extends if it is a
            dataclass, describes the rest. In the decorated one's docstring they replace the entry `options`.
        without: keywords that the decorated function does not take.
    """

    def shown(outer: Callable[Concatenate[_A, ...], _R]) -> Callable[Concatenate[_A, _P], _R]:
        signature = inspect.signature(outer)
        own = [part for part in signature.parameters.values() if part.kind is not part.VAR_KEYWORD]
        passed = [part for part in inspect.signature(inner).parameters.values() if part.kind is part.KEYWORD_ONLY]
        passed = [part for part in passed if part.name not in {*signature.parameters, *without}]
        passed.sort(key=lambda part: part.default is not part.empty)  # those that must be given come first
        outer.__signature__ = signature.replace(parameters=[*own, *passed])  # type: ignore[attr-defined]
        if outer.__doc__ is not None:  # as it is where Python leaves docstrings out
            kinds = inner.__mro__[:-1] if isinstance(inner, type) else (inner,)
            outer.__doc__ = _with_entries(inspect.getdoc(outer) or "", {part.name for part in passed}, (*described_by, *kinds))
        return outer

    return shown


def _with_entries(text: str, names: set[str], described_by: tuple[Callable[..., Any], ...]) -> str:
    """A docstring with the entries of `names` that it does not have itself in the place of the entry "options"."""
    entries, names = "", names - {name for own, _ in entries_of(text) for name in own}
    for function in described_by:
        for described, entry in entries_of(inspect.getdoc(function) or ""):
            if described <= names:
                entries += entry
                names = names - described
    return _ENTRY.sub(lambda entry: entries if entry[1] == "options" else entry[0], text)


def entries_of(text: str) -> Iterator[tuple[set[str], str]]:
    """The entries of a docstring: the names that each describes, and its text."""
    for entry in _ENTRY.finditer(_ENTRIES.split(text, 1)[-1].partition("\n\n")[0] + "\n"):
        yield {name.strip() for name in entry[1].split(",")}, entry[0]
