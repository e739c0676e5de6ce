"""A YAML file as plain data, with the line that each value stands in. Nothing in the file is run or made into an object."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError, KumitateError, did_you_mean, needed
from ..model.files import file_bytes
from ..model.values import FINITE, Rule, checked_number, checked_whole, shown

#: Where a value stands: the keys and places that lead to it.
At = tuple[Hashable, ...]

#: Files beyond this are refused [bytes].
LARGEST = 2**20
_TAG = "tag:yaml.org,2002:"
_TRUE = {"true": True, "false": False}


@dataclass(frozen=True)
class Written:
    """What a file says: numbers, texts, truth values, None, lists and dictionaries.

    Attributes:
        source: what messages call it; folder: that paths in it are relative to.
        lines: the line of each value, from 1, by the keys that lead to it; of options of a command, what the option is called.
        faults: what could not be taken, as (line, sentence).
    """

    source: str
    data: Any
    lines: Mapping[At, int | str] = field(default_factory=dict)
    faults: tuple[tuple[int, str], ...] = ()
    folder: Path = Path()


def read_yaml(path: str | Path) -> Written:
    """The content of a YAML file; refused if it cannot be read. Values that cannot be taken are in `faults`."""
    data, place = file_bytes(path, LARGEST, error=InputError)
    yaml = needed("ruamel.yaml", f"{path}: YAML files need ruamel.yaml", "sweep")
    try:
        root = yaml.YAML(typ="safe", pure=True).compose(data.decode("utf-8"))
        reader = _Reader()
        content = None if root is None else reader.value(root, ())
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not text in UTF-8 (byte {error.start}); write it as UTF-8") from None
    except yaml.error.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or str(error).splitlines()[0]
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        raise InputError(f"{path}: is not YAML: {where}{problem}. Correct the line") from None
    except RecursionError:
        raise InputError(f"{path}: lists and sections are nested too deeply; a scenario needs few levels") from None
    return Written(str(path), content, reader.lines, tuple(reader.faults), place.resolve().parent)


class _Reader:
    """Turns the nodes of a file into plain data."""

    def __init__(self) -> None:
        self.lines: dict[At, int] = {}
        self.faults: list[tuple[int, str]] = []
        self._seen: set[int] = set()

    def value(self, node: Any, at: At) -> Any:
        """The data of a node that these keys lead to."""
        line = node.start_mark.line + 1
        self.lines[at] = line
        if id(node) in self._seen:  # refused, since a few lines of aliases can stand for billions of values
            self._fault(line, "an alias (*name) repeats a value; write the value out")
            return None
        self._seen.add(id(node))
        kind = str(node.tag).removeprefix(_TAG)
        if kind == "map":
            return self._section(node, at)
        if kind == "seq":
            return [self.value(item, (*at, k)) for k, item in enumerate(node.value)]
        if isinstance(node.value, str):
            return self._scalar(kind, node.value, line)
        self._fault(line, f"the tag {str(node.tag)!r} is not read; leave it out")
        return None

    def _section(self, node: Any, at: At) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = key_node.value
            if not isinstance(key, str):
                self._fault(line, "a key is a list or a section; write a name")
                continue
            if key in found:
                self._fault(line, f"{key!r} stands here for the second time; keep one")
                continue
            found[key] = self.value(value_node, (*at, key))
            self.lines[(*at, key)] = line
        return found

    def _scalar(self, kind: str, text: str, line: int) -> Any:
        try:
            if kind == "int":
                return int(text.replace("_", ""), 0 if text.lstrip("+-")[:2].lower() in ("0x", "0o") else 10)
            if kind == "float":
                return float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))
        except ValueError:
            self._fault(line, f"{text!r:.60} is not a number that can be read; write it in decimals")
            return None
        if kind == "bool":
            return _TRUE.get(text.lower(), text)
        if kind in ("null", "str", "timestamp"):
            return None if kind == "null" else text
        self._fault(line, f"the tag {kind!r:.60} is not read; leave it out")
        return None

    def _fault(self, line: int, sentence: str) -> None:
        self.faults.append((line, sentence))


# --- mistakes of a file, told at once, and its sections, read value by value ----------------------------------------------
class Mistakes:
    """The mistakes of one file, or of a dictionary or options that stand for one; keys are called by a `noun`."""

    def __init__(self, written: Written):
        self._written = written
        self._found: list[tuple[int | str, str]] = list(written.faults)
        self._unread = {line for line, _ in written.faults}
        self._typed = any(isinstance(place, str) for place in written.lines.values())
        self.noun = "name" if self._typed else "key"

    def __len__(self) -> int:
        return len(self._found)

    def add(self, at: At, message: str) -> None:
        """Adds a mistake in the value that these keys lead to, or that would stand there."""
        known = next((k for k in range(len(at), -1, -1) if at[:k] in self._written.lines), 0)
        line = self._written.lines.get(at[:known], 0)
        if line in self._unread:  # the value could not be taken, and that is told already
            return
        where = ".".join(map(str, at[known:] if isinstance(line, str) else at))
        self._found.append((line, f"{where}: {message}" if where else message))

    def catching(self, at: At) -> _Catching:
        """A context: what kumitate refuses inside becomes a mistake."""
        return _Catching(self, at)

    def check(self) -> None:
        """Raises all of them, if there are any, as one error with a line for each, in the order of the file."""
        if not self._found:
            return
        found = sorted(self._found, key=lambda one: 0 if self._typed else one[0])
        told = [f"{at if self._typed else f'line {at}'}: {message}" if at else message for at, message in found]
        if self._typed and len(told) == 1:
            raise InputError(told[0])
        count = f"{len(told)} mistakes" if len(told) > 1 else "a mistake"
        head = count if self._typed else f"{self._written.source}: {count} in the scenario"
        raise InputError("\n  ".join([f"{head}; nothing was simulated", *told]))


@dataclass
class _Catching(AbstractContextManager[Any, bool]):
    mistakes: Mistakes
    at: At

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if isinstance(error, KumitateError):
            self.mistakes.add(self.at, str(error).removeprefix("scenario: ").removeprefix("simulate: "))
        return isinstance(error, KumitateError)


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
                there = f"there are {', '.join(known)}" if any(known) else "there are none"
                mistakes.add((*at, key), f"there is no such {mistakes.noun}{near}; {there}")

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
        return self.take(key, lambda value: whole_of(key, value, least), default)

    def flag(self, key: str) -> bool:
        """true or false; false by default."""
        return bool(self.take(key, lambda value: flag_of(key, value)))

    def text(self, key: str, choices: Collection[str] = (), default: str | None = None) -> Any:
        """A text, one of the choices if there are any."""
        return self.take(key, lambda value: text_of(key, value, choices), default)

    def section(self, key: str, known: Collection[str] = ()) -> Section:
        """The section of a key; an empty one if it is not there."""
        return Section(self.values.get(key), (*self.at, key), self.mistakes, known)


def number_of(what: str, value: Any, rule: Rule = FINITE) -> float:
    """A number that keeps the rule, or a text such as "30deg", in SI units."""
    if isinstance(value, str) and value.endswith("deg"):
        try:
            value = math.radians(float(value.removesuffix("deg")))
        except ValueError:
            raise InputError(f"scenario: {what} is {shown(value)}; write 0.5 (SI units) or 30deg") from None
    return checked_number("scenario", what, value, rule, error=InputError)


def whole_of(what: str, value: Any, least: int = 1) -> int:
    """A whole number, `least` or more."""
    return checked_whole("scenario", what, value, least, remedy="Give one", error=InputError)


def flag_of(what: str, value: Any) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise InputError(f"{what} is {shown(value)}; write true or false")
    return value


def text_of(what: str, value: Any, choices: Collection[str] = ()) -> str:
    """A text, one of the choices if there are any."""
    if not isinstance(value, str) or not value:
        raise InputError(f"{what} is {shown(value)}; write a text")
    if choices and value not in choices:
        near = did_you_mean(value, choices, lead=", ")
        raise InputError(f"there is no {what} {value!r}{near}; there are {', '.join(choices)}")
    return value


def names_in(given: Any) -> tuple[Any, ...]:
    """The parts of a list, or the only one."""
    return tuple(given) if isinstance(given, list) else (given,)
