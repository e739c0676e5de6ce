"""Files that appear whole or not at all, so that whatever fails or is killed leaves the old file as it was."""

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
    """A temporary path beside `path`, with its suffix; what is written there takes its place when the block ends well.

    Raises:
        InputError: if the folder does not exist, or the disk refuses: it is full, or must not be written to.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {str(target.parent)!r} does not exist; make it first, or choose another")
    temporary = target.with_name(f".{target.stem[:40]}.{os.getpid()}-{secrets.token_hex(4)}{target.suffix}")
    try:
        yield temporary
        with open(temporary, "rb+") as file:  # a disk may notice that it is full no sooner than now
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise InputError(
            f"{target}: cannot be written ({error.strerror or error}); what was there before is as it was. Make room, or "
            "choose another place"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
