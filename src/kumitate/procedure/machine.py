"""Machine code of procedures: LLVM's own passes on their text, kept on disk; and how arguments are laid out for it.

There are several object files: that of a procedure's own text, and one for each traced program that it calls. Those of
kumitate's own procedures are kept on disk together under a stamp of its sources, so that the next process neither reads them
nor writes their text again.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import struct
import threading
from array import array
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compile.disk import CacheEntry, cached
from ..compile.engine import LEAN, LEAN_OF_ROWS, Code, generate, kept_image, link, optimized_object
from ..compile.stored import source_stamp
from ..compile.target import host
from ..errors import InputError
from ..scalar import under_way
from .kinds import BOOL, ENTRY, FAULT_WORDS, FLOAT, INT, TABLE, ArrayKind, Kind, NumberKind, RecordKind
from .programs import FAULTS
from .source import Site, Source

if TYPE_CHECKING:
    from .modules import LlvmText
    from .tree import TypedProcedure

Packer = Callable[[list[int], Any], None]
_PACKAGE = __name__.split(".", maxsplit=1)[0]
_MAKING = threading.RLock()  # of what waited for its first call: one thread makes it, and the others wait
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: globals().update(_MAKING=threading.RLock()))


class Machine:
    """The machine code of a procedure; `checked`: whether indices are checked."""

    def __init__(self, function: Callable[..., Any], typed: Callable[[], TypedProcedure], *, checked: bool, key: str = ""):
        """That of a function; `typed` reads it, unless its code is on disk: by its name, for which a closure has a key."""
        self.name, self.checked = function.__name__, checked
        self.sites: list[tuple[Site, str]] = []
        with under_way(lambda: f"compiling {self.name}") as work:
            self._images = partial(_images, function, typed, key, {})
            if checked:
                text = written(typed, checked=True)
                images, self.sites = made_images(text.modules()), text.sites
            else:
                images = self._images(-1)
            self.code = link(images, [ENTRY] if checked else [ENTRY, TABLE])
            work.note = "; the next time it is read from disk" if self.code.on_disk else ""
        if not checked:
            self._made: list[Code] = []
            self._maker = ctypes.CFUNCTYPE(None, ctypes.c_int64)(self._make)
            self._table = ctypes.cast(self.code.addresses[TABLE], ctypes.POINTER(ctypes.c_void_p))
            self._table[0] = ctypes.cast(self._maker, ctypes.c_void_p)
        self.parameters, self.result = Source(function).signature()
        self.results = len(self.result.leaves)
        self.packers = [_packer(f"{self.name}: {name}", kind) for name, kind in self.parameters]
        self.run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.addresses[ENTRY])

    def _make(self, number: int) -> None:
        """Makes a procedure that has waited for its first call; machine code calls this, so that no error may leave it.

        What stops it is raised when the procedure around returns, which goes on with zeros; after Ctrl-C it goes on as ever.
        """
        with _MAKING:
            while not self._table[1 + number]:
                try:
                    with under_way(lambda: f"compiling a part of {self.name}"):
                        self._made.append(link(self._images(number), [f"{TABLE}{number}"], [self.code]))
                    self._table[1 + number] = self._made[-1].addresses[f"{TABLE}{number}"]
                except BaseException as error:
                    FAULTS.append(error)
                    if not isinstance(error, KeyboardInterrupt):
                        break

    def words(self, arguments: Sequence[Any]) -> array[int]:
        """The block of words of a call; the arrays must live as long as it is used."""
        words: list[int] = [0] * (FAULT_WORDS + self.results)
        if len(arguments) != len(self.packers):
            names = ", ".join(name for name, _ in self.parameters)
            raise InputError(f"{self.name} takes {len(self.packers)} arguments ({names}), got {len(arguments)}")
        for pack, argument in zip(self.packers, arguments, strict=True):
            pack(words, argument)
        return array("q", words)

    def call(self, arguments: Sequence[Any]) -> Any:
        """Runs the procedure; gives its result."""
        return self.bound(arguments)()

    def bound(self, arguments: Sequence[Any]) -> Callable[[], Any]:
        """A function that runs the procedure on these arguments."""
        block = self.words(arguments)
        run, address, result = self.run, block.buffer_info()[0], self.result_in
        plain = not self.results and not self.checked

        def call(_alive: tuple[Any, ...] = (self, block, arguments)) -> Any:
            run(address)
            if FAULTS:
                raise FAULTS.pop()
            return None if plain else result(block)

        return call

    def result_in(self, block: array[int]) -> Any:
        """The result in a block of words after a call; an `IndexError` that names the expression if a check failed."""
        if block[0]:
            site, what = self.sites[block[0] - 1]
            block[0], first, second = 0, block[1], block[2]
            raise IndexError(f"{site}: {what.format(first, second)}")
        if not self.results:
            return None
        return _made(self.result, list(block[FAULT_WORDS : FAULT_WORDS + self.results]))


def _packer(name: str, kind: Kind) -> Packer:
    """What appends the words of an argument of a kind to a block, or refuses it by name."""
    if isinstance(kind, ArrayKind):
        return _array_packer(name, kind)
    if isinstance(kind, RecordKind):
        parts = [_packer(f"{name}.{field}", part) for field, part in zip(kind.fields, kind.parts, strict=True)]
        last: tuple[Any, list[int]] = (None, [])

        def pack_record(words: list[int], value: Any) -> None:
            nonlocal last
            if value is not last[0]:  # what a record holds is where it was: its fields do not change, nor do arrays move
                if not isinstance(value, tuple) or len(value) != len(parts):
                    raise InputError(f"{name} is {type(value).__name__}; it must be {kind}, with {len(parts)} fields")
                packed: list[int] = []
                for pack, one in zip(parts, value, strict=True):
                    pack(packed, one)
                last = value, packed
            words += last[1]

        return pack_record
    return _number_packer(name, kind)


def _number_packer(name: str, kind: NumberKind) -> Packer:
    allowed = {FLOAT: (float, int, np.floating, np.integer), INT: (int, np.integer), BOOL: (bool, np.bool_)}[kind]

    def pack_number(words: list[int], value: Any) -> None:
        if not isinstance(value, allowed):
            raise InputError(f"{name} is {type(value).__name__}; it must be {kind}")
        if kind == FLOAT:
            words.append(struct.unpack("<q", struct.pack("<d", value))[0])
        elif -(2**63) <= value < 2**63:
            words.append(int(value))
        else:
            raise InputError(f"{name} is {value}; integers have 64 bits")

    return pack_number


def _array_packer(name: str, kind: ArrayKind) -> Packer:
    dtype = np.dtype(np.float64 if kind.element == FLOAT else np.int64)
    axes, rows, row = len(kind.shape), kind.shape[0], kind.row

    def pack_array(words: list[int], value: Any) -> None:
        is_plain = isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == axes and value.flags.c_contiguous
        if not is_plain or value.shape[1:] != row or rows not in (None, value.shape[0]):
            shape = ", ".join("n" if size is None else str(size) for size in kind.shape)
            rule = f"it must be a C-contiguous {dtype} array of shape ({shape}{',' if axes == 1 else ''})"
            if not isinstance(value, np.ndarray):
                raise InputError(f"{name} is {type(value).__name__}; {rule}")
            apart = "" if value.flags.c_contiguous else ", not contiguous"
            raise InputError(f"{name} has shape {value.shape} and dtype {value.dtype}{apart}; {rule}")
        words.append(value.__array_interface__["data"][0])
        if rows is None:
            words.append(value.shape[0])

    return pack_array


def _made(kind: Kind, words: list[int]) -> Any:
    """The value of a kind from its words."""
    if isinstance(kind, RecordKind):
        return tuple(_made(part, words[span.start : span.stop]) for part, span in zip(kind.parts, kind.spans, strict=True))
    assert isinstance(kind, NumberKind)
    if kind == FLOAT:
        return struct.unpack("<d", struct.pack("<q", words[0]))[0]
    return bool(words[0]) if kind == BOOL else words[0]


# --- object files ---------------------------------------------------------------------------------------------------------
def written(typed: Callable[[], TypedProcedure], *, checked: bool = False, waits: bool = False) -> LlvmText:
    """The text of a procedure that is read first, and of all that it calls.

    Reading makes many objects that live on, and hardly any that refer to each other in a circle: without Python's search for
    such circles it takes three quarters of the time.
    """
    from .modules import LlvmText  # what is on disk needs no writer

    was_on = gc.isenabled()
    gc.disable()
    try:
        return LlvmText(typed(), checked=checked, waits=waits)
    finally:
        if was_on:
            gc.enable()


def made_images(modules: Sequence[str], lean: int = LEAN) -> list[CacheEntry]:
    """The object files of a module of procedures and of those of programs, each found on disk by what it says."""
    return [optimized_object(modules[0], host(), lean), *(generate(module, host()) for module in modules[1:])]


def _images(
    function: Callable[..., Any], typed: Callable[[], TypedProcedure], name: str, texts: dict[str, LlvmText], part: int
) -> list[CacheEntry]:  # fmt: skip
    """The object files of a procedure, or of one of its procedures that wait; of kumitate's own found on disk by their names.

    `typed` reads it, `name` is that of one in a function, `texts` has what was written before as "text", and `part` is that of
    the one that waits, −1 for all that does not.
    """

    def modules(part: int) -> list[str]:
        text = texts["text"] = texts.get("text") or written(typed, waits=True)
        return text.modules(part)

    if function.__module__.split(".")[0] != _PACKAGE or (function.__closure__ and not name):
        # made for one problem, with loops through its rows, such as a plan's steps back: lean, a round took 0.9 ms, not 0.47
        return made_images(modules(part), LEAN_OF_ROWS)
    owner = f"{source_stamp()}\0{function.__module__}.{function.__qualname__}\0{name}"

    def kept_modules(part: int) -> list[str]:
        kept = cached(f"modules\0{owner}\0{part}", lambda: json.dumps(modules(part)).encode(), suffix=".json")
        return json.loads(kept.content)  # type: ignore[no-any-return]

    def make() -> bytes:
        contents = [image.content for image in made_images(modules(part) if part < 0 else kept_modules(part))]
        for later in range(len(texts["text"].waiting) if part < 0 else 0):
            kept_modules(later)  # the process that first calls it need not read procedures
        return struct.pack(f"<{1 + len(contents)}q", len(contents), *map(len, contents)) + b"".join(contents)

    found = kept_image(f"procedure\0{owner}\0{part}", host(), make)
    (count,) = struct.unpack_from("<q", found.content)
    begins = accumulate(struct.unpack_from(f"<{count}q", found.content, 8), initial=8 * (1 + count))
    return [found._replace(content=found.content[begin:end]) for begin, end in pairwise(begins)]
