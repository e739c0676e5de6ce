"""Names of compiled functions for Linux's `perf`, which reads them from /tmp/perf-PID.map: with `KUMITATE_PERF=1`."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

_SYMBOLS, _FUNCTION = 2, 2  # the types of an ELF file's section of symbols, and of a symbol


def name_functions(images: Sequence[bytes], addresses: Mapping[str, int]) -> None:
    """Writes where the functions of object files are, some of which have these addresses, if the environment asks for it.

    The linker moves every section as a whole, so that one known function tells where the others of its section are.
    """
    if os.environ.get("KUMITATE_PERF", "0") in ("", "0"):
        return
    with Path(f"/tmp/perf-{os.getpid()}.map").open("a", encoding="ascii") as lines:
        for image in images:
            found = list(_functions(image))
            moved = {section: addresses[name] - at for name, section, at, _ in found if name in addresses}
            lines.writelines(f"{moved[s] + at:x} {size:x} {name}\n" for name, s, at, size in found if s in moved)


def _functions(image: bytes) -> list[tuple[str, int, int, int]]:
    """Name, section, place in it and size of the functions of a 64-bit ELF file; none of other files."""
    if image[:5] != b"\x7fELF\x02":
        return []
    (start,), (size, count) = struct.unpack_from("<Q", image, 40), struct.unpack_from("<HH", image, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, start + k * size) for k in range(count)]
    found = []
    for _, kind, _, _, first, length, names, *_ in sections:
        for at in range(first, first + length if kind == _SYMBOLS else first, 24):
            name, info, _, section, value, extent = struct.unpack_from("<IBBHQQ", image, at)
            if info & 15 == _FUNCTION and extent:
                begin = sections[names][4] + name
                found.append((image[begin : image.index(b"\0", begin)].decode(), section, value, extent))
    return found
