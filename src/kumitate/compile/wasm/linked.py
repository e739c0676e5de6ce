"""Modules from object files that LLVM makes for WebAssembly: one alone holds final numbers, and needs no relocation.

Of what it imports, the memory, the table of functions and the address of the stack become the module's own. The format is
that of Linking.md, version 2, of WebAssembly's tool conventions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import InputError
from .encoding import MAGIC, instructions, limited, listed, module_of, named, placed, signed, sized, unsigned

#: Kinds of imports, of the symbols of a file, and what is said of those.
_FUNCTION, _TABLE, _GLOBAL = 0, 1, 3
_SYMBOLS, _DATA, _SECTION, _UNDEFINED, _NAMED = 8, 1, 3, 0x10, 0x40


class _Reader:
    """The bytes of a file, from a place on."""

    def __init__(self, content: bytes):
        self.content, self.at = content, 0

    def __bool__(self) -> bool:
        return self.at < len(self.content)

    def take(self, count: int) -> bytes:
        self.at += count
        return self.content[self.at - count : self.at]

    def number(self) -> int:
        value = shift = 0
        while True:
            (byte,) = self.take(1)
            value, shift = value | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                return value

    def part(self) -> bytes:
        return self.take(self.number())


class ObjectFile:
    """An object file.

    Attributes:
        functions: the numbers of its functions by name; end: where its constants end in memory.
        pointed: how many functions its own pointers lead to; they stand in the table from 1 on.
    """

    def __init__(self, content: bytes):
        """What LLVM made; an `InputError` if it calls functions that it does not have."""
        self._sections: dict[int, bytes] = {}
        self.functions: dict[str, int] = {}
        self.end = self.pointed = 0
        reader = _Reader(content[len(MAGIC) :])
        while reader:
            (number,) = reader.take(1)
            section = _Reader(reader.part())
            if number:
                self._sections[number] = section.content
            elif section.part() == b"linking":
                self._take_names(section)
        self._check_imports(self._section(2))
        for number in (9, 11):  # functions that are pointed to, and constants: where they stand, and they
            section = self._section(number)
            for _ in range(section.number()):
                section.take(2)  # 0, i32.const
                first = section.number()
                section.take(1)  # the end of an expression
                if number == 9:
                    self.pointed = first - 1 + len([section.number() for _ in range(section.number())])
                else:
                    self.end = max(self.end, first + len(section.part()))

    def _section(self, number: int) -> _Reader:
        return _Reader(self._sections.get(number, b"\0"))

    def _take_names(self, section: _Reader) -> None:
        section.number()  # the version
        while section:
            (kind,), table = section.take(1), _Reader(section.part())
            for _ in range(table.number() if kind == _SYMBOLS else 0):
                (kind,), flags = table.take(1), table.number()
                if kind == _DATA:
                    table.part()
                number = [table.number() for _ in range(3 if kind == _DATA else 1) if kind != _DATA or not flags & _UNDEFINED]
                if kind not in (_DATA, _SECTION) and (flags & _NAMED or not flags & _UNDEFINED):
                    name = table.part().decode()
                    self.functions |= {name: number[0]} if kind == _FUNCTION else {}

    def _check_imports(self, section: _Reader) -> None:
        lacking = []
        for _ in range(section.number()):
            _, name, (kind,) = section.part(), section.part().decode(), section.take(1)
            if kind == _FUNCTION:
                lacking.append(name)
            section.take({_TABLE: 1, _GLOBAL: 2}.get(kind, 0))
            for _ in range({_GLOBAL: 0, _FUNCTION: 1}.get(kind, 2)):  # LLVM writes tables and memories without a largest size
                section.number()
        if lacking:
            raise InputError(f"this code calls {', '.join(lacking)} of C's library, which WebAssembly does not have")

    def module(
        self, entry: str, argument: int, further: Sequence[str], image: Mapping[int, bytearray], stack: int, pages: int
    ) -> bytes:
        """The module that exports its memory and `run`, which calls `entry` with an address.

        Args:
            further: functions that stand in the table behind those of the file.
            image: of the memory at the start, by addresses; stack: the address that the stack ends at.
        """
        size, code = 1 + self.pointed + len(further), instructions([("i32.const", argument), ("call", self.functions[entry])])
        types, count = (self._section(number).number() for number in (1, 3))
        first = 1 + self.pointed
        functions = listed([unsigned(self.functions[name]) for name in further])
        parts = {at: bytes(content).rstrip(b"\0") for at, content in image.items()}
        data = self._more(11, [placed(at, content) for at, content in parts.items() if content])
        sections = {
            1: self._more(1, [b"\x60\x00\x00"]),
            3: self._more(3, [unsigned(types)]),
            4: b"\x01\x70" + limited(size),
            5: b"\x01" + limited(pages),
            6: b"\x01\x7f\x01\x41" + signed(stack) + b"\x0b",
            7: listed([named("memory") + b"\x02\x00", named("run") + b"\x00" + unsigned(count)]),
            9: self._more(9, [b"\x00\x41" + signed(first) + b"\x0b" + functions] if further else []),
            12: unsigned(_Reader(data).number()),
            10: self._more(10, [sized(b"\x00" + code + b"\x0b")]),
            11: data,
        }
        return module_of(sections)

    def _more(self, number: int, entries: Sequence[bytes]) -> bytes:
        """A section with more entries."""
        section = self._section(number)
        return unsigned(section.number() + len(entries)) + section.content[section.at :] + b"".join(entries)
