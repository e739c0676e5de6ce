"""The binary form of WebAssembly (version 1, with several results of a function and memory.copy), and its text form.

An instruction is a tuple of its name and its numbers. Section numbers refer to the WebAssembly core specification, chapter 5.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...errors import InputError

Instruction = tuple[Any, ...]

#: Bytes of a page of memory; how a module begins.
PAGE, MAGIC = 65536, b"\x00asm\x01\x00\x00\x00"
#: Bytes of a function that browsers take.
LONGEST = 7_654_321
_CODES = {
    "block": 0x02, "loop": 0x03, "end": 0x0B, "br": 0x0C, "br_if": 0x0D, "call": 0x10, "drop": 0x1A, "select": 0x1B,
    "local.get": 0x20, "local.set": 0x21, "local.tee": 0x22, "f64.load": 0x2B, "f64.store": 0x39,
    "i32.const": 0x41, "f64.const": 0x44, "i32.eqz": 0x45, "i32.lt_u": 0x49, "i32.add": 0x6A, "i32.sub": 0x6B, "i32.mul": 0x6C,
    "i32.and": 0x71, "i32.or": 0x72, "f64.eq": 0x61, "f64.lt": 0x63, "f64.le": 0x65, "f64.abs": 0x99, "f64.neg": 0x9A,
    "f64.sqrt": 0x9F, "f64.add": 0xA0, "f64.sub": 0xA1, "f64.mul": 0xA2, "f64.div": 0xA3, "f64.min": 0xA4, "f64.max": 0xA5,
    "f64.convert_i32_s": 0xB7,
}  # fmt: skip
_COPY = bytes((0xFC, 0x0A, 0, 0))
_TYPES = {"i32": 0x7F, "f64": 0x7C}
_PLAIN = {name: bytes((code,)) for name, code in _CODES.items()}
_PLAIN |= {name: bytes((_CODES[name], 0x40)) for name in ("block", "loop")} | {"memory.copy": _COPY}


class Function(NamedTuple):
    """A function: its name in the text, the types of its parameters, results and locals, its code, and how it is exported."""

    name: str
    parameters: Sequence[str]
    results: Sequence[str]
    variables: Sequence[str]
    code: Sequence[Instruction]
    export: str = ""


class Parts(NamedTuple):
    """The functions of a module, the pages of its memory, and the constants in it, each with its address."""

    functions: Sequence[Function]
    pages: int
    constants: Sequence[tuple[int, Sequence[float]]]


def unsigned(value: int) -> bytes:
    """An integer in LEB128 (5.2.2)."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def signed(value: int) -> bytes:
    """An integer of 32 bits in signed LEB128."""
    found = bytearray()
    while not -64 <= value < 64:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value & 0x7F)
    return bytes(found)


def instructions(code: Iterable[Instruction]) -> bytes:
    """The bytes of instructions (5.4)."""
    found = bytearray()
    for one in code:
        name = one[0]
        found += _PLAIN[name]
        if len(one) == 1:
            continue
        if name == "f64.const":
            found += struct.pack("<d", one[1])
        elif name == "i32.const":
            found += signed(one[1])
        else:
            if name in ("f64.load", "f64.store"):
                found.append(3)  # aligned at 8 bytes
            found += unsigned(one[1])
    return bytes(found)


# --- modules (5.5) --------------------------------------------------------------------------------------------------------
def encoded(parts: Parts) -> bytes:
    """A module that exports its memory and some functions."""
    functions, pages, constants = parts
    kinds = list(dict.fromkeys((tuple(one.parameters), tuple(one.results)) for one in functions))
    exports = [named("memory") + b"\x02\x00"]
    exports += [named(one.export) + b"\x00" + unsigned(k) for k, one in enumerate(functions) if one.export]
    data = [placed(at, struct.pack(f"<{len(x)}d", *x)) for at, x in constants]
    sections = {
        1: [b"\x60" + listed(_types(parameters)) + listed(_types(results)) for parameters, results in kinds],
        3: [unsigned(kinds.index((tuple(one.parameters), tuple(one.results)))) for one in functions],
        5: [limited(pages)],
        7: exports,
        10: [sized(_body(one)) for one in functions],
        11: data,
    }
    return module_of({number: listed(entries) for number, entries in sections.items() if entries})


def module_of(sections: Mapping[int, bytes]) -> bytes:
    """A module of sections by their numbers, in order."""
    return MAGIC + b"".join(bytes((number,)) + sized(content) for number, content in sections.items())


def limited(size: int) -> bytes:
    """At least so many of something, and at most."""
    return b"\x01" + 2 * unsigned(size)


def placed(address: int, content: bytes) -> bytes:
    """The entry of a section that puts something into memory at an address."""
    return b"\x00\x41" + signed(address) + b"\x0b" + sized(content)


def _body(function: Function) -> bytes:
    runs = [(kind, function.variables.count(kind)) for kind in dict.fromkeys(function.variables)]
    content = listed([unsigned(count) + _types([kind])[0] for kind, count in runs]) + instructions(function.code) + b"\x0b"
    if len(content) > LONGEST:
        raise InputError(f"{function.name} has {len(content)} bytes of WebAssembly; browsers take functions of {LONGEST}")
    return content


def _types(names: Iterable[str]) -> list[bytes]:
    return [bytes((_TYPES[name],)) for name in names]


def listed(entries: Sequence[bytes]) -> bytes:
    """Their number, and they."""
    return unsigned(len(entries)) + b"".join(entries)


def sized(content: bytes) -> bytes:
    """Their length, and they."""
    return unsigned(len(content)) + content


def named(text: str) -> bytes:
    """A name."""
    return sized(text.encode())


# --- text -----------------------------------------------------------------------------------------------------------------
def text(parts: Parts) -> str:
    """The same module as text."""
    functions, pages, constants = parts
    lines = ["(module", f'  (memory (export "memory") {pages} {pages})']
    for one in functions:
        head = [f"${one.name}", f'(export "{one.export}")' if one.export else ""]
        typed = (("param", one.parameters), ("result", one.results))
        head += [f"({kind} {' '.join(types)})" if types else "" for kind, types in typed]
        lines.append(f"  (func {' '.join(filter(None, head))}")
        if one.variables:
            lines.append(f"    (local {' '.join(one.variables)})")
        depth = 2
        for instruction in one.code:
            depth -= instruction[0] == "end"
            lines.append("  " * depth + _written(instruction, functions))
            depth += instruction[0] in ("block", "loop")
        lines.append("  )")
    for address, values in constants:
        content = "".join(f"\\{byte:02x}" for byte in struct.pack(f"<{len(values)}d", *values))
        lines.append(f'  (data (i32.const {address}) "{content}")')
    return "\n".join([*lines, ")", ""])


def _written(instruction: Instruction, functions: Sequence[Function]) -> str:
    name, *numbers = instruction
    if not numbers:
        return str(name)
    (number,) = numbers
    if name == "call":
        return f"call ${functions[number].name}"
    if name in ("f64.load", "f64.store"):
        return f"{name} offset={number}" if number else str(name)
    if name == "f64.const":
        return f"{name} {'nan' if math.isnan(number) else number if math.isinf(number) else number.hex()}"
    return f"{name} {number}"
