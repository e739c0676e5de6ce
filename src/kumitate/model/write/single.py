"""Joints of several degrees of freedom as rows of joints of one, which is what most formats have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import mul

from ..elements import Joint, Limits
from ..joints import EulerAngles
from ..tree.tree import alignment

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
#: By kind, from the parent outward: whether a part turns (or slides), its axis in the kind's frame, and which degree of
#: freedom of the kind it is.
_ROWS = {
    "revolute": ((True, _Z, 0),),
    "prismatic": ((False, _Z, 0),),
    "cylindrical": ((True, _Z, 0), (False, _Z, 1)),
    "universal": ((True, _Z, 0), (True, _Y, 1)),
    "planar": ((False, _X, 1), (False, _Y, 2), (True, _Z, 0)),
    "spherical_euler": ((True, _Z, 0), (True, _Y, 1), (True, _Z, 2)),
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


def single_parts(joint: Joint) -> list[SinglePart] | None:
    """The joint as a row of revolute and prismatic joints through one point; None for kinds that are not such a row.

    The parts of a spherical joint turn about x, y and z: a row with other coordinates, and a singularity where y is turned by
    90°. All others have the joint's own coordinates.
    """
    rows = _ROWS.get(joint.kind.name)
    if isinstance(joint.kind, EulerAngles):
        rows = tuple((True, tuple(axis), k) for k, axis in enumerate(joint.kind.axes))  # type: ignore[assignment,misc]
    if rows is None:
        return None
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
