"""Decides whether a user's function is pure: its values depend on its arguments alone, so that it may be compiled.

Everything that the function can reach by the names in its code (its closure, globals, and the objects that these hold) is
looked through without being run; mutable values are written into a journal. Then the function is tried on copies of some
states, and traced, while a hook watches its calls; whatever it changed is put back. What is not known counts as impure: a
function that reaches it is called, never compiled.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import dataclasses
import datetime
import decimal
import dis
import enum
import fractions
import functools
import gc
import mmap
import operator
import re
import sys
import traceback
import types
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .arrays import SymbolArray
from .blocks import Program
from .evaluate import evaluate
from .graph import Symbol, TraceError
from .tracing import trace

#: t [s], q, v, and what else the function takes: something that it can be tried at.
State = tuple[Any, ...]
#: What a function takes unless told otherwise.
TAKEN = ("t", "q", "v")


class Verdict(NamedTuple):
    """Whether a function may be compiled.

    Attributes:
        program: from what the function takes to its values; None if it has to be called.
        remembers: whether it keeps state from call to call, or may do so.
        reason: why it is called; empty if it is compiled.
        reach: what it can reach, unless that cannot be looked through.
    """

    program: Program | None
    remembers: bool
    reason: str
    reach: Reachable | None = None

    def changed_since(self) -> str | None:
        """The path of something in the function's reach that has changed since the verdict; None if nothing has."""
        return None if self.reach is None else self.reach.changed()


class Refusal(BaseException):  # a verdict, not a mistake; no `except Exception` of the user's may catch it
    """The reason why a function is called; `remembers`: whether it keeps state, or may do so."""

    def __init__(self, reason: str, *, remembers: bool = True):
        super().__init__(reason)
        self.remembers = remembers


def judged(function: Callable[..., Any], states: Sequence[State], size: int, taken: Sequence[str] = TAKEN) -> Verdict:
    """The verdict on a function that gives `size` values of a time and arrays, (t, q, v) unless `taken` names others.

    It is compiled if nothing was changed when it was tried on copies of the `states` and traced, nothing was called that may
    depend on more than its arguments, and the program gives what the function gives.
    """
    reach = None
    try:
        reach = Reachable(function)
        values = _tried(function, states, size, taken, reach)
        return Verdict(_traced(function, states, values, taken, reach), False, "", reach)
    except Refusal as refusal:
        return Verdict(None, refusal.remembers, str(refusal), reach)
    finally:
        for entry in reach.journal.values() if reach else ():
            entry.restore()


def _tried(
    function: Callable[..., Any], states: Sequence[State], size: int, taken: Sequence[str], reach: Reachable
) -> list[np.ndarray]:
    """The function's values at the states."""
    values: list[np.ndarray] = []
    written, failure = "", ""
    try:
        with watched(reach.codes):
            for t, *given in (*states, states[0]):
                arrays = [array.copy() for array in given]
                values.append(np.asarray(function(t, *arrays)))
                changed = (
                    name for name, now, was in zip(taken[1:], arrays, given, strict=True) if not np.array_equal(now, was)
                )
                written = written or next(changed, "")
    except Exception as error:
        failure = f"it cannot be tried beforehand: {_told(error, reach)}"
    reach.refuse_changes()
    if failure:
        raise Refusal(failure, remembers=False)
    if not np.array_equal(values[0], values[-1], equal_nan=values[0].dtype.kind == "f"):
        raise Refusal("it gives different values for the same arguments")
    wrong = next((value for value in values if value.shape != (size,) or value.dtype.kind not in "fiu"), None)
    if wrong is not None:
        raise Refusal(f"it gives {wrong.dtype} of shape {wrong.shape}, not {size} real numbers", remembers=False)
    if not np.isfinite(values[0]).all():
        raise Refusal(f"it gives {values[0].tolist()} at the start", remembers=False)
    if written:
        raise Refusal(f"it writes into its argument `{written}`{reach.where(written)}; write to a copy", remembers=False)
    return values


