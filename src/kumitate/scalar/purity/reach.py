"""Everything that a function can reach by the names in its code: its closure, globals, and the objects that these hold.

Nothing is run. Mutable values are written into a journal; values that cannot be inspected are reported.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import mmap
import re
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property, partial
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .known import CONSTANTS, foreign_base, impure_call, is_builtin_call, is_library, is_self_contained, is_trusted, named

#: The largest number of objects that are inspected.
_MOST = 20_000
_NOT_IMPLICIT = {
    "__init__", "__new__", "__post_init__", "__init_subclass__", "__repr__", "__str__", "__del__", "__reduce__", "__class__",
    "__reduce_ex__", "__getstate__", "__setstate__", "__subclasshook__", "__dir__", "__sizeof__", "__format__",
}  # fmt: skip
_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "STORE_ATTR", "DELETE_ATTR", "IMPORT_FROM"}


class Opaque(Exception):  # noqa: N818  a verdict, not a mistake
    """A function reaches something that cannot be inspected; the message is the reason why it is called."""


class Reachable:
    """What a function can reach.

    Attributes:
        codes: the code that it may run, apart from that of trusted packages.
        journal: the mutable values it reaches, by the key of each entry.
    """

    def __init__(self, function: Callable[..., Any]):
        """Inspects a function.

        Raises:
            Opaque: where that cannot be done.
        """
        self.codes: set[CodeType] = set()
        self.journal: dict[tuple[int, str], JournalEntry] = {}
        self._globals: set[str] = set()
        self._attributes: set[str] = set()
        self._kept: list[Any] = []  # kept alive, so that no id is used twice
        size = -1
        while size != len(self.codes):  # code found late may name attributes of objects found early
            size = len(self.codes)
            self._seen: set[int] = set()
            self.journal.clear()
            self._visit(function, "self" if not isinstance(function, FunctionType) else function.__name__, called=True)

    def changed(self) -> str | None:
        """The path of something that has changed; None if nothing has."""
        return next((path for entry in self.journal.values() if (path := entry.changed())), None)

    def where(self, path: str) -> str:
        """Where the code writes to this path, or reads it, as in `code.where`."""
        return where(self.codes, re.split(r"[.\[]", path.split("[")[0])[-1])

    # --- one object -----------------------------------------------------------------------------------------------------------
    def _visit(self, value: Any, path: str, *, called: bool = False) -> None:
        if isinstance(value, CONSTANTS) or id(value) in self._seen:
            return
        self._seen.add(id(value))
        self._kept.append(value)
        if len(self._seen) > _MOST:
            raise Opaque("it reaches more objects than can be looked through")
        if isinstance(value, FunctionType):
            self._visit_function(value, path)
        elif isinstance(value, MethodType):
            self._visit(value.__self__, "self" if called else path, called=called)
            self._visit(value.__func__, path)
        elif isinstance(value, ModuleType):
            self._visit_module(value)
        elif isinstance(value, type):
            self._visit_class(value, path)
        elif isinstance(value, staticmethod | classmethod):
            self._visit(value.__func__, path)
        elif isinstance(value, functools.partial):
            self._visit(value.func, path)
            self._visit_items([*value.args, *value.keywords.values()], path)
        elif isinstance(value, functools._lru_cache_wrapper):
            self._visit(value.__wrapped__, path)
        elif is_builtin_call(value):
            self._visit(getattr(value, "__self__", None), path)
            if impure_call(value):
                raise Opaque(f"it calls {named(value)}, which may depend on more than its arguments{self.where(path)}")
        else:
            self._visit_object(value, path, called)

    def _visit_function(self, function: FunctionType, path: str) -> None:
        if impure_call(function):
            raise Opaque(f"it calls {named(function)}, which may depend on more than its arguments{self.where(path)}")
        self._visit_code(function.__code__)
        names = names_of(function.__code__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                content = cell.cell_contents
            except ValueError:  # not set yet
                continue
            self._note(entry_of(cell, name))
            self._visit(content, name)
        self._note(entry_of_items(vars(function), lambda name: f"{function.__name__}.{name}"))
        self._visit_items([*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()], function.__name__)
        if is_trusted(function.__module__):
            return
        own = {name for name in names.globals if name in function.__globals__}
        if own:
            self._note(entry_of_names(function.__globals__, str, own))
        builtin = function.__globals__.get("__builtins__", {})
        builtin = vars(builtin) if isinstance(builtin, ModuleType) else builtin
        for name in sorted(names.globals):
            value = function.__globals__.get(name, builtin.get(name))
            self._visit(value, name)
        for name in sorted(names.modules):
            self._visit(sys.modules.get(name), name)

    def _visit_code(self, code: CodeType) -> None:
        if code not in self.codes:
            self.codes.add(code)
            self.codes.update(part for part in code.co_consts if isinstance(part, CodeType))
            self._attributes |= names_of(code).attributes

    def _visit_module(self, module: ModuleType) -> None:
        if is_trusted(module.__name__):
            for name in sorted(self._attributes & set(vars(module))):
                value = vars(module)[name]
                if isinstance(value, ModuleType) and not is_trusted(value.__name__):
                    raise Opaque(f"it calls {named(value)}, which keeps state{self.where(name)}")
                if is_builtin_call(value) and impure_call(value):
                    raise Opaque(f"it calls {named(value)}, which may depend on more than its arguments{self.where(name)}")
            return
        own = self._attributes & set(vars(module))
        if own:
            self._note(entry_of_names(vars(module), lambda name: f"{module.__name__}.{name}", own))
        for name in sorted(own):
            self._visit(vars(module)[name], f"{module.__name__}.{name}")

    def _visit_class(self, kind: type, path: str, *, makers: bool = True) -> None:
        """Inspects a class: the attributes that are named, and, if the class itself is named, its constructors."""
        if is_trusted(kind.__module__) or kind.__module__ == "builtins":
            return
        if (base := foreign_base(kind)) is not None:
            raise Opaque(f"it uses {named(base)}, which cannot be looked through{self.where(path)}")
        own = self._attributes & set(vars(kind))
        data = {name for name in own if not callable(vars(kind)[name]) and not hasattr(vars(kind)[name], "__get__")}
        if data:
            self._note(entry_of_attributes(kind, kind.__name__, data))
        making = {"__init__", "__new__", "__post_init__"} if makers else set()
        self._visit_members(kind, path, making | self._implicit(kind))

    def _visit_object(self, value: Any, path: str, called: bool) -> None:
        kind = type(value)
        if is_self_contained(kind):
            return
        if _is_shared(value):
            raise Opaque(f"`{path}` shares its memory with a file or another process{self.where(path)}")
        if (base := foreign_base(kind)) is not None:
            raise Opaque(f"`{path}` is a {named(base)}, which may change unseen{self.where(path)}")
        self._note(entry_of(value, path))
        if isinstance(value, dict):
            self._visit_items([*value.keys(), *value.values()], path)
        elif isinstance(value, list | tuple | set | frozenset | deque):
            self._visit_items(value, path)
        elif isinstance(value, np.ndarray) and value.dtype == object:
            self._visit_items(value.flat, path)
        self._visit_attributes(value, path)
        if not is_trusted(kind.__module__):
            self._visit_members(kind, path, self._implicit(kind) | ({"__call__"} if called else set()))
            self._visit_class(kind, kind.__name__, makers=False)

    def _visit_attributes(self, value: Any, path: str) -> None:
        """The attributes of an object: all are written into the journal, those that are named are inspected."""
        own: dict[str, Any] = getattr(value, "__dict__", {})
        # cached properties are set on first use, which does not count as state
        bases = type(value).__mro__
        cached = {name for base in bases for name, member in vars(base).items() if isinstance(member, cached_property)}
        if hasattr(value, "__dict__"):
            self._note(entry_of_items(own, lambda name: f"{path}.{name}", cached))
        slots = {name for base in bases for name in _slots(base)}
        if slots:
            self._note(entry_of_attributes(value, path, slots))
        for name in sorted((self._attributes & own.keys()) - cached):
            self._visit(own[name], f"{path}.{name}")
        for name in sorted(self._attributes & slots):
            self._visit(getattr(value, name, None), f"{path}.{name}")

    def _visit_members(self, kind: type, path: str, implicit: set[str]) -> None:
        """The functions of a class that are named, or that Python calls implicitly."""
        if is_library(kind.__module__):
            implicit = set()  # its operators are trusted; named methods are not
        for name in sorted(self._attributes | implicit):
            for base in kind.__mro__:
                if name in vars(base):
                    member = vars(base)[name]
                    for function in (member.fget, member.fset) if isinstance(member, property) else (member,):
                        function = (
                            getattr(function, "func", function) if isinstance(member, functools.cached_property) else function
                        )
                        if _is_generated(base, function):
                            continue
                        if base.__module__ != "builtins" and not is_trusted(base.__module__):
                            self._visit(function, f"{path}.{name}")
                    break

    def _visit_items(self, items: Any, path: str) -> None:
        for item in items:
            self._visit(item, path)

    def _implicit(self, kind: type) -> set[str]:
        names = {name for base in kind.__mro__ for name in vars(base)}
        return {
            name for name in names if name.startswith("__") and name.endswith("__") and callable(getattr(kind, name, None))
        } - _NOT_IMPLICIT

    def _note(self, entry: JournalEntry | None) -> None:
        if entry is not None:
            self.journal[entry.key] = entry


def _is_generated(kind: type, function: Any) -> bool:
    """Whether a method of a dataclass was generated by Python, such as `__hash__`."""
    code = getattr(function, "__code__", None)
    return dataclasses.is_dataclass(kind) and code is not None and code.co_filename == "<string>"


def _slots(kind: type) -> Iterator[str]:
    given = vars(kind).get("__slots__", ())
    yield from (name for name in ((given,) if isinstance(given, str) else given) if not name.startswith("__"))


def _is_shared(value: Any) -> bool:
    """Whether an array lies in memory that others may write to."""
    while isinstance(value, np.ndarray):
        if isinstance(value, np.memmap):
            return True
        value = value.base
    return isinstance(value, mmap.mmap) or (isinstance(value, memoryview) and not value.readonly)


# --- the names in the code of a function: globals, attributes, modules; and the lines that write to them ------------------
@dataclasses.dataclass
class CodeNames:
    """The names in a function's code, nested functions and comprehensions included.

    Attributes:
        globals, attributes, modules: names that are looked up; `modules` are imported inside the function.
        written, read: the first line on which each name is written to, and read.
    """

    globals: set[str] = dataclasses.field(default_factory=set)
    attributes: set[str] = dataclasses.field(default_factory=set)
    modules: set[str] = dataclasses.field(default_factory=set)
    written: dict[str, int] = dataclasses.field(default_factory=dict)
    read: dict[str, int] = dataclasses.field(default_factory=dict)


@functools.lru_cache(maxsize=1024)
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


# --- what is written down of mutable values -------------------------------------------------------------------------------
_MISSING = object()
#: What one thing holds, by names or keys; a value without parts of its own by the name None.
Parts = dict[Any, Any]


class JournalEntry:
    """The recorded value of one mutable thing.

    Attributes:
        key: the same for the same thing, however it was reached.
    """

    def __init__(
        self, key: tuple[int, str], read: Callable[[], Parts], write: Callable[[Parts], object], path: Callable[[Any], str]
    ):
        """What `read` gives now; `write` restores it, `path` names a part as the user's code does: "self.n"."""
        self.key, self._read, self._write, self._path, self._before = key, read, write, path, read()

    def changed(self) -> str | None:
        """The path of a difference from the recorded value; None if there is none."""
        now = self._read()
        for name in dict.fromkeys([*self._before, *now]):
            if not _same(self._before.get(name, _MISSING), now.get(name, _MISSING)):
                return self._path(name)
        return None

    def restore(self) -> None:
        """Restores the recorded value."""
        if self.changed() is not None:
            self._write(self._before)


