"""What is kept on disk: compiled code, and what is made of meshes. One file each, named by a hash of all that it depends on.

A file ends with a checksum and is put in place by renaming, so that a torn or foreign file is made anew and two processes
cannot disturb each other. A folder that cannot be written costs time, never a result.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

__all__ = ["cache_folder", "cached"]

_DIGEST = 32


def cache_folder() -> Path:
    """Where things are kept: $KUMITATE_CACHE, else kumitate in $XDG_CACHE_HOME or ~/.cache."""
    chosen = os.environ.get("KUMITATE_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kumitate"


def cached(key: str, make: Callable[[], bytes], *, suffix: str = ".o") -> tuple[bytes, bool]:
    """The bytes kept under `key`, made and kept if they are not there; and whether they were. `suffix` tells kinds apart."""
    path = cache_folder() / f"{hashlib.sha256(key.encode()).hexdigest()}{suffix}"
    found = _read(path)
    if found is not None:
        return found, True
    made = make()
    with contextlib.suppress(OSError):
        _write(path, made)
    return made, False


def _read(path: Path) -> bytes | None:
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    content, digest = raw[:-_DIGEST], raw[-_DIGEST:]
    return content if hashlib.sha256(content).digest() == digest else None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content + hashlib.sha256(content).digest())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
