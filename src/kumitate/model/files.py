"""Files that a user names: regular ones only are read, so that pipes and devices cannot block the program.

They are written whole or not at all, so that a failure leaves the old file unchanged.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from ..errors import InputError, KumitateError, ModelError

#: The largest size of model files [bytes]: reading them takes some twenty times as much memory.
LARGEST_MODEL = 64 * 2**20


@contextmanager
def opened(path: str | os.PathLike[str], *, error: type[KumitateError] = ModelError) -> Iterator[tuple[BinaryIO, Path, int]]:
    """A file opened for reading, its path with ~ replaced, and its size [bytes]; an `error` if it is not a regular file."""
    source = os.fspath(path)
    name = source if len(source) < 200 and source.isprintable() else repr(source[:60]) + "…"
    try:
        place = Path(source).expanduser()
        # without waiting for the writer of a pipe
        with open(place, "rb", opener=lambda path, flags: os.open(path, flags | getattr(os, "O_NONBLOCK", 0))) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                kinds = {"a folder": stat.S_ISDIR, "a pipe": stat.S_ISFIFO, "a socket": stat.S_ISSOCK}
                kind = next((kind for kind, holds in kinds.items() if holds(status.st_mode)), "a device")
                raise error(f"{name}: is not a regular file but {kind}; give the path of a file")
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


# --- Files that are replaced ------------------------------------------------------------------------------------------
@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path next to `path`, with its suffix; the file written there replaces `path` if the block succeeds.

    Temporary files of this path that processes of this machine left when they were killed are deleted. An `InputError` if the
    folder does not exist, or the disk refuses: it is full, or must not be written to.
    """
    target = Path(path)
    if "\0" in str(target):
        raise InputError(f"{str(target)!r}: a path has no zero byte; write it without")
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {str(target.parent)!r} does not exist; make it first, or choose another")
    _delete_abandoned(target)
    temporary = target.with_name(f"{_begins(target)}{os.getpid()}-{_machine()}{os.urandom(4).hex()}{target.suffix}")
    try:
        yield temporary
        with open(temporary, "rb+") as file:  # a full disk may be noticed only now
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise InputError(
            f"{target}: cannot be written ({error.strerror or error}); the old file is unchanged. Free some space, or "
            "choose another place"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _begins(target: Path) -> str:
    return f".{target.stem[:40]}."


@cache
def _machine() -> str:
    """A mark of where numbers of processes mean what they mean here: other machines and containers may share the folder."""
    import hashlib  # what a first file needs is not loaded with the package
    import platform

    with suppress(OSError):
        return hashlib.sha256(f"{platform.node()} {os.readlink('/proc/self/ns/pid')}".encode()).hexdigest()[:4]
    return hashlib.sha256(platform.node().encode()).hexdigest()[:4]


def _delete_abandoned(target: Path) -> None:
    """Deletes the temporary files of a target whose processes have ended."""
    if os.name != "posix":  # where asking for a process may end it
        return
    name = re.compile(rf"{re.escape(_begins(target))}(\d+)-{_machine()}[0-9a-f]{{8}}{re.escape(target.suffix)}")
    for entry in os.listdir(target.parent):
        if entry[0] == "." and (found := name.fullmatch(entry)):
            try:
                os.kill(int(found[1]), 0)
            except ProcessLookupError:
                with suppress(OSError):  # another process may have deleted it
                    target.with_name(entry).unlink()
            except (OSError, OverflowError):  # it runs for somebody else; or no process can have this number
                pass
