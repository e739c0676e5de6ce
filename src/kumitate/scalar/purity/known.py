"""Knowledge about objects and functions other than the user's: which are constant, and which calls are pure.

Anything unknown counts as impure: a function that reaches it is called, never compiled.
"""

from __future__ import annotations

import builtins
import collections
import datetime
import decimal
import enum
import fractions
import functools
import operator
import re
import sys
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from ..graph import Symbol

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
#: Modules of kumitate whose objects hold functions of the user's, or keep state.
_HOLDING = ("kumitate.control",)
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
    Symbol, operator.itemgetter, operator.attrgetter, MemberDescriptorType, GetSetDescriptorType, type(_Field.x),
)  # fmt: skip
#: Types implemented in C from which a user's class may be derived and still be inspected.
_OPEN_BASES = {
    object, list, dict, tuple, set, frozenset, int, float, str, np.ndarray, BaseException, Exception, collections.deque,
    collections.OrderedDict, collections.defaultdict,
}  # fmt: skip

_BUILTIN_CALLS = (BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType)


def is_trusted(module: str | None) -> bool:
    """Whether the code of a module is trusted: it is pure, or changes only its arguments, which is detected."""
    name = module or ""
    return name.partition(".")[0] in _TRUSTED and not name.startswith(_IMPURE)


def is_self_contained(kind: type) -> bool:
    """Whether objects of a class are kumitate's own (robots, kernels, mechanisms): their only state is caches."""
    return kind.__module__.partition(".")[0] == "kumitate" and not kind.__module__.startswith(_HOLDING)


def is_library(module: str | None) -> bool:
    """Whether a module belongs to Python's own library."""
    return (module or "").partition(".")[0] in sys.stdlib_module_names


def named(value: Any) -> str:
    """A function's, class's or module's full name, for messages."""
    if isinstance(value, ModuleType):
        return value.__name__
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType | type):
        return f"{type(owner).__name__}.{value.__name__}"
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", type(value).__name__)
    return str(name) if module in (None, "builtins") else f"{module}.{name}"


def foreign_base(kind: type) -> type | None:
    """The first base of a class that is implemented in C and not known: its objects' contents cannot be inspected."""
    return next((base for base in kind.__mro__ if base not in _OPEN_BASES and _written_in_c(base)), None)


def _written_in_c(kind: type) -> bool:
    heap_type = 1 << 9  # Py_TPFLAGS_HEAPTYPE: every class written in Python has it, and a few that are written in C
    return not kind.__flags__ & heap_type or any(isinstance(value, MethodDescriptorType) for value in vars(kind).values())


def impure_call(function: Any) -> bool:
    """Whether a call of a function may read or write something other than its arguments and its own object.

    Used for functions implemented in C, and for those of Python's standard library.
    """
    if isinstance(function, FunctionType):
        return is_library(function.__module__) and not is_trusted(function.__module__)
    if isinstance(function, np.ufunc | type(functools.partial)):
        return False
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if owner is builtins or (owner is None and getattr(builtins, name, None) is function):
        return name in _IMPURE_BUILTINS
    if owner is None or isinstance(owner, ModuleType):
        kind = getattr(function, "__objclass__", None)
        module = (
            kind.__module__ if kind is not None else getattr(function, "__module__", None) or getattr(owner, "__name__", "")
        )
        return name in _READING or not (module == "builtins" or is_trusted(module))
    kind = owner if isinstance(owner, type) else type(owner)
    return kind.__module__ != "builtins" and not is_trusted(kind.__module__)


def is_builtin_call(value: Any) -> bool:
    """Whether a value is a function implemented in C."""
    return isinstance(value, _BUILTIN_CALLS) or (isinstance(value, Callable) and type(value).__name__.startswith("cython_"))  # type: ignore[arg-type]