def _traced(
    function: Callable[..., Any], states: Sequence[State], values: Sequence[np.ndarray], taken: Sequence[str], reach: Reachable
) -> Program:
    """The function's program, which gives the values."""

    def page(t: Any, *arrays: Any) -> Any:
        with watched(reach.codes):
            return list(np.asarray(function(t, *map(SymbolArray, arrays))))

    sizes: dict[str, int | tuple[int, ...]] = {taken[0]: ()}
    sizes |= {name: len(array) for name, array in zip(taken[1:], states[0][1:], strict=True)}
    try:
        program = trace(page, sizes, "actuation")
    except Exception as error:
        raise Refusal(f"it cannot be traced: {_told(error, reach)}", remembers=False) from None
    reach.refuse_changes()
    for (t, *arrays), expected in zip(states, values, strict=False):
        given = np.array(evaluate(program, [t, *chain.from_iterable(arrays)]), dtype=float)
        scale = float(np.nan_to_num(np.abs(expected), posinf=0.0).max(initial=0.0))  # a zero beside others rounds as they do
        if not np.allclose(given, expected, rtol=1e-9, atol=1e-12 * max(scale, 1.0), equal_nan=True):
            raise Refusal("its trace gives other values than a call: it looks at the type of its arguments", remembers=False)
    return program


def _told(error: Exception, reach: Reachable) -> str:
    """An error in one line, with the line of the user's code, and the remedy where there is one."""
    frames = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code in reach.codes]
    text = f"{error}" if isinstance(error, TraceError) else f"{type(error).__name__}: {error}"
    if not frames:
        return text
    frame, line = frames[-1]
    if isinstance(error, TraceError) and _stores(error.__traceback__, frame):
        text = "a traced value is written into an array of numbers; make the array by np.zeros_like(v) or km.zeros(n)"
    return f"{text} ({_place(frame.f_code, line)})"


def _stores(at: types.TracebackType | None, frame: types.FrameType) -> bool:
    """Whether a traceback leaves a frame where it writes to an element of an array."""
    while at is not None and at.tb_frame is not frame:
        at = at.tb_next
    if at is None or (at.tb_next is not None and at.tb_next.tb_frame.f_code is not Symbol.__float__.__code__):
        return False  # the error comes from a called function
    return any(step.offset == at.tb_lasti and step.opname == "STORE_SUBSCR" for step in dis.get_instructions(frame.f_code))


def _place(code: types.CodeType, line: int | None) -> str:
    return f"line {line} of {Path(code.co_filename).name}, in {code.co_name}"


@contextlib.contextmanager
def watched(codes: Iterable[types.CodeType]) -> Iterator[None]:
    """Refuses, in this context, a call that may keep state before it is made; `codes` may run beside trusted packages.

    Garbage waits meanwhile: what runs as it is collected, anybody's, would be taken for a call of the function.
    """
    own = {id(code) for code in codes}  # code is slow to hash

    def look(frame: types.FrameType, event: str, function: Any) -> None:
        if event == "c_call" and id(frame.f_code) in own and impure_call(function):
            raise Refusal(f"it calls {named(function)}, {_MORE} ({_place(frame.f_code, frame.f_lineno)})")
        if event == "call":
            caller = frame.f_back  # calls made by trusted packages are not checked
            unknown = caller is not None and id(caller.f_code) in own and id(frame.f_code) not in own
            if unknown and not is_trusted(frame.f_globals.get("__name__")):
                at = _place(frame.f_code, frame.f_lineno)
                raise Refusal(f"it runs {frame.f_code.co_qualname}, which was not found beforehand ({at})")

    before: Any = sys.getprofile()
    collecting = gc.isenabled()
    gc.disable()
    sys.setprofile(look)
    try:
        yield
    finally:
        before.enable() if hasattr(before, "enable") else sys.setprofile(before)  # cProfile's is not a function
        if collecting:
            gc.enable()


