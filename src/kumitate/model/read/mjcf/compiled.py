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

from ....errors import ModelError, needed
from ....spatial import Transform, pose, quaternion_rotation
from ...files import file_bytes
from ..xml import note_others

#: Entries of rotations below this are rounding errors of quaternions, which have no exact right angles.
_ROUNDING = 1e-15

#: So many reasons to refuse a file are told at most.
_MOST_REASONS = 20

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
        self.model = _compiled(mujoco, spec)
        self.remarks: list[str] = []
        self._lines: dict[tuple[str, int], int] = {}
        self._names: dict[str, list[str]] = {}
        for kind, (listed, number) in _LISTS.items():
            elements = {element.id: element for element in getattr(spec, listed) if element.id >= 0}
            self._lines |= {(kind, at): line for at, element in elements.items() if (line := _line(element.info))}
            self._names[kind] = [
                getattr(elements.get(at), "name", "") or f"{kind}_{at}" for at in range(getattr(self.model, number))
            ]
        self._names["body"][0] = "world"

    def names(self, kind: str) -> list[str]:
        """The names of all elements of a kind, by their numbers in the model; those without one: the kind and the number."""
        return self._names[kind]

    def line(self, kind: str, at: int) -> int | None:
        """The line of an element; None if MuJoCo does not say it, as for elements of included files."""
        return self._lines.get((kind, at))

    def enum(self, name: str, value: Any) -> str:
        """The word behind a number of MuJoCo: enum("mjtJoint", 0) is "free"."""
        return getattr(self.mujoco, name)(int(value)).name.split("_", 1)[1].lower()


def compiled_file(path_or_text: str | os.PathLike[str]) -> CompiledModel:
    """The model of a file, or of a text that starts with `<`; a `ModelError` with MuJoCo's reason and line if it refuses it."""
    mujoco = needed("mujoco", f"{path_or_text!s:.60}: MJCF is read by MuJoCo's compiler", "mjcf")
    path: Path | None = None
    if isinstance(path_or_text, str) and path_or_text.lstrip().startswith("<"):
        source, text = "<text>", path_or_text
    else:
        data, path = file_bytes(path_or_text)
        source, text = str(path_or_text), data.decode("utf-8", errors="replace")
    root = re.search(r"<\s*([A-Za-z_][\w:.-]*)", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))
    if root is not None and root[1] != "mujoco":
        remedies = {"robot": "a URDF: give it the suffix .urdf", "sdf": "an SDF file: give it the suffix .sdf"}
        remedy = remedies.get(root[1], "check the file")
        raise ModelError(f"{source}: starts with <{root[1]}>; MJCF starts with <mujoco>; {remedy}")
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_string(text) if path is None else mujoco.MjSpec.from_file(str(path))
            compiled = CompiledModel(mujoco, spec, source, path)
        compiled.remarks.extend("; ".join(str(warning.message).splitlines()) for warning in said)
        return compiled
    except ValueError as error:
        refused = ModelError(_refusal(source, str(error)))
        others = _further_reasons(mujoco, text, str(error), path)
        refused.others = tuple(_refusal(source, reason) for reason in others)
        note_others(refused)
        raise refused from None


def _compiled(mujoco: Any, spec: Any) -> Any:
    """The model without lengths of muscles: nobody reads them, and where joints run away MuJoCo searches them without end."""
    spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE
    return spec.compile()


def _further_reasons(mujoco: Any, text: str, reason: str, path: Path | None) -> list[str]:
    """What MuJoCo, which stops at its first, also refuses: told once the attribute or element that it names is taken out.

    Left out are reasons about an element that something was taken out of, and those that name what was: they may follow.
    """
    reasons: list[str] = []
    gone: set[str | int] = set()
    for _ in range(_MOST_REASONS):
        cut = _without(text, reason)
        if cut is None:
            return reasons
        text, touched = cut
        gone |= touched
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a file that is refused
                spec = mujoco.MjSpec.from_string(text)
                spec.modelfiledir = "" if path is None else str(path.parent)
                _compiled(mujoco, spec)
            return reasons
        except ValueError as error:
            reason = str(error)
        if _line(reason) not in gone and reason not in reasons and not any(f"'{name}'" in reason for name in gone):
            reasons.append(reason)
    return reasons


def _without(text: str, reason: str) -> tuple[str, set[str | int]] | None:
    """The text without what a reason names (None: nothing), and the names that are gone with the line around it."""
    line = _line(reason)
    begins = [0, 0, *(found.end() for found in re.finditer("\n", text)), len(text)]  # of lines, which count from 1
    starts = list(re.compile(r"<([A-Za-z]\w*)\b").finditer(text, *begins[line : line + 2]))
    said = re.search(r"Element '(\w+)'", reason)
    starts = [found for found in starts if said is None or found[1] == said[1]] or starts
    if not starts:
        return None
    start, end = starts[-1].start(), text.find(">", starts[-1].start()) + 1
    attribute = re.search(r"attribute:? '([\w:]+)'", reason)
    if attribute is not None:
        written = re.search(rf"""\s{attribute[1]}\s*=\s*("[^"]*"|'[^']*')""", text[start:end])
        return None if written is None else (text[: start + written.start()] + text[start + written.end() :], set())
    around: list[int] = []
    for tag in re.finditer(r"<(/?)[A-Za-z]\w*\b[^>]*?(/?)>", text[:start]):
        if tag[1]:
            around = around[:-1]
        elif not tag[2]:
            around.append(tag.start())
    outside = text.count("\n", 0, around[-1]) + 1 if around else 0
    if text[start:end][-2:] != "/>":
        closing = text.find(f"</{starts[-1][1]}>", start)
        if closing < 0:
            return None
        end = closing + len(starts[-1][1]) + 3
    cut = text[start:end]
    names = re.findall(r"""\bname\s*=\s*["']([^"']+)["']""", cut)
    return text[:start] + "\n" * cut.count("\n") + text[end:], {outside, *names}


def _refusal(source: str, reason: str) -> str:
    """MuJoCo's reason as one sentence, after the file and the line."""
    line = f":{_line(reason)}" if _line(reason) else ""
    said = re.sub(r"\s*\n\s*", "; ", reason.strip()).removesuffix(";")
    return f"{source}{line}: MuJoCo refuses the file: {said}. Correct what it names; kumitate reads what MuJoCo compiles"


def _line(info: str) -> int:
    """The line in the information on an element, "line 12", or in a reason, "line number=12"; 0 if it has none."""
    found = re.search(r"\bline(?: number=|\s+)(\d+)", info or "", flags=re.IGNORECASE)
    return int(found[1]) if found else 0


def placed(xyz: Any, quaternion: Any = (1.0, 0.0, 0.0, 0.0)) -> Transform:
    """The pose of a position and MuJoCo's quaternion (w, x, y, z), with right angles exactly right."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    rows = np.array([list(row) for row in quaternion_rotation((x, y, z, w)).matrix()], dtype=float)
    rows[np.abs(rows) < _ROUNDING] = 0.0
    near = np.round(rows)
    if np.abs(rows - near).max() < _ROUNDING:
        rows = near
    return pose([float(part) for part in xyz], matrix=rows.tolist())
