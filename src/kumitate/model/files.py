"""The content of a file that a user names: regular files only, so that pipes and devices cannot block the program."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..errors import KumitateError, ModelError

#: The largest size of model files [bytes]: reading them takes some twenty times as much memory.
LARGEST_MODEL = 64 * 2**20


@contextmanager
def opened(path: str | os.PathLike[str], *, error: type[KumitateError] = ModelError) -> Iterator[tuple[BinaryIO, Path, int]]:
    """A file opened for reading, its path with ~ replaced, and its size [bytes].

    Raises:
        KumitateError: of the class `error`, if there is no such file, it is not a regular one, or it cannot be read.
    """
    source = os.fspath(path)
    name = source if len(source) < 200 and source.isprintable() else repr(source[:60]) + "…"
    try:
        place = Path(source).expanduser()
        with open(place, "rb", opener=_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise error(f"{name}: is not a regular file but {_kind(status.st_mode)}; give the path of a file")
            yield file, place, status.st_size
    except (OSError, ValueError, RuntimeError) as reason:  # ValueError: a zero byte; RuntimeError: ~ of nobody
        if isinstance(reason, KumitateError):
            raise
        why = getattr(reason, "strerror", None) or str(reason)
        raise error(f"{name}: cannot be read ({why}); check the path, seen from {Path.cwd()}") from None


def file_bytes(
    path: str | os.PathLike[str], most: int = LARGEST_MODEL, *, error: type[KumitateError] = ModelError
) -> tuple[bytes, Path]:
    """The bytes of a file, and its path; errors as in `opened`, or for more than `most` bytes."""
    with opened(path, error=error) as (file, place, size):
        if size > most:
            raise error(
                f"{place}: the file has {size / 2**20:.0f} MB; files of its kind may have {most / 2**20:.0f} MB. Leave out "
                "what is not needed, or divide it"
            )
        return file.read(), place


def file_text(path: str | os.PathLike[str]) -> str:
    """The text of a model file in UTF-8; errors as in `file_bytes`."""
    data, place = file_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"{place}: is not text in UTF-8 (byte {error.start}); write it as UTF-8") from None


def _at_once(path: str, flags: int) -> int:
    """Opens a file without waiting for the writer of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _kind(mode: int) -> str:
    kinds = {"a folder": stat.S_ISDIR, "a pipe": stat.S_ISFIFO, "a socket": stat.S_ISSOCK}
    return next((name for name, holds in kinds.items() if holds(mode)), "a device")
