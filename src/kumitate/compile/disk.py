"""The disk cache of compiled code and processed meshes. One file per entry, named by a hash of all that it depends on.

A file ends with a checksum of its name and content, so that one that is damaged, or was another entry's, is made again. It is
put in place by renaming, so that two processes cannot disturb each other. Without a usable folder everything works, but is
compiled again in each process.

Cached code is executed, so whoever can write to the cache can execute code as this user. The folder and its entries must belong
to this user or to root, and no other user may have write permission. No folder above may be writable by everybody without the
sticky bit (which /tmp has): anybody could replace the cache by another folder. Folders above that belong to other users or are
writable by a group are accepted, as a replacement would have the wrong owner.

The cache is kept small: the least recently used entries are deleted, and temporary files that a killed process left.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError, warn

_DIGEST, _ROOT = 32, 0
#: The time of last use, which is the time of the file, is updated if it is older than this [s].
_USE = 24 * 3600.0
#: The cache is tidied when a process first writes to it, and again after it has written this part of the size limit.
_SHARE = 1 / 16
#: The kinds of entries: compiled code, what is known of programs, digests of sources, reduced meshes.
KINDS = (".o", ".json", ".digest", ".npz")
#: Entries, and temporary files of them. No other file is counted or deleted, whatever folder is chosen.
_OURS = re.compile(rf"[0-9a-f]{{64}}({'|'.join(map(re.escape, KINDS))}|.*\.part)")
#: Size limit of the cache unless $KUMITATE_CACHE_SIZE says otherwise [MB].
_USUAL_SIZE = 1000
#: A cache above its limit is reduced to this part of the limit, so that the next write does not exceed it again.
_LEFT = 0.75
#: Temporary files older than this belong to a process that was killed [s].
_ABANDONED = 3600.0


class CacheEntry(NamedTuple):
    """The content of an entry; whether it was found on disk, and whether it is on disk now; the seconds that it took."""

    content: bytes
    from_cache: bool
    on_disk: bool
    seconds: float = 0.0


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


def cached(key: str, make: Callable[[], bytes], *, suffix: str = ".o") -> CacheEntry:
    """The bytes kept under `key`, made and kept if they are not there.

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
    found = _read(path) if _trusted(folder) else None
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
        with open(path, "rb", opener=lambda path, flags: os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))) as file:
            status = os.fstat(file.fileno())
            fault = owner_fault(status)
            if fault is not None:
                _warn(f"{path} {fault}; what is kept there is run, so that only you may be able to write to it")
                return None
            content, digest = file.read(max(0, status.st_size - _DIGEST)), file.read()
    except OSError:
        return None
    if _digest(path.stem.encode() + content) != digest:
        return None
    if time.time() - status.st_mtime > _USE:
        with contextlib.suppress(OSError):
            os.utime(path)
    return content


def _keep(path: Path, content: bytes) -> bool:
    """Writes an entry; returns whether that was possible."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _trusted(path.parent):
            return False
        _write(path, content + _digest(path.stem.encode() + content))
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
            file.write(content)
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
    """The digest of a key, which names an entry, or of the name and the content of one, which is its checksum."""
    import hashlib  # loads OpenSSL: only when an entry is kept

    return hashlib.sha256(content).digest()


# --- who can write to it --------------------------------------------------------------------------------------------------
def owner_fault(status: os.stat_result) -> str | None:
    """Why the owner or the mode of a file or folder is not acceptable; None if it is."""
    if not hasattr(os, "geteuid"):  # Windows protects the user's folders by access control lists
        return None
    mode = f"mode {stat.S_IMODE(status.st_mode):04o}"
    if status.st_uid not in (_ROOT, os.geteuid()):
        return f"belongs to user {status.st_uid}, not to user {os.geteuid()} ({mode})"
    is_link = stat.S_ISLNK(status.st_mode)  # whose mode means nothing
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not is_link:
        return f"can be written to by others than user {status.st_uid} ({mode})"
    return None


def folder_fault(folder: Path) -> str | None:
    """Why a folder, which is named, is not acceptable; None if it is, or if it does not exist."""
    places = dict.fromkeys((os.path.abspath(folder), os.path.realpath(folder)))  # named, and without links
    try:
        faults = {place: owner_fault(os.lstat(place)) for place in places}
        above = {parent: os.stat(parent).st_mode for place in places for parent in Path(place).parents}
    except OSError:  # it does not exist or is not accessible: reading and writing will fail
        return None
    found = [f"{place} {fault}" for place, fault in faults.items() if fault]
    if hasattr(os, "geteuid"):
        opened = [place for place, mode in above.items() if mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH]
        found += [f"{place} can be written to by everybody" for place in opened]
    return found[0] if found else None


# --- its size -------------------------------------------------------------------------------------------------------------
def size_limit() -> float:
    """The size limit of the cache in bytes: $KUMITATE_CACHE_SIZE in MB, or 1000; an `InputError` if it is not such a number."""
    chosen = os.environ.get("KUMITATE_CACHE_SIZE") or str(_USUAL_SIZE)
    try:
        size = float(chosen)
    except ValueError:
        size = -1.0
    if not size >= 0.0:
        raise InputError(f"KUMITATE_CACHE_SIZE is {chosen!r}; it must be a number of megabytes, 0 or more")
    return 1e6 * size


def entries(folder: Path) -> dict[Path, os.stat_result]:
    """The files of the cache with their sizes and times."""
    found = {}
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for path in sorted(folder.iterdir()):
            if _OURS.fullmatch(path.name):
                with contextlib.suppress(FileNotFoundError):  # deleted by another process meanwhile
                    found[path] = path.lstat()
    return found


def tidy(folder: Path) -> None:
    """Deletes old temporary files and, above `size_limit`, the entries that were used least recently."""
    found = entries(folder)
    parts = [path for path in found if path.suffix == ".part"]
    doomed = [path for path in parts if time.time() - found.pop(path).st_mtime > _ABANDONED]
    size, limit = sum(status.st_size for status in found.values()), size_limit()
    for path in sorted(found, key=lambda path: found[path].st_mtime) if size > limit else ():
        doomed.append(path)
        size -= found[path].st_size
        if size <= _LEFT * limit:
            break
    for path in doomed:
        with contextlib.suppress(OSError):  # another process deleted it, or has it open where that matters
            path.unlink()
