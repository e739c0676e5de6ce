"""Object files in memory without LLVM: of 64-bit x86 processors, in the format of Linux (ELF).

What LLVM makes of our programs refers to constants and functions of the same file, and by name to functions of other files and
of the process; always relative to the place of the reference. All files are laid out in one region of memory, followed by a
slot for each name from outside: a jump, `jmp *0(%rip)`, and the address that it goes to. Each reference is then the difference
of two places of the region (System V Application Binary Interface, AMD64 supplement, 4.4).
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

__all__ = ["DamagedError", "InMemory", "placed"]


def _fields(text: str) -> np.dtype[Any]:
    return np.dtype([(name, kind) for kind, name in (field.split() for field in text.split(", "))])


_HEADER = _fields("V18 identity, u2 machine, V20 entry, u8 sections, V10 flags, u2 width, u2 count, u2 names")
_SECTION = _fields("u4 name, u4 kind, u8 flags, u8 address, u8 start, u8 size, u4 link, u4 info, u8 align, u8 width")
_SYMBOL = _fields("u4 name, u1 info, u1 other, u2 section, u8 value, u8 size")
_REFERENCE = _fields("u8 place, u4 kind, u4 symbol, i8 addend")
_X86_64, _SYMBOLS, _NAMES, _REFERENCES, _EMPTY, _WRITTEN, _IN_MEMORY = 62, 2, 3, 4, 8, 1, 2
#: The numbers of sections from here on have other meanings.
_RESERVED = 0xFF00
#: No section of ours is aligned to more [bytes].
_PAGE = 4096
#: Kinds of references: to a place, to a function that may be outside, and to the address of something outside.
_PLACE, _CALL, _ADDRESS = 2, 4, 42
#: Bytes of a reference.
_WORD = 4
#: The jump of a slot, and the bytes of all of it.
_JUMP, _SLOT = b"\xff\x25\0\0\0\0", 16


class InMemory(NamedTuple):
    """Functions in memory: their addresses by name, and what keeps them there."""

    addresses: dict[str, int]
    keep: Any


class _OutsideError(Exception):
    """Something that is left to LLVM."""


class DamagedError(ValueError):
    """An object file that contradicts itself: it is not given to LLVM either, which ends the process at some of them."""


class _Image:
    """An object file and where its sections begin in the region.

    Every number that says where something is, is compared with what there is, so that a damaged file is known as such.
    """

    def __init__(self, content: bytes, start: int):
        self.content, self.end = content, start
        _check(len(content) >= _HEADER.itemsize and content[:6] == b"\x7fELF\2\1")
        (head,) = np.frombuffer(content, _HEADER, 1)
        if head["machine"] != _X86_64:
            raise _OutsideError
        count, begin = int(head["count"]), int(head["sections"])
        _check(head["width"] == _SECTION.itemsize and begin + count * _SECTION.itemsize <= len(content))
        self.sections = np.frombuffer(content, _SECTION, count, begin)
        starts, sizes = self.sections["start"], self.sections["size"]
        _check((starts <= len(content)) & (sizes <= np.where(self.sections["kind"] == _EMPTY, 0, len(content) - starts)))
        _check(self.sections["align"] <= _PAGE)
        self.starts = np.full(len(self.sections), -1)
        for k, section in enumerate(self.sections):
            if section["flags"] & _IN_MEMORY and section["size"]:
                if section["flags"] & _WRITTEN:
                    raise _OutsideError
                align = max(int(section["align"]), 1)
                self.starts[k] = start = -(-self.end // align) * align
                self.end = start + int(section["size"])
        tables = np.flatnonzero(self.sections["kind"] == _SYMBOLS).tolist()
        _check(len(tables) == 1 and self.sections[tables[0]]["link"] < count)
        self.symbols = self._table(tables[0], _SYMBOL)
        names = self.sections[self.sections[tables[0]]["link"]]
        self._names, end = int(names["start"]), int(names["start"] + names["size"])
        _check(names["kind"] == _NAMES and names["size"] > 0 and content[end - 1 : end] == b"\0")
        _check(self.symbols["name"] < names["size"])
        inside = self.symbols["section"] < count
        _check(inside | (self.symbols["section"] >= _RESERVED))
        homes = np.where(inside, self.symbols["section"], 0)
        _check(~inside | (self.symbols["value"] <= sizes[homes]))
        self.places = np.where(self.starts[homes] < 0, -1, self.starts[homes] + self.symbols["value"].astype(np.int64))

    def name(self, symbol: int) -> str:
        """The name of a symbol."""
        start = self._names + int(self.symbols[symbol]["name"])
        return self.content[start : self.content.index(b"\0", start)].decode(errors="replace")

    @cached_property
    def offered(self) -> dict[str, int]:
        """The places of the functions that other files may refer to."""
        shared = np.flatnonzero((self.symbols["info"] >> 4 == 1) & (self.places >= 0)).tolist()
        return {self.name(symbol): int(self.places[symbol]) for symbol in shared}

    @cached_property
    def wanted(self) -> dict[int, str]:
        """The names of the symbols that are not in this file."""
        return {int(symbol): self.name(symbol) for symbol in np.flatnonzero(self.symbols["section"] == 0)[1:]}

    def references(self) -> Iterator[tuple[int, np.ndarray]]:
        """The sections' starts, and the references in them."""
        for k in np.flatnonzero(self.sections["kind"] == _REFERENCES).tolist():
            _check(self.sections[k]["info"] < len(self.sections))
            if (start := int(self.starts[self.sections[k]["info"]])) >= 0:
                found = self._table(k, _REFERENCE)
                room = self.sections[self.sections[k]["info"]]["size"]
                _check((found["symbol"] < len(self.symbols)) & (found["place"] < room) & (room - found["place"] >= _WORD))
                yield start, found

    def _table(self, section: int, fields: np.dtype[Any]) -> np.ndarray:
        start, size = (int(self.sections[section][key]) for key in ("start", "size"))
        _check(size % fields.itemsize == 0)
        return np.frombuffer(self.content, fields, size // fields.itemsize, start)


def _check(sound: Any) -> None:
    if not np.all(sound):
        raise DamagedError("an object file of kumitate is damaged; delete it by kumitate cache clear")


def placed(images: Sequence[bytes], functions: Sequence[str], known: Mapping[str, int]) -> InMemory | None:
    """Object files in memory together, with the addresses of these functions; None if they need what only LLVM can do.

    Args:
        known: the addresses of functions in memory that they call.

    Raises:
        DamagedError: if an object file is damaged.
    """
    if sys.platform != "linux":
        return None
    try:
        return _placed(images, functions, known)
    except _OutsideError:
        return None


def _placed(images: Sequence[bytes], functions: Sequence[str], known: Mapping[str, int]) -> InMemory:
    objects: list[_Image] = []
    for image in images:
        objects.append(_Image(image, objects[-1].end if objects else 0))
    offered = {name: place for found in objects for name, place in found.offered.items()}
    _check(offered.keys() >= set(functions))
    outside = dict.fromkeys(name for found in objects for name in found.wanted.values() if name not in offered)
    first = -(-objects[-1].end // _SLOT) * _SLOT
    slots = {name: first + _SLOT * k for k, name in enumerate(outside)}
    memory = mmap.mmap(-1, max(first + _SLOT * len(slots), 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)
    region = np.frombuffer(memory, np.uint8)
    for name, slot in slots.items():
        address = known[name] if name in known else _in_process(name)
        memory[slot : slot + _SLOT] = _JUMP + address.to_bytes(8, "little") + bytes(2)
    for found in objects:
        _fill(memory, region, found, offered, slots)
    begin = region.ctypes.data
    if _process().mprotect(ctypes.c_void_p(begin), ctypes.c_size_t(len(region)), mmap.PROT_READ | mmap.PROT_EXEC):
        raise _OutsideError
    return InMemory({name: begin + offered[name] for name in functions}, region)


def _fill(memory: mmap.mmap, region: np.ndarray, found: _Image, offered: Mapping[str, int], slots: Mapping[str, int]) -> None:
    """Copies an object file and resolves its references."""
    for start, section in zip(found.starts.tolist(), found.sections, strict=True):
        if start >= 0:
            begin, size = int(section["start"]), int(section["size"])
            memory[start : start + size] = memoryview(found.content)[begin : begin + size]  # type: ignore[assignment]
    places, in_slot = found.places.copy(), np.zeros(len(found.places), dtype=bool)
    for symbol, name in found.wanted.items():
        in_slot[symbol] = name not in offered
        places[symbol] = offered.get(name, slots.get(name, -1))
    for start, references in found.references():
        symbols, kinds = references["symbol"], references["kind"]
        by_address = kinds == _ADDRESS
        fitting = np.where(by_address, in_slot[symbols], (kinds == _CALL) | ((kinds == _PLACE) & ~in_slot[symbols]))
        if not fitting.all() or (places[symbols] < 0).any():
            raise _OutsideError
        at = start + references["place"].astype(np.int64)
        _check(np.abs(references["addend"]) < len(region))
        value = places[symbols] + len(_JUMP) * by_address + references["addend"] - at
        region[at[:, None] + np.arange(_WORD)] = value.astype("<i4").view(np.uint8).reshape(-1, 4)


def _in_process(name: str) -> int:
    """The address of a function of this process."""
    try:
        return ctypes.cast(getattr(_process(), name), ctypes.c_void_p).value or 0
    except AttributeError:
        raise _OutsideError from None


@cache
def _process() -> ctypes.CDLL:
    """This process as a library."""
    return ctypes.CDLL(None)
