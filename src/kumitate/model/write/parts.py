"""What formats write alike: numbers, shapes, rows of joints of one degree of freedom, and notes of what they cannot express.

Numbers are read back with the same bits. A field of a part that no writer names is noted, so that none is lost silently.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from operator import mul
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...scalar import floats
from ...spatial import Transform, quaternion_of
from ..elements import Joint, Limits
from ..joints import EulerAngles
from ..mechanism import Mechanism
from ..read.xml import Notes
from ..shapes import Mesh
from ..tree.tree import alignment


def numbers(values: Iterable[float]) -> str:
    """Numbers, separated by blanks.

    >>> numbers((1.0, -0.5, 1e-9))
    '1 -0.5 1e-09'
    """
    return " ".join(repr(float(value)).removesuffix(".0") for value in values)


def xyz(place: Transform) -> str:
    """The position of a pose [m]."""
    return numbers(floats(place.translation))


def roll_pitch_yaw(place: Transform) -> tuple[float, float, float]:
    """Roll, pitch and yaw [rad] about fixed axes: R = Rz(yaw) Ry(pitch) Rx(roll).

    The roll is found after the yaw is taken away, so that the product is exact to rounding at a pitch of ±90°, too, where only
    the sum or the difference of the two is determined (Shoemake, Graphics Gems IV, "Euler angle conversion").

    >>> from ...spatial import pose
    >>> [round(angle, 12) for angle in roll_pitch_yaw(pose(rpy=(0.1, -0.2, 0.3)))]
    [0.1, -0.2, 0.3]
    """
    R = place.rotation.matrix()
    yaw = math.atan2(R[1][0], R[0][0])
    s, c = math.sin(yaw), math.cos(yaw)
    pitch = math.atan2(-R[2][0], c * R[0][0] + s * R[1][0])
    return math.atan2(s * R[0][2] - c * R[1][2], c * R[1][1] - s * R[0][1]), pitch, yaw


def quaternion(place: Transform) -> tuple[float, float, float, float]:
    """The unit quaternion w, x, y, z of a pose.

    >>> quaternion(Transform())
    (1.0, 0.0, 0.0, 0.0)
    """
    x, y, z, w = floats(quaternion_of(place.rotation))
    return w, x, y, z


def mesh_path(mesh: Mesh, folder: Path) -> str:
    """The path of a mesh for a file in a folder: relative to it, or the path in the model file where the mesh was not found."""
    if "://" in mesh.path or mesh.resolved is None:
        return mesh.path
    try:
        return Path(os.path.relpath(mesh.resolved, folder)).as_posix()
    except ValueError:  # on another drive of Windows
        return Path(mesh.resolved).as_posix()


def leave_shapes(mechanism: Mechanism, known: Mapping[str, object], notes: Notes) -> None:
    """Notes the shapes whose kinds are not among those known, and are left out."""
    for body in mechanism.bodies:
        for item in (*body.visuals, *body.collisions):
            if item.shape.kind not in known:
                called = f"{body.name}/{item.name}" if item.name else body.name
                notes.add(f"shapes of the kind {item.shape.kind}, left out", called)


def note_mechanism(mechanism: Mechanism, written: Collection[str], notes: Notes) -> None:
    """Notes the fields of a mechanism that are not written and not at their defaults; faults of inertias are noted, too."""
    note_fields(mechanism, {"name", "source", "faults", *written}, "the mechanism's", notes)
    for fault in mechanism.faults:
        notes.add(f"inertias are written that replace impossible ones: {fault}")


def note_fields(part: Any, written: Collection[str], whose: str, notes: Notes) -> None:
    """Notes the fields of a part that are not written and not at their defaults."""
    for item in fields(part):
        if item.name not in written and _says_something(item, getattr(part, item.name)):
            notes.add(f"{whose} {item.name}, not written", part.name)


def _says_something(item: Field[Any], value: Any) -> bool:
    default = item.default_factory() if item.default_factory is not MISSING else item.default
    if item.name == "limits":  # one for each degree of freedom, which may say nothing
        return any(limit != Limits() for limit in value)
    if isinstance(value, tuple) and not isinstance(default, tuple):  # one number for all degrees of freedom
        return any(entry != default for entry in value)
    return bool(value != default)


_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
#: By kind, from the parent outward: whether a part turns (or slides), its axis in the kind's frame, and which degree of
#: freedom of the kind it is.
_ROWS = {
    "revolute": ((True, _Z, 0),),
    "prismatic": ((False, _Z, 0),),
    "cylindrical": ((True, _Z, 0), (False, _Z, 1)),
    "universal": ((True, _Z, 0), (True, _Y, 1)),
    "planar": ((False, _X, 1), (False, _Y, 2), (True, _Z, 0)),
    "spherical": ((True, _X, 0), (True, _Y, 1), (True, _Z, 2)),
    "floating_euler": (
        (False, _X, 3), (False, _Y, 4), (False, _Z, 5), (True, _Z, 0), (True, _Y, 1), (True, _X, 2),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class SinglePart:
    """One degree of freedom of a joint.

    Attributes:
        name: as the component's in `Mechanism.v_names`, the joint's own if it has one only.
        turns: whether it turns about the axis, or slides along it.
        axis: in the joint's frame, of unit length, with all parts of the joint at zero.
        limits: of it; `damping`, `friction`, `armature`, `stiffness`, `rest`: likewise.
    """

    name: str
    turns: bool
    axis: tuple[float, ...]
    limits: Limits
    passive: Mapping[str, float] = field(default_factory=dict)


def single_parts(joint: Joint, source: str, form: str) -> list[SinglePart]:
    """The joint as a row of revolute and prismatic joints through one point.

    The parts of a spherical joint turn about x, y and z: a row with other coordinates, and a singularity where y is turned by
    90°. All others have the joint's own coordinates. An `InputError` for other kinds, which this format has nothing for.
    """
    rows = _ROWS.get(joint.kind.name)
    if isinstance(joint.kind, EulerAngles):
        rows = tuple((True, tuple(axis), k) for k, axis in enumerate(joint.kind.axes))  # type: ignore[assignment,misc]
    if rows is None:
        raise InputError(
            f"{source}: joint {joint.name!r} is {joint.kind.name}, which {form} has nothing for; write kumitate's own .json, "
            "which expresses everything, or replace the joint"
        )
    turn = [list(row) for row in alignment(joint.axis, joint.second_axis).matrix()]
    names = joint.kind.coordinates if joint.kind.name != "spherical" else ("turn_x", "turn_y", "turn_z")
    return [
        SinglePart(
            joint.name if len(rows) == 1 else f"{joint.name}.{names[k]}",
            turns,
            # z of the kind is the joint's axis to the last bit
            tuple(joint.axis) if axis == _Z else tuple(float(sum(map(mul, row, axis))) for row in turn),
            joint.limits[k],
            {key: getattr(joint, key)[k] for key in ("damping", "friction", "armature", "stiffness", "rest")},
        )
        for turns, axis, k in rows
    ]