def entry_of(value: Any, path: str) -> JournalEntry | None:
    """The entry of a container, array or cell; None for other values."""
    read: Callable[[], Any]
    write: Callable[[Any], Any]
    if isinstance(value, dict):
        return entry_of_items(value, lambda key: f"{path}[{key!r}]")
    if isinstance(value, np.ndarray):
        read, write = (lambda: tuple(value.flat)) if value.dtype == object else value.copy, partial(_fill, value)
    elif isinstance(value, list | deque):
        read, write = lambda: tuple(value), partial(_refill, value, value.extend)
    elif isinstance(value, set):
        read, write = lambda: frozenset(value), partial(_refill, value, value.update)
    elif isinstance(value, CellType):
        read, write = lambda: value.cell_contents, partial(setattr, value, "cell_contents")
    else:
        return None
    return JournalEntry((id(value), "value"), lambda: {None: read()}, lambda before: write(before[None]), lambda _: path)


def _fill(array: np.ndarray, before: Any) -> None:
    if not isinstance(before, tuple):
        array[...] = before
        return
    for k, value in enumerate(before):
        array.flat[k] = value


def _refill(container: Any, add: Callable[[Any], None], before: Any) -> None:
    container.clear()
    add(before)


def entry_of_items(items: dict[Any, Any], path: Callable[[Any], str], ignored: Collection[str] = ()) -> JournalEntry:
    """The entry of a dictionary, or of an object's own attributes."""

    def write(before: Parts) -> None:
        for key in [key for key in items if key not in before and key not in ignored]:
            del items[key]
        items.update(before)

    return JournalEntry((id(items), "items"), lambda: {k: v for k, v in items.items() if k not in ignored}, write, path)


