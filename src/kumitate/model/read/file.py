"""Reading a model file of any format, by its suffix. A new format is a new file in this folder and an entry in `READERS`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import InputError, ModelError
from ..files import file_bytes
from ..mechanism import Mechanism
from .json import read_json
from .loops_yaml import read_loops_yaml
from .mjcf import read_mjcf
from .sdf import read_sdf
from .urdf import read_urdf, urdf_mechanism
from .xml import parsed_xml

#: Processor time that expanding a file may take [s]; time that passes, where a system does not limit the former [s].
SECONDS, _PATIENCE = 10, 60
#: Memory that it may take [bytes], and characters of its messages that are quoted: files can have others' texts in them.
_MEMORY, _QUOTED = 4 * 2**30, 300


def read_xacro(
    path: str | os.PathLike[str], *, floating_base: bool = False, fix_inertia: bool = False, keep_angles: bool = False,
    arguments: Mapping[str, Any] | None = None, packages: Mapping[str, str] | None = None,
) -> Mechanism:  # fmt: skip
    """The mechanism of a xacro file, as of `read_urdf`. Lines in messages are those of the expanded text.

    Packages that the file names by $(find …) are sought like those of meshes: in the folders above it and in ROS's own places.
    Expanding a file evaluates expressions in it, which read files and the environment, so that files should be of a source that
    you trust. It is done in a process of its own, which is stopped after 10 s of processor time.

    `arguments` are the values of <xacro:arg>, and `packages` folders of packages, by name. A `ModelError` with xacro's reason
    if the file cannot be expanded, and an `InputError` without xacrodoc.
    """
    if find_spec("xacrodoc") is None:
        raise InputError(
            f"{path}: xacro files are expanded by the package xacrodoc, which is not installed; pip install 'kumitate[xacro]'"
        )
    _, place = file_bytes(path)
    expanded = _expanded(place, arguments or {}, packages or {})
    if "text" not in expanded:
        raise ModelError(
            f"{path}: xacro cannot expand the file: {expanded['error'][:_QUOTED]}. Correct what it names; values of "
            "<xacro:arg> are given by km.load(…, xacro_args={'name': 'value'})"
        )
    robot = parsed_xml(expanded["text"].encode(), f"{path} (expanded)", "robot")
    return urdf_mechanism(robot, place, floating_base=floating_base, fix_inertia=fix_inertia, keep_angles=keep_angles)


def _expanded(place: Path, arguments: Mapping[str, Any], packages: Mapping[str, str]) -> dict[str, str]:
    """The `text` of a file, expanded in a process of its own, or the `error`."""
    given = {
        name: {key: str(x) for key, x in part.items()} for name, part in (("arguments", arguments), ("packages", packages))
    }
    request = {"file": str(place.absolute()), "path": sys.path, "seconds": SECONDS, "bytes": _MEMORY, **given}
    script = str(Path(__file__).with_name("xacro_process.py"))
    command = [sys.executable, "-P", script]  # -P: json.py is beside the script, and not the one meant
    try:
        done = subprocess.run(command, input=json.dumps(request), stdout=subprocess.PIPE, text=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        return {"error": f"it was not done after {_PATIENCE} s, and was stopped"}
    if done.returncode == -getattr(signal, "SIGXCPU", 0):
        return {"error": f"it was not done after {SECONDS} s of processor time, and was stopped"}
    if done.returncode:
        return {"error": f"its process ended with the code {done.returncode}"}
    return dict(json.loads(done.stdout))


# --- files of any format --------------------------------------------------------------------------------------------------
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