# --- objects and functions other than the user's: which are constant, and which calls are pure ----------------------------
_MORE = "which may depend on more than its arguments"
#: Packages whose functions are pure, except for those in `_IMPURE`.
_TRUSTED = {
    "kumitate", "numpy", "scipy", "math", "cmath", "operator", "functools", "itertools", "collections", "dataclasses", "typing",
    "enum", "numbers", "copy", "abc", "importlib", "_frozen_importlib", "_frozen_importlib_external", "warnings", "_operator",
    "_functools", "_collections", "_collections_abc", "contextlib", "types", "fractions", "decimal", "re", "bisect", "_bisect",
    "statistics", "string",
}  # fmt: skip
#: Parts of these packages that keep state or read files.
_IMPURE = ("numpy.random", "scipy.stats", "scipy.io", "numpy.ctypeslib", "kumitate.control.sensor_models")
_READING = {
    "fromfile", "genfromtxt", "load", "loadtxt", "memmap", "save", "savetxt", "savez", "savez_compressed", "fromregex",
    "seterr", "set_printoptions", "open", "simulate", "simulate_batch",
}  # fmt: skip
#: Builtins that read or write something other than their arguments.
_IMPURE_BUILTINS = {
    "__import__", "breakpoint", "compile", "delattr", "dir", "eval", "exec", "getattr", "globals", "hash", "id", "input",
    "iter", "locals", "memoryview", "next", "open", "print", "setattr", "vars",
}  # fmt: skip

_Field = collections.namedtuple("_Field", "x")  # its fields are descriptors of a type without a public name
#: Types of values that cannot change.
CONSTANTS: tuple[type, ...] = (
    bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range, slice, np.generic, np.dtype,
    np.ufunc, enum.Enum, re.Pattern, datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, fractions.Fraction,
    Symbol, operator.itemgetter, operator.attrgetter, types.MemberDescriptorType, types.GetSetDescriptorType, type(_Field.x),
)  # fmt: skip
#: Types implemented in C from which a user's class may be derived and still be inspected.
_OPEN_BASES = {
    object, list, dict, tuple, set, frozenset, int, float, str, np.ndarray, BaseException, Exception, collections.deque,
    collections.OrderedDict, collections.defaultdict,
}  # fmt: skip
_BUILTIN_CALLS = (types.BuiltinFunctionType, types.MethodDescriptorType, types.MethodWrapperType, types.WrapperDescriptorType)


def is_trusted(module: str | None) -> bool:
    """Whether the code of a module is trusted: it is pure, or changes only its arguments, which is detected."""
    name = module or ""
    return name.partition(".")[0] in _TRUSTED and not name.startswith(_IMPURE)


def is_library(module: str | None) -> bool:
    """Whether a module belongs to Python's own library."""
    return (module or "").partition(".")[0] in sys.stdlib_module_names


def named(value: Any) -> str:
    """A function's, class's or module's full name, for messages."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        return f"{type(owner).__name__}.{value.__name__}"
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", type(value).__name__)
    return str(name) if module in (None, "builtins") else f"{module}.{name}"


def impure_call(function: Any) -> bool:
    """Whether a call, of C or of Python's library, may read or write something other than its arguments and its own object."""
    if isinstance(function, types.FunctionType):
        return is_library(function.__module__) and not is_trusted(function.__module__)
    if isinstance(function, np.ufunc | type(functools.partial)):
        return False
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if owner is builtins or (owner is None and getattr(builtins, name, None) is function):
        return name in _IMPURE_BUILTINS
    if owner is None or isinstance(owner, types.ModuleType):
        kind = getattr(function, "__objclass__", function)
        module = getattr(kind, "__module__", None) or getattr(owner, "__name__", "")
        return name in _READING or not (module == "builtins" or is_trusted(module))
    kind = owner if isinstance(owner, type) else type(owner)
    return kind.__module__ != "builtins" and not is_trusted(kind.__module__)


