"""Writing mechanisms in the formats of other programs, by the suffix, and what these formats cannot express.

A new format is a new file here and an entry in `WRITERS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ...errors import InputError
from ..mechanism import Mechanism
from ..read.json import to_json
from ..read.xml import Notes
from .mjcf import mjcf_text
from .urdf import urdf_text

__all__ = ["WRITERS", "mechanism_text", "mjcf_text", "urdf_text", "writable"]

#: The writer for each suffix: text(mechanism, folder of the file, notes that take what the format cannot express).
WRITERS: dict[str, Callable[[Mechanism, Path, Notes], str]] = {
    ".urdf": urdf_text, ".xml": mjcf_text, ".json": lambda mechanism, folder, notes: to_json(mechanism) + "\n",
}  # fmt: skip


def writable() -> str:
    """The suffixes of the files that can be written, for messages."""
    return f"{', '.join(suffix for suffix in WRITERS if suffix != '.json')} and kumitate's own .json"


def mechanism_text(mechanism: Mechanism, path: str | os.PathLike[str]) -> str:
    """The text of a mechanism in the format of the path's suffix; with a warning for each kind of thing that it cannot express.

    An `InputError` for another suffix, or joints that the format has nothing for; kumitate's .json expresses all but functions.
    """
    target = Path(path)
    writer = WRITERS.get(target.suffix.lower())
    if writer is None:
        raise InputError(f"{target}: mechanisms are written as {writable()}; {target.suffix!r} is not one of these")
    notes = Notes(str(target))
    text = writer(mechanism, target.resolve().parent, notes)
    notes.warn()
    return text
