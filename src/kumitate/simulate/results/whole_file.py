"""Atomic file replacement: a file is written whole or not at all, so a failure leaves the old file unchanged."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from ...errors import InputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path next to `path`, with its suffix; the file written there replaces `path` if the block succeeds.

    Temporary files of this path that processes of this machine left when they were killed are deleted.

    Raises:
        InputError: if the folder does not exist, or the disk refuses: it is full, or must not be written to.
    """
    target = Path(path)
    if "\0" in str(target):
        raise InputError(f"{str(target)!r}: a path has no zero byte; write it without")
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {str(target.parent)!r} does not exist; make it first, or choose another")
    _delete_abandoned(target)
    temporary = target.with_name(f"{_begins(target)}{os.getpid()}-{_machine()}{secrets.token_hex(4)}{target.suffix}")
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