def is_builtin_call(value: Any) -> bool:
    """Whether a value is a function implemented in C."""
    return isinstance(value, _BUILTIN_CALLS) or (callable(value) and type(value).__name__.startswith("cython_"))


def foreign_base(kind: type) -> type | None:
    """The first base of a class that is implemented in C and not known: its objects' contents cannot be inspected."""
    heap_type = 1 << 9  # Py_TPFLAGS_HEAPTYPE: every class written in Python has it, and a few that are written in C
    for base in kind.__mro__:
        has_methods_in_c = any(isinstance(value, types.MethodDescriptorType) for value in vars(base).values())
        if base not in _OPEN_BASES and (has_methods_in_c or not base.__flags__ & heap_type):
            return base
    return None


# --- what a function can reach by the names in its code -------------------------------------------------------------------
#: The largest number of objects that are inspected.
_MOST = 20_000
#: Methods that Python calls where they are not named, except for these.
_NOT_IMPLICIT = {
    "__init__", "__new__", "__post_init__", "__init_subclass__", "__repr__", "__str__", "__del__", "__reduce__", "__class__",
    "__reduce_ex__", "__getstate__", "__setstate__", "__subclasshook__", "__dir__", "__sizeof__", "__format__",
}  # fmt: skip
_MAKERS = {"__init__", "__new__", "__post_init__"}
#: The sorts of names by the instructions that look them up.
_SORTS = {
    "IMPORT_NAME": "modules",
    **dict.fromkeys(("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"), "globals"),
    **dict.fromkeys(("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "STORE_ATTR", "DELETE_ATTR", "IMPORT_FROM"), "attributes"),
}


@functools.lru_cache(maxsize=1024)
def names_of(code: types.CodeType) -> dict[str, dict[str, int]]:
    """The names in a function's code, nested functions and comprehensions included, with the first line of each.

    By their sorts: "globals", "attributes" and "modules", which are imported inside the function; and "written" or "read".
    """
    names: dict[str, dict[str, int]] = defaultdict(dict)
    line = code.co_firstlineno
    for step in dis.get_instructions(code):
        if step.positions is not None and step.positions.lineno is not None:
            line = step.positions.lineno
        if isinstance(step.argval, str):
            names[_SORTS.get(step.opname, "others")].setdefault(step.argval, line)
            names["written" if step.opname.startswith(("STORE", "DELETE")) else "read"].setdefault(step.argval, line)
    for part in code.co_consts:
        for sort, lines in names_of(part).items() if isinstance(part, types.CodeType) else ():
            names[sort] = {**lines, **names[sort]}
    return names


class Reachable:
    """Everything that a function can reach.

    `codes` is the code that it may run, apart from that of trusted packages, and `journal` has the mutable values, by the thing
    and the part of it that each entry is about.
    """

    def __init__(self, function: Callable[..., Any]):
        """Inspects a function; raises a `Refusal` where that cannot be done."""
        self.codes: set[types.CodeType] = set()
        self.journal: dict[tuple[int, str], JournalEntry] = {}
        self._attributes: set[str] = set()
        size = -1
        while size != len(self.codes):  # code found late may name attributes of objects found early
            size = len(self.codes)
            self._seen: dict[int, Any] = {}  # kept alive, so that no id is used twice
            self.journal.clear()
            self._visit(function, function.__name__ if isinstance(function, types.FunctionType) else "self", called=True)

    def changed(self) -> str | None:
        """The path of something that has changed; None if nothing has."""
        return next((path for entry in self.journal.values() if (path := entry.changed())), None)

    def refuse_changes(self) -> None:
        """Refuses a function that has changed something."""
        if (path := self.changed()) is not None:
            raise Refusal(f"`{path}` changes{self.where(path)}")

    def where(self, path: str) -> str:
        """Where the code writes to this path, or else reads it: " (line 4 of arm.py, in pd)"; "" if nowhere."""
        name = re.split(r"[.\[]", path.split("[")[0])[-1]
        for sort in ("written", "read"):
            for code in self.codes:
                if (line := names_of(code)[sort].get(name)) is not None:
                    return f" ({_place(code, line)})"
        return ""

    def _visit(self, value: Any, path: str, *, called: bool = False) -> None:
        """Looks through one object; `called`: whether it is the function itself."""
        if isinstance(value, CONSTANTS) or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if len(self._seen) > _MOST:
            raise Refusal("it reaches more objects than can be looked through")
        if isinstance(value, types.FunctionType):
            self._visit_function(value, path)
        elif isinstance(value, types.MethodType):
            self._visit(value.__self__, "self" if called else path, called=called)
            self._visit(value.__func__, path)
        elif isinstance(value, types.ModuleType):
            self._visit_module(value)
        elif isinstance(value, type):
            self._visit_class(value, path)
        elif isinstance(value, staticmethod | classmethod | functools._lru_cache_wrapper):
            self._visit(value.__wrapped__, path)
        elif isinstance(value, property):
            self._visit_all((value.fget, value.fset), path)
        elif isinstance(value, functools.cached_property):
            self._visit(value.func, path)
        elif isinstance(value, functools.partial):
            self._visit_all((value.func, *value.args, *value.keywords.values()), path)
        elif is_builtin_call(value):
            self._visit(getattr(value, "__self__", None), path)
            self._refuse_impure(value, path)
        else:
            self._visit_object(value, path, called)

    def _visit_all(self, values: Iterable[Any], path: str) -> None:
        for value in values:
            self._visit(value, path)

    def _refuse_impure(self, function: Any, path: str) -> None:
        if impure_call(function):
            raise Refusal(f"it calls {named(function)}, {_MORE}{self.where(path)}")

    def _visit_function(self, function: types.FunctionType, path: str) -> None:
        self._refuse_impure(function, path)
        code, names, around = function.__code__, names_of(function.__code__), function.__globals__
        self.codes |= {code, *(part for part in code.co_consts if isinstance(part, types.CodeType))}
        self._attributes |= names["attributes"].keys()
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # not set yet
                content = cell.cell_contents
                self._note(cell, entry_of(cell, name))
                self._visit(content, name)
        self._note(vars(function), entry_of_items(vars(function), lambda name: f"{function.__name__}.{name}"))
        self._visit_all((*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()), function.__name__)
        if is_trusted(function.__module__):
            return
        self._note_names(around, names["globals"].keys() & around.keys(), str)
        for name in sorted(names["globals"]):
            self._visit(around.get(name, function.__builtins__.get(name)), name)  # type: ignore[attr-defined]
        for name in sorted(names["modules"]):
            self._visit(sys.modules.get(name), name)

    def _visit_module(self, module: types.ModuleType) -> None:
        own, trusted = self._attributes & vars(module).keys(), is_trusted(module.__name__)
        if not trusted:
            self._note_names(vars(module), own, lambda name: f"{module.__name__}.{name}")
        for name in sorted(own):
            value = vars(module)[name]
            if not trusted:
                self._visit(value, f"{module.__name__}.{name}")
            elif isinstance(value, types.ModuleType) and not is_trusted(value.__name__):
                raise Refusal(f"it calls {named(value)}, which keeps state{self.where(name)}")
            elif is_builtin_call(value):
                self._refuse_impure(value, name)

    def _visit_class(self, kind: type, path: str, makers: Collection[str] = _MAKERS) -> None:
        """Inspects a class: the attributes that are named, and, if the class itself is named, its constructors."""
        if is_trusted(kind.__module__) or kind.__module__ == "builtins":
            return
        if (base := foreign_base(kind)) is not None:
            raise Refusal(f"it uses {named(base)}, which cannot be looked through{self.where(path)}")
        own = {name: vars(kind)[name] for name in self._attributes & vars(kind).keys()}
        data = {name for name, value in own.items() if not callable(value) and not hasattr(value, "__get__")}
        if data:
            self._note(kind, entry_of_attributes(kind, kind.__name__, data))
        self._visit_members(kind, path, makers)

    def _visit_object(self, value: Any, path: str, called: bool) -> None:
        kind = type(value)
        if kind.__module__.partition(".")[0] == "kumitate" and not kind.__module__.startswith("kumitate.control"):
            return  # robots, kernels, mechanisms: their only state is caches; those of `control` hold functions of the user's
        if _is_shared(value):
            raise Refusal(f"`{path}` shares its memory with a file or another process{self.where(path)}")
        if (base := foreign_base(kind)) is not None:
            raise Refusal(f"`{path}` is a {named(base)}, which may change unseen{self.where(path)}")
        self._note(value, entry_of(value, path))
        if isinstance(value, dict):
            self._visit_all((*value.keys(), *value.values()), path)
        elif isinstance(value, list | tuple | set | frozenset | deque):
            self._visit_all(value, path)
        elif isinstance(value, np.ndarray) and value.dtype == object:
            self._visit_all(value.flat, path)
        self._visit_attributes(value, path)
        if not is_trusted(kind.__module__):
            self._visit_members(kind, path, {"__call__"} if called else set())
            self._visit_class(kind, kind.__name__, makers=())

    def _visit_attributes(self, value: Any, path: str) -> None:
        """The attributes of an object: all are written into the journal, those that are named are inspected."""
        members = [item for base in type(value).__mro__ for item in vars(base).items()]
        # cached properties are set on first use, which does not count as state
        cached = {name for name, member in members if isinstance(member, functools.cached_property)}
        slots = {name for name, member in members if isinstance(member, types.MemberDescriptorType)}
        own: dict[str, Any] = getattr(value, "__dict__", {})
        if hasattr(value, "__dict__"):
            self._note(own, entry_of_items(own, lambda name: f"{path}.{name}", ignored=cached))
        if slots:
            self._note(value, entry_of_attributes(value, path, slots), "slots")
        for name in sorted(self._attributes & (slots | own.keys() - cached)):
            self._visit(own[name] if name in own else getattr(value, name, None), f"{path}.{name}")

    def _visit_members(self, kind: type, path: str, further: Collection[str]) -> None:
        """The functions of a class that are named, listed as `further`, or that Python calls implicitly."""
        members = {name: (base, member) for base in reversed(kind.__mro__) for name, member in vars(base).items()}
        if is_library(kind.__module__):  # its operators are trusted; named methods are not
            further = ()
        else:
            implicit = (name for name in members if name.startswith("__") and name.endswith("__") and name not in _NOT_IMPLICIT)
            further = {*further, *(name for name in implicit if callable(getattr(kind, name, None)))}
        for name in sorted((self._attributes | set(further)) & members.keys()):
            base, member = members[name]
            known = base.__module__ == "builtins" or is_trusted(base.__module__)
            if not known and not _is_generated(base, member):
                self._visit(member, f"{path}.{name}")

    def _note(self, owner: Any, entry: JournalEntry | None, part: str = "") -> None:
        if entry is not None:
            self.journal[id(owner), part] = entry

    def _note_names(self, namespace: dict[str, Any], names: Collection[str], path: Callable[[Any], str]) -> None:
        """Some names among the globals of a function or module."""
        if names:
            self._note(namespace, entry_of_items(namespace, path, sorted(names)), ",".join(sorted(names)))


def _is_generated(kind: type, function: Any) -> bool:
    """Whether a method of a dataclass was generated by Python, such as `__hash__`."""
    code = getattr(function, "__code__", None)
    return dataclasses.is_dataclass(kind) and code is not None and code.co_filename == "<string>"


def _is_shared(value: Any) -> bool:
    """Whether an array lies in memory that others may write to."""
    while isinstance(value, np.ndarray):
        if isinstance(value, np.memmap):
            return True
        value = value.base
    return isinstance(value, mmap.mmap) or (isinstance(value, memoryview) and not value.readonly)


# --- what is written down of mutable values -------------------------------------------------------------------------------
_MISSING = object()


@dataclasses.dataclass
class JournalEntry:
    """What one mutable thing held, by names or keys; a value without parts of its own by the name None.

    `read` gives what it holds now; `path`: its name in the user's code, "self.n"; `write` restores it or `drop` removes it.
    """

    read: Callable[[], dict[Any, Any]]
    path: Callable[[Any], str]
    write: Callable[[Any, Any], object]
    drop: Callable[[Any], object] = lambda _: None

    def __post_init__(self) -> None:
        self._before = self.read()

    def _differences(self) -> Iterator[Any]:
        now = self.read()
        for name in {**self._before, **now}:
            if not _same(self._before.get(name, _MISSING), now.get(name, _MISSING)):
                yield name

    def changed(self) -> str | None:
        """The path of a difference from the recorded value; None if there is none."""
        return next(map(self.path, self._differences()), None)

    def restore(self) -> None:
        """Restores the recorded value."""
        for name in self._differences():
            before = self._before.get(name, _MISSING)
            self.drop(name) if before is _MISSING else self.write(name, before)


#: How what these hold is read, and put back.
_CONTENTS: tuple[tuple[Any, Callable[[Any], Any], Callable[[Any, Any], object]], ...] = (
    (np.ndarray, lambda array: array.copy(), lambda array, before: array.__setitem__(..., before)),
    (list | deque, tuple, lambda items, before: (items.clear(), items.extend(before))),
    (set, frozenset, lambda items, before: (items.clear(), items.update(before))),
    (types.CellType, lambda cell: cell.cell_contents, lambda cell, before: setattr(cell, "cell_contents", before)),
)


def entry_of(value: Any, path: str) -> JournalEntry | None:
    """The entry of a container, array or cell; None for other values."""
    if isinstance(value, dict):
        return entry_of_items(value, lambda key: f"{path}[{key!r}]")
    ways = next(((read, write) for kind, read, write in _CONTENTS if isinstance(value, kind)), None)
    if ways is None:
        return None
    read, write = ways
    return JournalEntry(lambda: {None: read(value)}, lambda _: path, lambda _, before: write(value, before))


def entry_of_items(
    items: dict[Any, Any], path: Callable[[Any], str], names: Collection[str] | None = None, ignored: Collection[str] = ()
) -> JournalEntry:
    """The entry of a dictionary, or of some of its names: an object's own attributes, globals."""

    def read() -> dict[Any, Any]:
        return {key: items.get(key, _MISSING) for key in tuple(items if names is None else names) if key not in ignored}

    return JournalEntry(read, path, items.__setitem__, items.pop)


def entry_of_attributes(owner: Any, path: str, names: Collection[str]) -> JournalEntry:
    """The entry of values set by `setattr`: slots, and the attributes of a class."""
    ways = (functools.partial(way, owner) for way in (setattr, delattr))
    return JournalEntry(lambda: {name: getattr(owner, name, _MISSING) for name in names}, lambda name: f"{path}.{name}", *ways)


def _same(a: Any, b: Any) -> bool:
    """Whether two values are identical, or equal and immutable."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, CONSTANTS):
        return bool(a == b) or (a != a and b != b)
    if isinstance(a, np.ndarray):
        alike = a.shape == b.shape and a.dtype == b.dtype
        return alike and (all(map(_same, a.flat, b.flat)) if a.dtype == object else a.tobytes() == b.tobytes())
    return a == b if isinstance(a, frozenset) else isinstance(a, tuple) and len(a) == len(b) and all(map(_same, a, b))
