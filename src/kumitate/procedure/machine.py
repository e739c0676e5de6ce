"""Machine code of procedures: LLVM's own passes on their text, kept on disk; and how arguments are laid out for it."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..compile.engine import ObjectFile, link
from ..compile.optimized import optimized_object
from ..compile.target import host
from ..errors import InputError
from ..scalar import Program, under_way
from .kinds import BOOL, FLOAT, INT, ArrayKind, Kind, NumberKind, RecordKind
from .llvm_form import ENTRY, FAULT_WORDS, LlvmText
from .tree import TypedProcedure

__all__ = ["Machine"]


class Machine:
    """The machine code of a procedure.

    Attributes:
        typed: the procedure.
        checked: whether indices are checked.
    """

    def __init__(self, typed: TypedProcedure, *, checked: bool):
        self.typed, self.checked = typed, checked
        with under_way(lambda: f"compiling {typed.name}") as work:
            text = LlvmText(typed, checked=checked)
            images = [optimized_object(text.text, host())]
            for (program, listed, several), name in text.programs.items():
                images.append(_program_object(name, program, listed, host().lanes if several else 1, portable=checked))
            self.code = link(images, [ENTRY])
            work.note = "; the next time it is read from disk" if self.code.on_disk else ""
        self.sites = text.sites
        self.results = len(typed.result.leaves)
        self.run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.addresses[ENTRY])

    def words(self, arguments: Sequence[Any]) -> tuple[Any, list[Any]]:
        """The block of words of a call, and what must live as long as it is used."""
        words: list[int] = []
        kept: list[Any] = []
        parameters = self.typed.parameters
        if len(arguments) != len(parameters):
            names = ", ".join(name for name, _ in parameters)
            raise InputError(f"{self.typed.name} takes {len(parameters)} arguments ({names}), got {len(arguments)}")
        for (name, kind), argument in zip(parameters, arguments, strict=True):
            _append(words, kept, f"{self.typed.name}: {name}", kind, argument)
        count = FAULT_WORDS + self.results
        block = (ctypes.c_int64 * (count + len(words)))(*([0] * count), *words)
        return block, kept

    def call(self, arguments: Sequence[Any]) -> Any:
        """Runs the procedure; gives its result."""
        block, kept = self.words(arguments)
        self.run(block)
        del kept
        return self.result(block)

    def bound(self, arguments: Sequence[Any]) -> Callable[[], Any]:
        """A function that runs the procedure on these arguments."""
        block, kept = self.words(arguments)
        run, address, result = self.run, ctypes.addressof(block), self.result
        plain = not self.results and not self.checked

        def call(_alive: tuple[Any, ...] = (self, block, kept)) -> Any:
            run(address)
            return None if plain else result(block)

        return call

    def result(self, block: Any) -> Any:
        """The result in a block of words after a call.

        Raises:
            IndexError: if a check failed, with the file, the line and the expression.
        """
        if block[0]:
            site, what = self.sites[block[0] - 1]
            block[0], first, second = 0, block[1], block[2]
            raise IndexError(f"{site}: {what.format(first, second)}")
        if not self.results:
            return None
        return _made(self.typed.result, list(block[FAULT_WORDS : FAULT_WORDS + self.results]))


def _program_object(name: str, program: Program, listed: tuple[bool, ...], lanes: int, *, portable: bool) -> ObjectFile:
    """The object file of the function that evaluates a traced program over lists, which does not depend on the procedure."""
    from ..compile.llvm.gathered import Gathered
    from ..compile.pipeline import Compilation, object_file

    return object_file(Compilation(Gathered(name, program, listed), lanes, portable=portable))


def _append(words: list[int], kept: list[Any], name: str, kind: Kind, value: Any) -> None:
    """Appends the words of an argument."""
    if isinstance(kind, ArrayKind):
        _append_array(words, kept, name, kind, value)
    elif isinstance(kind, RecordKind):
        if not isinstance(value, tuple) or len(value) != len(kind.parts):
            raise InputError(f"{name} is {type(value).__name__}; it must be {kind}, with {len(kind.parts)} fields")
        fields = kind.names or tuple(map(str, range(len(value))))
        for field, part, one in zip(fields, kind.parts, value, strict=True):
            _append(words, kept, f"{name}.{field}", part, one)
    elif kind == FLOAT:
        if not isinstance(value, float | int | np.floating | np.integer):
            raise InputError(f"{name} is {type(value).__name__}; it must be a float")
        words.append(struct.unpack("<q", struct.pack("<d", value))[0])
    else:
        if not isinstance(value, (int, np.integer) if kind == INT else (bool, np.bool_)):
            raise InputError(f"{name} is {type(value).__name__}; it must be {kind}")
        words.append(int(value))  # type: ignore[call-overload]


def _append_array(words: list[int], kept: list[Any], name: str, kind: ArrayKind, value: Any) -> None:
    dtype = np.float64 if kind.element == FLOAT else np.int64
    shape = ", ".join("n" if size is None else str(size) for size in kind.shape)
    rule = f"it must be a C-contiguous {dtype.__name__} array of shape ({shape})"
    if not isinstance(value, np.ndarray):
        raise InputError(f"{name} is {type(value).__name__}; {rule}")
    fits = value.ndim == len(kind.shape) and value.shape[1:] == kind.row and kind.shape[0] in (None, value.shape[0])
    if value.dtype != dtype or not fits or not value.flags.c_contiguous:
        apart = "" if value.flags.c_contiguous else ", not contiguous"
        raise InputError(f"{name} has shape {value.shape} and dtype {value.dtype}{apart}; {rule}")
    words.append(value.ctypes.data)
    if not kind.is_fixed:
        words.append(len(value))
    kept.append(value)


def _made(kind: Kind, words: list[int]) -> Any:
    """The value of a kind from its words."""
    if isinstance(kind, RecordKind):
        return tuple(_made(part, words[kind.span(k)]) for k, part in enumerate(kind.parts))
    assert isinstance(kind, NumberKind)
    if kind == FLOAT:
        return struct.unpack("<d", struct.pack("<q", words[0]))[0]
    return bool(words[0]) if kind == BOOL else words[0]
