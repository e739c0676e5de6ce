"""Mistakes of a file, collected so that all of them are told at once, and the sections of a file, read value by value."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..errors import InputError, KumitateError, did_you_mean
from ..model.values import FINITE, Rule, checked_number, checked_whole, shown
from .written import At, Written


class Mistakes:
    """The mistakes of one file, or of a dictionary that stands for one."""

    def __init__(self, written: Written):
        self._written = written
        self._found: list[tuple[int, str]] = list(written.faults)
        self._unread = {line for line, _ in written.faults}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, at: At, message: str) -> None:
        """Adds a mistake in the value that these keys lead to, or that would stand there."""
        line = next((self._written.lines[at[:k]] for k in range(len(at), -1, -1) if at[:k] in self._written.lines), 0)
        if line in self._unread:  # the value could not be taken, and that is told already
            return
        where = ".".join(map(str, at)).replace(".[", "[")
        self._found.append((line, f"{where}: {message}" if where else message))

    def catching(self, at: At) -> _Catching:
        """A context: what kumitate refuses inside becomes a mistake."""
        return _Catching(self, at)

    def check(self) -> None:
        """Raises all of them as one error.

        Raises:
            InputError: if there are any; with one line for each, in the order of the file.
        """
        if not self._found:
            return
        told = [f"line {line}: {message}" if line else message for line, message in sorted(self._found, key=lambda one: one[0])]
        count = f"{len(told)} mistakes" if len(told) > 1 else "a mistake"
        raise InputError("\n  ".join([f"{self._written.source}: {count} in the scenario; nothing was simulated", *told]))


class _Catching:
    """Turns what kumitate refuses into a mistake."""

    def __init__(self, mistakes: Mistakes, at: At):
        self._mistakes, self._at = mistakes, at

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if not isinstance(error, KumitateError):
            return False
        self._mistakes.add(self._at, str(error).removeprefix("scenario: "))
        return True


class Section:
    """The values under one key; every method takes one of them, or adds a mistake and gives the default."""

    def __init__(self, values: Any, at: At, mistakes: Mistakes, known: Collection[str]):
        """The section at `at`, which may have the `known` keys; any if that is empty."""
        self.at, self.mistakes = at, mistakes
        if not isinstance(values, Mapping):
            if values is not None:
                mistakes.add(at, f"is {shown(values)}; write a section with the keys {', '.join(known) or 'that are names'}")
            values = {}
        self.values: Mapping[str, Any] = values
        for key in values:
            if known and key not in known:
                near = did_you_mean(key, known, lead=", ")
                mistakes.add((*at, key), f"there is no such key{near}; there are {', '.join(known)}")

    def __contains__(self, key: str) -> bool:
        return self.values.get(key) is not None

    def take(self, key: str, convert: Callable[[Any], Any], default: Any = None) -> Any:
        """The value of a key, as `convert` makes it; what that refuses is a mistake."""
        if key in self:
            with self.mistakes.catching((*self.at, key)):
                return convert(self.values[key])
        return default

    def number(self, key: str, rule: Rule = FINITE, default: float | None = None) -> Any:
        """A number; "30deg" is one too."""
        return self.take(key, lambda value: number_of(key, value, rule), default)

    def whole(self, key: str, least: int, default: int | None = None) -> Any:
        """A whole number, `least` or more."""
        return self.take(
            key, lambda value: checked_whole("scenario", key, value, least, remedy="Give one", error=InputError), default
        )

    def flag(self, key: str, default: bool = False) -> bool:
        """true or false."""

        def checked(value: Any) -> bool:
            if not isinstance(value, bool):
                raise InputError(f"{key} is {shown(value)}; write true or false")
            return value

        return bool(self.take(key, checked, default))

    def text(self, key: str, choices: Collection[str] = (), default: str | None = None) -> Any:
        """A text, one of the choices if there are any."""

        def checked(value: Any) -> str:
            if not isinstance(value, str) or not value:
                raise InputError(f"{key} is {shown(value)}; write a text")
            if choices and value not in choices:
                near = did_you_mean(value, choices, lead=", ")
                raise InputError(f"there is no {key} {value!r}{near}; there are {', '.join(choices)}")
            return value

        return self.take(key, checked, default)

    def section(self, key: str, known: Collection[str] = ()) -> Section:
        """The section of a key; an empty one if it is not there."""
        return Section(self.values.get(key), (*self.at, key), self.mistakes, known)


def number_of(what: str, value: Any, rule: Rule = FINITE) -> float:
    """A number, or a text such as "30deg", in SI units.

    Raises:
        InputError: for anything else, or a number that breaks the rule.

    >>> round(number_of("angle", "90deg"), 6)
    1.570796
    """
    if isinstance(value, str) and value.endswith("deg"):
        try:
            value = math.radians(float(value.removesuffix("deg")))
        except ValueError:
            raise InputError(f"scenario: {what} is {shown(value)}; write 0.5 (SI units) or 30deg") from None
    return checked_number("scenario", what, value, rule, error=InputError)
