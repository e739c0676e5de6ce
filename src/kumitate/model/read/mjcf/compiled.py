"""An MJCF file as MuJoCo compiles it: its arrays, and the name and line of every element.

MuJoCo's compiler resolves defaults, includes, orientations and inertias, so that the arrays mean the same as the file.
"""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ....errors import InputError, ModelError
from ....spatial import Transform, pose, quaternion_rotation
from ...files import file_bytes

#: Entries of rotations below this are rounding errors of quaternions, which have no exact right angles.
_ROUNDING = 1e-15

#: Of each kind of element: the attribute of `mujoco.MjSpec` that lists it, and its number in `mujoco.MjModel`.
_LISTS = {
    "body": ("bodies", "nbody"), "joint": ("joints", "njnt"), "geom": ("geoms", "ngeom"), "site": ("sites", "nsite"),
    "camera": ("cameras", "ncam"), "light": ("lights", "nlight"), "mesh": ("meshes", "nmesh"),
    "equality": ("equalities", "neq"),
    "tendon": ("tendons", "ntendon"), "actuator": ("actuators", "nu"), "sensor": ("sensors", "nsensor"),
    "pair": ("pairs", "npair"), "exclude": ("excludes", "nexclude"), "key": ("keys", "nkey"), "skin": ("skins", "nskin"),
    "flex": ("flexes", "nflex"), "hfield": ("hfields", "nhfield"), "numeric": ("numerics", "nnumeric"),
    "text": ("texts", "ntext"), "tuple": ("tuples", "ntuple"), "plugin": ("plugins", "nplugin"),
    "texture": ("textures", "ntex"), "material": ("materials", "nmat"),
}  # fmt: skip


class CompiledModel:
    """A compiled MJCF model.

    Attributes:
        source: the file, for messages; `path`: where it is, None for a text.
        mujoco: the package `mujoco`.
        spec: the `mujoco.MjSpec`; `model`: the `mujoco.MjModel`.
        remarks: MuJoCo's own warnings.
    """

    def __init__(self, mujoco: Any, spec: Any, source: str, path: Path | None):
        self.mujoco, self.spec, self.source, self.path = mujoco, spec, source, path
        self.model = spec.compile()
        self.remarks: list[str] = []
        self._lines: dict[tuple[str, int], int] = {}
        self._names: dict[str, list[str]] = {}
        for kind, (listed, number) in _LISTS.items():
            elements = {element.id: element for element in getattr(spec, listed) if element.id >= 0}
            self._lines |= {(kind, at): line for at, element in elements.items() if (line := _line(element.info))}
            self._names[kind] = [
                getattr(elements.get(at), "name", "") or self._unnamed(kind, at) for at in range(getattr(self.model, number))
            ]

    def _unnamed(self, kind: str, at: int) -> str:
        return "world" if kind == "body" and at == 0 else f"{kind}_{at}"

    def names(self, kind: str) -> list[str]:
        """The names of all elements of a kind, by their numbers in the model; those without one: the kind and the number."""
        return self._names[kind]

    def line(self, kind: str, at: int) -> int | None:
        """The line of an element; None if MuJoCo does not say it, as for elements of included files."""
        return self._lines.get((kind, at))

    def enum(self, name: str, value: Any) -> str:
        """The word behind a number of MuJoCo: enum("mjtJoint", 0) is "free"."""
        return getattr(self.mujoco, name)(int(value)).name.split("_", 1)[1].lower()

    def error(self, kind: str, at: int, message: str) -> ModelError:
        """The error that an element breaks a rule."""
        line = self.line(kind, at)
        return ModelError(f"{self.source}{f':{line}' if line else ''}: {kind} {self.names(kind)[at]!r}: {message}")


def compiled_file(path_or_text: str | os.PathLike[str]) -> CompiledModel:
    """The model of a file, or of a text that starts with `<`.

    Raises:
        InputError: if MuJoCo is not installed.
        ModelError: with MuJoCo's reason and the line that it gives, if it refuses the file.
    """
    try:
        import mujoco
    except ImportError:
        raise InputError(
            f"{path_or_text!s:.60}: MJCF is read by MuJoCo's compiler, which is not installed; pip install 'kumitate[mjcf]'"
        ) from None
    path: Path | None = None
    if isinstance(path_or_text, str) and path_or_text.lstrip().startswith("<"):
        source, text = "<text>", path_or_text
    else:
        data, path = file_bytes(path_or_text)
        source, text = str(path_or_text), data.decode("utf-8", errors="replace")
    root = re.search(r"<\s*([A-Za-z_][\w:.-]*)", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))
    if root is not None and root[1] != "mujoco":
        remedy = {"robot": "a URDF: give it the suffix .urdf", "sdf": "an SDF file: give it the suffix .sdf"}
        raise ModelError(
            f"{source}: starts with <{root[1]}>; MJCF starts with <mujoco>; {remedy.get(root[1], 'check the file')}"
        )
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_string(text) if path is None else mujoco.MjSpec.from_file(str(path))
            compiled = CompiledModel(mujoco, spec, source, path)
        compiled.remarks.extend("; ".join(str(warning.message).splitlines()) for warning in said)
        return compiled
    except ValueError as error:
        raise ModelError(_refusal(source, str(error))) from None


def _refusal(source: str, reason: str) -> str:
    """MuJoCo's reason as one sentence, after the file and the line."""
    found = re.search(r"\bline(?: number=|\s+)(\d+)", reason, flags=re.IGNORECASE)
    line = f":{found[1]}" if found and int(found[1]) else ""
    said = re.sub(r"\s*\n\s*", "; ", reason.strip()).removesuffix(";")
    return f"{source}{line}: MuJoCo refuses the file: {said}. Correct what it names; kumitate reads what MuJoCo compiles"


def _line(info: str) -> int:
    """The line in the information on an element, "line 12"; 0 if it has none."""
    found = re.search(r"line (\d+)", info or "")
    return int(found[1]) if found else 0


def placed(xyz: Any, quaternion: Any) -> Transform:
    """The pose of a position and MuJoCo's quaternion (w, x, y, z), with right angles exactly right."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    rows = np.array([list(row) for row in quaternion_rotation((x, y, z, w)).matrix()], dtype=float)
    rows[np.abs(rows) < _ROUNDING] = 0.0
    near = np.round(rows)
    if np.abs(rows - near).max() < _ROUNDING:
        rows = near
    return pose([float(part) for part in xyz], matrix=rows.tolist())
