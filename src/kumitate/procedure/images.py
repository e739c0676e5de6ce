"""The object files of a procedure: that of its own text, and one for each traced program that it calls.

Those of kumitate's own procedures are kept on disk together under a stamp of its sources, so that the next process neither
reads them nor writes their text again.
"""

from __future__ import annotations

import contextlib
import gc
import struct
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from typing import Any

from ..compile.disk import source_stamp
from ..compile.engine import ObjectFile, kept_image
from ..compile.linking import DamagedError
from ..compile.optimized import optimized_object
from ..compile.target import host
from ..scalar import Program
from ..scalar.verify import verifying
from .tree import TypedProcedure
from .writing.llvm_form import LlvmText

__all__ = ["kept_images", "made_images", "written"]

_PACKAGE = __name__.split(".", maxsplit=1)[0]


def written(typed: Callable[[], TypedProcedure], *, checked: bool = False) -> LlvmText:
    """The text of a procedure that is read first, and of all that it calls.

    Reading makes many objects that live on, and hardly any that refer to each other in a circle: without Python's search for
    such circles it takes three quarters of the time.
    """
    with _collector_off():
        return LlvmText(typed(), checked=checked)


@contextlib.contextmanager
def _collector_off() -> Iterator[None]:
    """Keeps Python's garbage collector off in this context, unless it is off already."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def made_images(text: LlvmText, *, portable: bool = False) -> list[ObjectFile]:
    """The object files of a text, found on disk by what it says; `portable`: programs give the same bits on every processor."""
    images = [optimized_object(text.text, host())]
    for (program, listed, several), name in text.programs.items():
        images.append(_program_object(name, program, listed, host().lanes if several else 1, portable=portable))
    return images


def kept_images(function: Callable[..., Any], typed: Callable[[], TypedProcedure]) -> list[ObjectFile] | None:
    """Those of a procedure of kumitate, found on disk by its name; None for all others, and where programs are checked.

    typed: reads the procedure.
    """
    if function.__module__.split(".")[0] != _PACKAGE or function.__closure__ or verifying():
        return None

    def make() -> ObjectFile:
        images = made_images(written(typed))
        return ObjectFile(_joined([image.content for image in images]), False, False, sum(image.seconds for image in images))

    key = f"procedure\0{source_stamp()}\0{function.__module__}.{function.__qualname__}"
    found = kept_image(key, host(), make)
    try:
        count = len(_parts(found.content))
    except DamagedError:
        found = found.again() if found.again else found
        count = len(_parts(found.content))
    return [_part(found, k) for k in range(count)]


def _part(joined: ObjectFile, k: int) -> ObjectFile:
    again = joined.again
    return joined._replace(content=_parts(joined.content)[k], again=again and (lambda: _part(again(), k)))


def _joined(contents: list[bytes]) -> bytes:
    """Their number and lengths, then all of them."""
    return struct.pack(f"<{1 + len(contents)}q", len(contents), *map(len, contents)) + b"".join(contents)


def _parts(joined: bytes) -> list[bytes]:
    """Those that were joined.

    Raises:
        DamagedError: if their lengths do not add up.
    """
    try:
        (count,) = struct.unpack_from("<q", joined)
        lengths = struct.unpack_from(f"<{count}Q", joined, 8)
    except struct.error:
        raise DamagedError("the object files of a procedure are damaged") from None
    begins = list(accumulate(lengths, initial=8 * (1 + count)))
    if begins[-1] != len(joined):
        raise DamagedError("the object files of a procedure are damaged")
    return [joined[begin:end] for begin, end in pairwise(begins)]


def _program_object(name: str, program: Program, listed: tuple[bool, ...], lanes: int, *, portable: bool) -> ObjectFile:
    """The object file of the function that evaluates a traced program over lists, which does not depend on the procedure."""
    from ..compile.llvm.gathered import Gathered
    from ..compile.pipeline import Compilation, object_file

    return object_file(Compilation(Gathered(name, program, listed), lanes, portable=portable))
