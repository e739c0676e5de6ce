"""The disk cache of compiled code and processed meshes. One file per entry, named by a hash of all that it depends on.

A file ends with a checksum and is put in place by renaming, so that a damaged file is made again and two processes cannot
disturb each other. Without a usable folder (`trust` says which are) everything works, but is compiled again in each process.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ...errors import warn
from .tidy import KINDS, size_limit, tidy
from .trust import folder_fault, owner_fault

__all__ = ["CacheEntry", "cache_folder", "cached"]

_DIGEST = 32
#: The time of last use, which is the time of the file, is updated if it is older than this [s].
_USE = 24 * 3600.0
#: The cache is tidied when a process first writes to it, and again after it has written this part of the size limit.
_SHARE = 1 / 16


class CacheEntry(NamedTuple):
    """The content of an entry; whether it was found on disk; whether it is on disk now."""

    content: bytes
    found: bool
    on_disk: bool


class _State:
    """The state of this process: whether it has warned, and how many bytes it has written since the cache was tidied."""

    warned = False
    written = float("inf")


def cache_folder() -> Path | None:
    """The folder of the cache: $KUMITATE_CACHE, else kumitate in $XDG_CACHE_HOME or ~/.cache; None if there is no home."""
    chosen = os.environ.get("KUMITATE_CACHE")
    if chosen:
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kumitate"
    except RuntimeError:  # HOME is not set, and this user has no entry
        return None


def cached(key: str, make: Callable[[], bytes], *, suffix: str = ".o", fresh: bool = False) -> CacheEntry:
    """The bytes kept under `key`, made and kept if they are not there, or in any case if they are to be `fresh`.

    `suffix` is the kind of content, one of `KINDS`.

    Raises:
        InputError: if $KUMITATE_CACHE_SIZE is not a size.
    """
    assert suffix in KINDS, suffix
    size_limit()  # refuses a wrong value before a long compilation
    folder = cache_folder()
    if folder is None:
        _warn("there is no home folder to keep compiled code in: HOME is not set, and this user has no entry among the users")
        return CacheEntry(make(), False, False)
    path = folder / f"{_digest(key.encode()).hex()}{suffix}"
    found = _read(path) if not fresh and _trusted(folder) else None
    if found is not None:
        return CacheEntry(found, True, True)
    made = make()
    return CacheEntry(made, False, _keep(path, made))


def _trusted(folder: Path) -> bool:
    fault = folder_fault(folder)
    if fault is not None:
        _warn(f"the cache folder {fault}; what is kept there is run, so that only you may be able to write to it")
    return fault is None


def _read(path: Path) -> bytes | None:
    try:
        with open(path, "rb", opener=_no_links) as file:
            status = os.fstat(file.fileno())
            fault = owner_fault(status)
            if fault is not None:
                _warn(f"{path} {fault}; what is kept there is run, so that only you may be able to write to it")
                return None
            content, digest = file.read(max(0, status.st_size - _DIGEST)), file.read()
    except OSError:
        return None
    if _digest(content) != digest:
        return None
    if time.time() - status.st_mtime > _USE:
        with contextlib.suppress(OSError):
            os.utime(path)
    return content


def _no_links(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))


def _keep(path: Path, content: bytes) -> bool:
    """Writes an entry; returns whether that was possible."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _trusted(path.parent):
            return False
        _write(path, content)
    except OSError as error:
        _warn(f"the cache folder {path.parent} cannot be written to ({error.strerror or error})")
        return False
    _State.written += len(content)
    if _State.written > _SHARE * size_limit():
        _State.written = 0.0
        with contextlib.suppress(OSError):
            tidy(path.parent)
    return True


def _write(path: Path, content: bytes) -> None:
    import tempfile

    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content + _digest(content))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _warn(what: str) -> None:
    """Warns once per process: results are right, but take longer."""
    if not _State.warned:
        _State.warned = True
        remedy = "Set KUMITATE_CACHE to a folder that only you can write to; until then code is compiled again in each process"
        warn(f"{what}. {remedy}")


def _digest(content: bytes) -> bytes:
    """The checksum of an entry."""
    import hashlib  # loads OpenSSL: only when an entry is kept

    return hashlib.sha256(content).digest()
