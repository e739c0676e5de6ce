"""Reading xacro sources of URDF, which the package `xacrodoc` expands (extra `xacro`)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import InputError, ModelError
from ..files import file_bytes
from ..mechanism import Mechanism
from .urdf import urdf_mechanism
from .xml import parsed_xml

#: Processor time that expanding a file may take [s]; time that passes, where a system does not limit the former [s].
SECONDS, _PATIENCE = 10, 60
#: Memory that it may take [bytes], and characters of its messages that are quoted: files can have others' texts in them.
_MEMORY, _QUOTED = 4 * 2**30, 300


def read_xacro(
    path: str | os.PathLike[str],
    *,
    floating_base: bool = False,
    fix_inertia: bool = False,
    keep_angles: bool = False,
    arguments: Mapping[str, Any] | None = None,
    packages: Mapping[str, str] | None = None,
) -> Mechanism:
    """The mechanism of a xacro file. Lines in messages are those of the expanded text.

    Packages that the file names by $(find …) are sought like those of meshes: in the folders above it and in ROS's own places.
    Expanding a file evaluates expressions in it, which read files and the environment, so that files should be of a source that
    you trust. It is done in a process of its own, which is stopped after 10 s of processor time.

    Args:
        path: of the file, such as arm.urdf.xacro.
        floating_base, fix_inertia, keep_angles: as of `read_urdf`.
        arguments: values of <xacro:arg>, by name.
        packages: folders of packages, by name.

    Raises:
        InputError: if xacrodoc is not installed.
        ModelError: with xacro's reason, if the file cannot be expanded; and as `read_urdf`.
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
    text = expanded["text"]
    robot = parsed_xml(text.encode(), f"{path} (expanded)", "robot")
    return urdf_mechanism(robot, place, floating_base=floating_base, fix_inertia=fix_inertia, keep_angles=keep_angles)


def _expanded(place: Path, arguments: Mapping[str, Any], packages: Mapping[str, str]) -> dict[str, str]:
    """The `text` of a file, expanded in a process of its own, or the `error`."""
    request = {
        "file": str(place.absolute()), "path": sys.path, "seconds": SECONDS, "bytes": _MEMORY,
        "arguments": {name: str(value) for name, value in arguments.items()},
        "packages": {name: str(folder) for name, folder in packages.items()},
    }  # fmt: skip
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
