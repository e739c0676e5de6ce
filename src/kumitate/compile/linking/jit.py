"""Object files in memory by LLVM."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from ..target import binding, host, machine
from .elf import InMemory

__all__ = ["linked"]

_SHARE = 16  # so many libraries share a linker


class _Here(threading.local):
    """The linker in use in a thread, and how many libraries were linked there."""

    linker: Any = None
    libraries = 0


_here = _Here()


def linked(images: Sequence[bytes], functions: Sequence[str], known: Mapping[str, int]) -> InMemory:
    """Object files in memory by LLVM, which frees them with the tracker.

    LLVM keeps the names and tables of a library until its linker is freed, so that only a few libraries share one; making one
    takes longer than linking a small library. Each thread has its own, and trackers keep them alive. Objects are linked
    by LLVM's JITLink, which puts code and constants next to each other, as the small code model needs. A linker that is given
    a machine does not look for the processor's features again.
    """
    builder = binding().JITLibraryBuilder()
    for image in images:
        builder = builder.add_object_img(image)
    builder = builder.add_current_process()
    for name, address in known.items():
        builder = builder.import_symbol(name, address)
    for name in functions:
        builder.export_symbol(name)
    if _here.libraries % _SHARE == 0:
        _here.linker = binding().create_lljit_compiler(machine(host()), use_jit_link=True)
    _here.libraries += 1
    tracker = builder.link(_here.linker, f"kumitate{_here.libraries}")
    return InMemory({name: tracker[name] for name in functions}, tracker)
