"""Atomic file replacement: a file is written whole or not at all, so a failure leaves the old file unchanged."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...errors import InputError

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path next to `path`, with its suffix; the file written there replaces `path` if the block succeeds.

    Raises:
        InputError: if the folder does not exist, or the disk refuses: it is full, or must not be written to.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {str(target.parent)!r} does not exist; make it first, or choose another")
    temporary = target.with_name(f".{target.stem[:40]}.{os.getpid()}-{secrets.token_hex(4)}{target.suffix}")
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
