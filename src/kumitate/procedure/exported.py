"""Procedures as WebAssembly, with the arrays of a call as the image of the memory."""

from __future__ import annotations

import ctypes
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..compile.engine import joined_object, link
from ..compile.llvm.entries import Gathered, library_text, write_module
from ..compile.stored import traced
from ..compile.target import WASM32, host
from ..compile.wasm import WasmModule
from ..compile.wasm.encoding import PAGE
from ..compile.wasm.linked import ObjectFile
from . import called, programs
from .kinds import ENTRY, FAULT_WORDS, ArrayKind, Kind, RecordKind
from .modules import LlvmText

#: Bytes of the stack.
_STACK = 1 << 18


class Exported:
    """A procedure on some arguments, with all that it calls, as code whose bits do not depend on the processor.

    What is called by the addresses in its arrays is a part of the code, too.
    """

    def __init__(self, procedure: called.Procedure[..., Any], arguments: Sequence[Any]):
        """The code for arguments of a call; arrays that share memory share it in the module, too."""
        self._machine, self._arguments, self._arrays = procedure.machine(checked=False), arguments, list(_arrays(arguments))
        known = {**programs.PROCEDURES, **programs._LOCATED}
        held = {int(x) for array in self._arrays if array.dtype == np.int64 for x in np.unique(array)} & known.keys()
        self._functions = {address: f"listed{k}" for k, address in enumerate(sorted(held))}
        self._texts = _texts({ENTRY: procedure, **{name: known[address] for address, name in self._functions.items()}})

    def module(self, names: Mapping[str, np.ndarray]) -> WasmModule:
        """The module whose `run()` computes the procedure on copies of the arguments.

        Args:
            names: of arrays among them, or of parts of those, that are among the module's places. So are arguments that are
                numbers, by the names of the parameters and of the fields of records ("scene.rules.fall"), and what is
                returned, "result", if that is a number: integers as int64.

        Raises:
            InputError: if it calls a function of C's library that WebAssembly does not have.
        """
        file, machine = ObjectFile(joined_object(*self._texts, WASM32).content), self._machine
        words = machine.words(self._arguments)
        memory = _Memory(self._arrays, file.end + _STACK)
        for array in self._arrays:
            if array.dtype == np.int64:
                memory.put(array, [(address, 1 + file.pointed + k) for k, address in enumerate(self._functions)])
        begins = {_address(array) for array in self._arrays}
        block = struct.pack(f"<{len(words)}q", *(memory.address(word) if word in begins else word for word in words))
        places: dict[str, tuple[int, tuple[int, ...]]]
        places = {name: (memory.address(_address(array)), array.shape) for name, array in names.items()}
        first = FAULT_WORDS + machine.results
        places |= {"result": (memory.end + 8 * FAULT_WORDS, ())} if machine.results == 1 else {}
        for name, word in _numbers(machine.parameters, first):
            places[name] = memory.end + 8 * word, ()
        memory.image[memory.end], pages = bytearray(block), -(-(memory.end + len(block)) // PAGE)
        code = file.module(ENTRY, memory.end, list(self._functions.values()), memory.image, memory.begin, pages)
        return WasmModule(code, places, pages)

    def run(self) -> Any:
        """Computes the procedure here, on the arguments themselves, with the bits that the module gives; returns its result."""
        code = link([joined_object(*self._texts, host())], [ENTRY, *self._functions.values()])
        moved = {address: code.addresses[name] for address, name in self._functions.items()}
        listed = [(array, array.copy()) for array in self._arrays if array.dtype == np.int64 and len(moved)]
        for array, before in listed:
            for old, new in moved.items():
                array[before == old] = new
        block = self._machine.words(self._arguments)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.addresses[ENTRY])(block.buffer_info()[0])
        for array, before in listed:
            for old in moved:
                array[before == old] = old
        return self._machine.result_in(block)


def _numbers(parameters: Sequence[tuple[str, Kind]], first: int) -> Iterator[tuple[str, int]]:
    """The names of numbers among parameters and in their records, and which word of the block each is."""
    for name, kind in parameters:
        if isinstance(kind, RecordKind):
            yield from _numbers([(f"{name}.{field}", one) for field, one in zip(kind.fields, kind.parts, strict=True)], first)
        elif not isinstance(kind, ArrayKind):
            yield name, first
        first += len(kind.leaves)


def _arrays(value: Any) -> Iterator[np.ndarray]:
    """The arrays in arguments and their records."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Sequence):
        for part in value:
            yield from _arrays(part)


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


class _Memory:
    """The memory at the start: from `begin` to `end`, the stretches that arrays stand in."""

    def __init__(self, arrays: Sequence[np.ndarray], begin: int):
        self.begin = self.end = -(-begin // 16) * 16
        self.image: dict[int, bytearray] = {}
        ends: dict[int, int] = {}
        last = 0
        for first, size in sorted((_address(array), array.nbytes) for array in arrays):
            if first >= ends.get(last, 0):
                last = first
            ends[last] = max(ends.get(last, 0), first + size)
        self._begins, self._moved = list(ends), []
        for first, past in ends.items():
            self._moved.append(self.end)
            self.image[self.end] = bytearray(ctypes.string_at(first, past - first))
            self.end += -(-(past - first) // 16) * 16

    def address(self, old: int) -> int:
        """Where a number stands that stands at an address of this process."""
        k = bisect_right(self._begins, old) - 1
        return self._moved[k] + old - self._begins[k]

    def put(self, array: np.ndarray, instead: Sequence[tuple[int, int]]) -> None:
        """Puts other numbers in place of some in an array of integers."""
        place = self.address(_address(array))
        start = self._moved[bisect_right(self._moved, place) - 1]
        for old, new in instead:
            for k in np.flatnonzero(array == old).tolist():
                struct.pack_into("<q", self.image[start], place - start + 8 * k, new)


def _texts(functions: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The modules of procedures, and those of programs, that procedures and located programs need to have these names."""
    texts, others = [], [library_text()]

    def gathered(name: str, program: Any, listed: Sequence[bool]) -> None:
        others.append(write_module(Gathered(name, program, listed), 1, portable=True))

    for name, one in functions.items():
        if isinstance(one, programs.LocatedProgram):
            program = traced(one.program)
            gathered(name, program, (False,) * len((*program.inputs, *program.outputs)))
            continue
        whole = LlvmText(one.typed, portable=True)
        text = whole.text.replace(f"@{ENTRY}(", f"@{name}(")
        for (program, listed, _), own in whole.programs.items():
            text = text.replace(f"@{own}(", f"@{name}.{own}(")
            gathered(f"{name}.{own}", program, listed)
        texts.append(text)
    return texts, others
