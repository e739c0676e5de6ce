"""Reading a model file of any format, by its suffix. A new format is a new file in this folder and an entry in `READERS`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import InputError, ModelError
from ..mechanism import Mechanism
from .json import read_json
from .loops_yaml import read_loops_yaml
from .mjcf import read_mjcf
from .sdf import read_sdf
from .urdf import read_urdf
from .xacro import read_xacro

#: The reader for each suffix: read(path, *, floating_base, fix_inertia) → Mechanism, as `read_file`.
READERS: dict[str, Callable[..., Mechanism]] = {
    ".urdf": read_urdf, ".sdf": read_sdf, ".xml": read_mjcf, ".xacro": read_xacro, ".yaml": read_loops_yaml, ".json": read_json,
}  # fmt: skip

#: The suffixes of formats that give rotations by angles, whose readers also take `keep_angles`.
ANGLES = frozenset({".urdf", ".sdf", ".xacro", ".yaml"})


def readable() -> str:
    """The suffixes of the files that can be read, for messages.

    >>> readable()
    ".urdf, .sdf, .xml, .xacro, .yaml and kumitate's own .json"
    """
    *others, last = [f"kumitate's own {suffix}" if read is read_json else suffix for suffix, read in READERS.items()]
    return f"{', '.join(others)} and {last}"


def names_file(source: str | Path) -> bool:
    """Whether this is the path of a file, rather than the bare name of a sample.

    >>> names_file("arm.urdf"), names_file("robots/arm"), names_file("pa10")
    (True, True, False)
    """
    path = Path(source)
    return bool(path.suffix) or path.parent != Path(".")


def read_file(
    path: str | Path, *, floating_base: bool = False, fix_inertia: bool = False, keep_angles: bool = False, **options: Any
) -> Mechanism:
    """The mechanism of a file with a suffix of `READERS`.

    .urdf, .sdf, .xml (MJCF), .xacro, .yaml (loops of the URDF beside it), or kumitate's own .json.

    Args:
        path: of the file; capitals in its suffix do not matter.
        floating_base: whether the root link floats freely instead of being fixed to the world; not for kumitate's own files,
            which contain it.
        fix_inertia: whether physically impossible inertias are replaced by the nearest possible ones.
        keep_angles: whether angles of robot files within 1e-10 rad of a quarter turn are kept as written, not read as one.
        options: of the reader, such as `arguments` of xacro files.

    Raises:
        ModelError: if the file breaks a rule; InputError: if it is of another kind.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in READERS:
        raise InputError(f"{path}: files with the suffix {suffix!r} cannot be read; kumitate reads {readable()}")
    angles = {"keep_angles": keep_angles} if suffix in ANGLES else {}
    try:
        return READERS[suffix](path, floating_base=floating_base, fix_inertia=fix_inertia, **angles, **options)
    except UnicodeDecodeError as error:  # of MuJoCo's, as it answers each question by itself
        raise ModelError(f"{path}: a name in it is not text in UTF-8 ({error.reason}); save the file as UTF-8") from error
    except ModelError as error:  # rules of mechanisms name the element; the file is known here
        if re.search(rf"{re.escape(Path(path).stem)}\.\w", str(error)) or not str(path).isprintable():
            raise
        raise type(error)(f"{path}: {error}") from error
