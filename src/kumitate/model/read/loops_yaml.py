"""Reading a YAML file that names the loops of the URDF beside it, the form of example-parallel-robots (Gepetto).

closed_loop: [["knee_A", "knee_B"], ["ankle_A", "ankle_B"]]    # pairs of links (or joints) whose frames coincide
type: ["6d", "3d"]                                             # as poses, or as points; or 6D, 3D
name_mot: ["motor"]                                            # joints with a drive
joint_name: ["rod"]                                            # joints of another type than in the URDF
joint_type: ["SPHERICAL"]                                      # or UJOINT_XY and the like: two turns, about x, then y
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import ModelError, did_you_mean, needed
from ..drives import EffortDrive
from ..elements import Joint, Loop
from ..files import file_text
from ..joints import KINDS
from ..mechanism import Mechanism
from ..values import shown
from .urdf import read_urdf
from .xml import Notes

#: The kinds of loops by type.
_LOOPS = {"6d": "fixed", "3d": "spherical"}
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
#: Lists that stand side by side, entry by entry; and all entries.
_PAIRED = (("closed_loop", "type"), ("joint_name", "joint_type"))
_KNOWN = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")


def read_loops_yaml(
    path: str | os.PathLike[str], *, floating_base: bool = False, fix_inertia: bool = False, keep_angles: bool = False
) -> Mechanism:
    """The mechanism of the URDF beside a YAML file (robot.urdf beside robot.yaml), with the loops that the YAML names.

    As of `read_urdf`; and a `ModelError` if the YAML breaks a rule, or names links that the URDF does not have, and a warning
    for entries that are not known, and names of joints that the URDF does not have. Needs ruamel.yaml.
    """
    source = Path(path)
    notes = Notes(str(source))
    content = _content(source, notes)
    options = {"floating_base": floating_base, "fix_inertia": fix_inertia, "keep_angles": keep_angles}
    mechanism = read_urdf(source.with_suffix(".urdf"), **options)
    for key in content:
        if key not in _KNOWN:
            notes.add(f"entries that are not known ({', '.join(_KNOWN)} are), not used", str(key))
    mechanism = _with_types(mechanism, content, notes)
    turning = {joint.name for joint in mechanism.joints if joint.kind.nv == 1}
    motors = [str(name) for name in content.get("name_mot") or []]
    for name in motors:
        if name not in turning:
            notes.add("name_mot that is not a joint of one degree of freedom in the URDF, not used", name)
    mechanism = mechanism.with_drives({name: EffortDrive() for name in motors if name in turning})
    loops = list(mechanism.loops)
    for pair, kind in zip(*_lists(content, _PAIRED[0]), strict=True):
        with notes.catching():
            loops.append(_loop(source, mechanism, pair, kind))
    notes.check()
    mechanism = replace(mechanism, loops=tuple(loops), source=str(source))
    notes.warn()
    return mechanism


def names_loops(path: str | os.PathLike[str]) -> bool:
    """Whether a file has an entry `closed_loop`, as other YAML files do not."""
    found = Path(path)
    return found.is_file() and re.search(r"^closed_loop\s*:", file_text(found), re.MULTILINE) is not None


def _content(path: Path, notes: Notes) -> Mapping[str, Any]:
    yaml = needed("ruamel.yaml", f"{path}: YAML is read by ruamel.yaml", "sweep")
    text = file_text(path)
    try:
        content = yaml.YAML(typ="safe", pure=True).load(text)
    except (yaml.error.YAMLError, TypeError, ValueError, LookupError, RecursionError) as error:  # keys that are lists, dates, …
        raise ModelError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, Mapping) or "closed_loop" not in content:
        raise ModelError(f"{path}: the YAML names no loops of the URDF beside it; it needs closed_loop: [[frame, frame], …]")
    for key in _KNOWN:
        entries = content.get(key)
        if entries is not None and not isinstance(entries, list):
            notes.mistake(f"{key} is {shown(entries)}; write a list")
            continue
        for k, entry in enumerate(entries or ()):
            names = entry if key == "closed_loop" and isinstance(entry, list) else [entry]
            if not all(isinstance(name, str) for name in names):
                notes.mistake(f"{key}[{k}] is {shown(entry)}; write names as texts, numbers among them in quotes")
    notes.check()
    for one, other in _PAIRED:
        if len(content.get(one) or ()) != len(content.get(other) or ()):
            notes.mistake(f"{one} and {other} must be lists of the same length; give each entry its own")
    notes.check()
    return content


def _lists(content: Mapping[str, Any], keys: tuple[str, str]) -> list[list[Any]]:
    return [content.get(key) or [] for key in keys]


def _loop(path: Path, mechanism: Mechanism, pair: Any, kind: str) -> Loop:
    if kind.lower() not in _LOOPS:
        raise ModelError(f"{path}: the loop {pair} has the type {kind!r}; the types are {', '.join(_LOOPS)}")
    # a joint's frame is that of its child
    frames = {joint.name: joint.child for joint in mechanism.joints} | {body.name: body.name for body in mechanism.bodies}
    names = list(pair) if isinstance(pair, list) else []
    if len(names) != 2:
        raise ModelError(f"{path}: closed_loop has {pair!r}; it must hold pairs of links or joints whose frames coincide")
    for name in names:
        if name not in frames:
            remedy = did_you_mean(name, frames, "check the names")
            raise ModelError(f"{path}: closed_loop names {name!r}, which is neither a link nor a joint of the URDF; {remedy}")
    return Loop(f"{names[0]}-{names[1]}", KINDS[_LOOPS[kind.lower()]], frames[names[0]], frames[names[1]])


def _with_types(mechanism: Mechanism, content: Mapping[str, Any], notes: Notes) -> Mechanism:
    """The mechanism with the types of joints that the YAML gives."""
    types = dict(zip(*_lists(content, _PAIRED[1]), strict=True))
    names = {joint.name for joint in mechanism.joints}
    for name in types:
        if name not in names:
            notes.add("joint_name that the URDF does not have, not used", str(name))
    joints = []
    for joint in mechanism.joints:
        with notes.catching():
            joints.append(_typed(notes.source, joint, types[joint.name]) if joint.name in types else joint)
    return mechanism if notes.mistakes else replace(mechanism, joints=tuple(joints))


def _typed(source: str, joint: Joint, kind: str) -> Joint:
    """The joint, of another type: two turns or all, without limits and axis of the URDF's."""
    if kind.upper() == "SPHERICAL":
        return Joint(joint.name, KINDS["spherical"], joint.parent, joint.child, joint.pose)
    turns = re.fullmatch(r"UJOINT_([XYZ])([XYZ])", kind.upper())
    if turns is None or turns[1] == turns[2]:
        raise ModelError(
            f"{source}: joint {joint.name!r} has the joint_type {kind!r}; it must be SPHERICAL, or UJOINT_XY and the like"
        )
    return Joint(joint.name, KINDS["universal"], joint.parent, joint.child, joint.pose, _AXES[turns[1]], _AXES[turns[2]])
