"""The names in the code of a function: globals, attributes, modules; and the lines that write to them."""

from __future__ import annotations

import dis
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import CodeType

__all__ = ["CodeNames", "names_of", "where"]

_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "STORE_ATTR", "DELETE_ATTR", "IMPORT_FROM"}


@dataclass
class CodeNames:
    """The names in a function's code, nested functions and comprehensions included.

    Attributes:
        globals, attributes, modules: names that are looked up; `modules` are imported inside the function.
        written, read: the first line on which each name is written to, and read.
    """

    globals: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    written: dict[str, int] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)


@lru_cache(maxsize=1024)
def names_of(code: CodeType) -> CodeNames:
    """The names in a function's code."""
    names = CodeNames()
    for part in _parts(code):
        line = part.co_firstlineno
        for step in dis.get_instructions(part):
            if step.positions is not None and step.positions.lineno is not None:
                line = step.positions.lineno
            if not isinstance(step.argval, str):
                continue
            kinds = {"IMPORT_NAME": names.modules}
            kinds |= dict.fromkeys(_GLOBALS, names.globals) | dict.fromkeys(_ATTRIBUTES, names.attributes)
            if step.opname in kinds:
                kinds[step.opname].add(step.argval)
            lines = names.written if step.opname.startswith(("STORE", "DELETE")) else names.read
            lines.setdefault(step.argval, line)
    return names


def where(codes: Iterable[CodeType], name: str) -> str:
    """Where functions write to a name, or else read it: " (line 4 of arm.py, in pd)"; "" if nowhere."""
    for kind in ("written", "read"):
        for code in codes:
            if (line := getattr(names_of(code), kind).get(name)) is not None:
                return f" (line {line} of {Path(code.co_filename).name}, in {code.co_name})"
    return ""


def _parts(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)
