"""Functions that pass options on, shown with these: in their signature, their docstring, and to type checkers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

__all__ = ["takes_options_of"]

_A = TypeVar("_A")
_P = ParamSpec("_P")
_R = TypeVar("_R")
#: An entry of "Args:": its names, and its text up to the next entry.
_ENTRY = re.compile(r"^    (\w[\w, ]*):.*(?:\n {5,}.*)*\n?", re.MULTILINE)


def takes_options_of(
    inner: Callable[Concatenate[Any, _P], Any], *described_by: Callable[..., Any]
) -> Callable[[Callable[Concatenate[_A, ...], _R]], Callable[Concatenate[_A, _P], _R]]:
    """A decorator of a function whose `**options` are the keywords of another function, where alone they have defaults.

    Args:
        inner: the function that gets the options; its parameters after the first are those of the decorated function.
        described_by: other functions whose docstrings describe them; in the decorated one's they replace the entry `options`.

    >>> def turned(body, angle, *, about="z"):
    ...     '''Turns a body.
    ...
    ...     Args:
    ...         about: the axis.
    ...     '''
    >>> @takes_options_of(turned)
    ... def turn(name, angle, **options):
    ...     '''Turns a body by name.
    ...
    ...     Args:
    ...         name: of a body.
    ...         options: as of `turned`.
    ...     '''
    >>> inspect.signature(turn)
    <Signature (name, angle, *, about='z')>
    >>> "about: the axis" in turn.__doc__
    True
    """

    def shown(outer: Callable[Concatenate[_A, ...], _R]) -> Callable[Concatenate[_A, _P], _R]:
        signature = inspect.signature(outer)
        own = [part for part in signature.parameters.values() if part.kind is not part.VAR_KEYWORD]
        passed = [part for part in inspect.signature(inner).parameters.values() if part.kind is part.KEYWORD_ONLY]
        passed = [part for part in passed if part.name not in signature.parameters]
        outer.__signature__ = signature.replace(parameters=[*own, *passed])  # type: ignore[attr-defined]
        if outer.__doc__ is not None:  # as it is where Python leaves docstrings out
            outer.__doc__ = _with_entries(inspect.getdoc(outer) or "", {part.name for part in passed}, (inner, *described_by))
        return outer

    return shown


def _with_entries(text: str, names: set[str], described_by: tuple[Callable[..., Any], ...]) -> str:
    """A docstring with the entries of `names` in the place of the entry "options"."""
    entries = ""
    for function in described_by:
        for entry in _ENTRY.finditer((inspect.getdoc(function) or "").partition("Args:\n")[2].partition("\n\n")[0] + "\n"):
            described = {name.strip() for name in entry[1].split(",")}
            if described <= names:
                entries += entry[0]
                names = names - described
    return _ENTRY.sub(lambda entry: entries if entry[1] == "options" else entry[0], text)
