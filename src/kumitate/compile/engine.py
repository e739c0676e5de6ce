"""From LLVM text to a function in memory."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from .cache import cached
from .target import Target, machine

__all__ = ["Code", "assembly", "load", "object_code"]

_FORM = "1"  # of what `object_code` does besides what the text and the target say; part of the cache's key
_switch = threading.Lock()


@dataclass(frozen=True)
class Code:
    """A function in memory.

    Attributes:
        addresses: of the functions, by name. The code lives as long as this object.
        size: bytes of the object file.
        seconds: that LLVM took, or that loading from the cache took.
        from_cache: which of the two.
        on_disk: whether it is in the cache now.
    """

    addresses: dict[str, int]
    size: int
    seconds: float
    from_cache: bool
    on_disk: bool
    _keep: Any


def load(text: str, target: Target, functions: Sequence[str]) -> Code:
    """The functions of an LLVM module, from the disk cache if it was compiled before for the same target by the same LLVM."""
    begin = time.perf_counter()
    version = ".".join(str(part) for part in llvm.llvm_version_info)
    key = "\0".join((_FORM, text, target.triple, target.cpu, target.features, version))
    image, found, on_disk = cached(key, lambda: object_code(text, target))
    builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    for name in functions:
        builder.export_symbol(name)
    tracker = _link(builder)
    return Code({name: tracker[name] for name in functions}, len(image), time.perf_counter() - begin, found, on_disk, tracker)


def _link(builder: llvm.JITLibraryBuilder) -> llvm.ResourceTracker:
    """The linked library, which LLVM frees with the tracker.

    Each library has its own linker, because LLVM keeps the names and tables of a library until its linker is freed; the tracker
    keeps the linker alive. Objects are linked by LLVM's JITLink, which puts code and constants next to each
    other, as the small code model needs.
    """
    return builder.link(llvm.create_lljit_compiler(use_jit_link=True), "kumitate")


def assembly(text: str, target: Target) -> str:
    """The assembly text of an LLVM module, as compiled code has it."""
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    with _traced_order():
        written: str = machine(target).emit_assembly(module)
    return written


def object_code(text: str, target: Target) -> bytes:
    """The object file of an LLVM module."""
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    with _traced_order():
        return machine(target).emit_object(module)


@contextlib.contextmanager
def _traced_order() -> Iterator[None]:
    """LLVM's scheduler switched off meanwhile: the traced order keeps fewer values alive than the one it makes of it.

    That is worth a tenth of the time on small robots and a fifth on large ones. The switch belongs to the whole process, so
    that it is put back at once; another user of LLVM in another thread would meanwhile get slower, not wrong, code.
    """
    with _switch:
        llvm.set_option("", "-enable-misched=false")
        try:
            yield
        finally:
            llvm.set_option("", "-enable-misched=true")
