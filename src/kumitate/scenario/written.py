"""A YAML file as plain data, with the line that each value stands in. Nothing in the file is run or made into an object."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..model.files import file_bytes

#: Where a value stands: the keys and places that lead to it.
At = tuple[Hashable, ...]

#: Files beyond this are refused [bytes].
LARGEST = 2**20
_TAG = "tag:yaml.org,2002:"
_TRUE = {"true": True, "false": False}


@dataclass(frozen=True)
class Written:
    """What a file says.

    Attributes:
        source: what messages call it.
        data: numbers, texts, truth values, None, lists and dictionaries.
        lines: the line of each value, from 1, by the keys that lead to it; those of a key for "key" twice.
        faults: what could not be taken, as (line, sentence).
        folder: that paths in the file are relative to.
    """

    source: str
    data: Any
    lines: Mapping[At, int] = field(default_factory=dict)
    faults: tuple[tuple[int, str], ...] = ()
    folder: Path = Path()


def read_yaml(path: str | Path) -> Written:
    """The content of a YAML file.

    Raises:
        InputError: if it cannot be read, is not YAML, or ruamel.yaml is not installed. Values that cannot be taken are in
            `faults`.
    """
    data, place = file_bytes(path, LARGEST, error=InputError)
    try:
        yaml = import_module("ruamel.yaml")
    except ImportError as error:
        raise InputError(
            f"{path}: YAML files need ruamel.yaml, which is not installed; pip install 'kumitate[sweep]' brings it"
        ) from error
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