def entry_of_names(namespace: dict[str, Any], path: Callable[[Any], str], names: set[str]) -> JournalEntry:
    """The entry of some names among the globals of a function or module."""
    key, listed = (id(namespace), ",".join(sorted(names))), sorted(names)
    return JournalEntry(key, lambda: {name: namespace.get(name, _MISSING) for name in listed}, namespace.update, path)


def entry_of_attributes(owner: Any, path: str, names: set[str]) -> JournalEntry:
    """The entry of values set by `setattr`: slots, and the attributes of a class."""

    def write(before: Parts) -> None:
        for name, value in before.items():
            if not _same(value, getattr(owner, name, _MISSING)):
                delattr(owner, name) if value is _MISSING else setattr(owner, name, value)

    key, listed = (id(owner), ",".join(sorted(names))), sorted(names)
    return JournalEntry(
        key, lambda: {name: getattr(owner, name, _MISSING) for name in listed}, write, lambda name: f"{path}.{name}"
    )


def _same(a: Any, b: Any) -> bool:
    """Whether two values are identical, or equal and immutable."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, CONSTANTS):
        return bool(a == b) or (a != a and b != b)
    if isinstance(a, np.ndarray):
        return a.dtype != object and a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, frozenset):
        return a == b
    return isinstance(a, tuple) and len(a) == len(b) and all(map(_same, a, b))
