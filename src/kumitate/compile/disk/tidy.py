"""Keeps the cache small: deletes the least recently used entries, and temporary files that a killed process left."""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

from ...errors import InputError

__all__ = ["KINDS", "entries", "size_limit", "tidy"]

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


def size_limit() -> float:
    """The size limit of the cache in bytes: $KUMITATE_CACHE_SIZE in MB, 1000 MB by default.

    Raises:
        InputError: if the variable is set to anything but a number from 0 on.
    """
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
    parts = {path: status for path, status in found.items() if path.suffix == ".part"}
    for path, status in parts.items():
        if time.time() - status.st_mtime > _ABANDONED:
            _delete(path)
    whole = {path: status for path, status in found.items() if path not in parts}
    size, limit = sum(status.st_size for status in whole.values()), size_limit()
    if size <= limit:
        return
    for path in sorted(whole, key=lambda path: whole[path].st_mtime):
        _delete(path)
        size -= whole[path].st_size
        if size <= _LEFT * limit:
            return


def _delete(path: Path) -> None:
    with contextlib.suppress(OSError):  # another process deleted it, or has it open where that matters
        path.unlink()
