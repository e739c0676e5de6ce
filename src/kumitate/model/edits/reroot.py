"""The same free mechanism with another of its bodies as the root."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...errors import ModelError
from ...spatial import Transform
from ..elements import Body, Joint, fitting
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism
from ..tree.tree import alignment

#: Degrees of freedom of a free body.
_FREE = 6


def reroot(mechanism: Mechanism, body: str) -> Mechanism:
    """The mechanism with another of its bodies as the floating base; the joints between the two are reversed.

    No body's frame moves, and nothing physical changes. Coordinates, velocities and forces of revolute, prismatic, helical and
    cylindrical joints do not change (so that couplings still hold), those of universal joints are swapped, and those of
    other joints are of the inverse motion. Where a joint is not at the origin of its new child body, a massless body is
    inserted.

    Raises:
        ModelError: if there is no such body, the mechanism is connected to the world (it would be another mechanism if it were
            connected elsewhere), or a joint to be reversed has limits, damping, friction, armature or springs that are given
            in one direction only.
    """
    mechanism.body(body)
    carriers = {joint.child: joint for joint in mechanism.joints}
    path = [carriers[body]]
    while path[-1].parent != WORLD:
        path.append(carriers[path[-1].parent])
    base = path.pop()
    if base.kind.nv != _FREE:
        raise ModelError(
            f"{mechanism.name}: the root {base.child!r} is held to the world by the {base.kind.name} joint {base.name!r}; only "
            "a free mechanism is the same from another body. Read the file with floating_base, or let the root float"
        )
    if not path:
        return mechanism
    if _driven(base):
        raise ModelError(f"{mechanism.name}: the joint {base.name!r} resists the root's motion; only a free root can change")
    turned = {joint.name: tuple(turned_round(mechanism, joint)) for joint in path}
    turned[base.name] = (replace(base, child=body),)
    joints = tuple(part for joint in mechanism.joints for part in turned.get(joint.name, (joint,)))
    known = {item.name for item in mechanism.bodies}
    between = tuple(Body(joint.child) for joint in joints if joint.child not in known)
    kept = fitting(mechanism.starts, (joint for joint in mechanism.joints if joint.name not in turned))
    return replace(mechanism, joints=joints, bodies=(*mechanism.bodies, *between), starts=kept)


def turned_round(mechanism: Mechanism, joint: Joint) -> Iterator[Joint]:
    """The joint with parent and child exchanged: its child frame is the old fixed frame, to which the old parent is fixed."""
    there = joint.parent
    at_origin = joint.pose.almost_equal(Transform(), 0.0)
    if not at_origin:
        there = free_name(f"{joint.parent}_at_{joint.name}", mechanism)
        yield Joint(f"{there}_fixed", KINDS["fixed"], there, joint.parent, joint.pose.inverse().dense())
    swapped = replace(joint, parent=joint.child, child=there, pose=Transform())
    if joint.kind.nv == 0:
        yield swapped
    elif joint.kind.screw_symmetric:  # motion backward along the axis is motion forward along the opposite axis
        yield replace(swapped, axis=_minus(joint.axis))
    elif joint.kind.name == "universal":
        rows = np.array([list(row) for row in alignment(joint.axis, joint.second_axis).matrix()])
        yield replace(
            swapped, axis=_minus(rows[:, 1]), second_axis=_minus(joint.axis), limits=joint.limits[::-1],
            damping=_reversed(joint.damping), friction=_reversed(joint.friction), armature=_reversed(joint.armature),
            stiffness=_reversed(joint.stiffness), rest=_reversed(joint.rest),
        )  # fmt: skip
    elif joint.kind.is_group and not _driven(joint):
        yield swapped
    else:
        raise ModelError(
            f"{mechanism.name}: the {joint.kind.name} joint {joint.name!r} cannot be turned round; its limits, damping, "
            "friction, armature or springs are those of the child's axes. Leave them out, or choose a body on the near side"
        )


def _driven(joint: Joint) -> bool:
    """Whether the joint has properties of single coordinates."""
    said = any(value is not None for limit in joint.limits for value in vars(limit).values())
    return said or any(np.any(values) for values in (joint.damping, joint.friction, joint.armature, joint.stiffness))


def _minus(direction: object) -> tuple[float, ...]:
    return tuple((-np.asarray(direction)).tolist())


def _reversed(values: object) -> tuple[float, ...]:
    return tuple(np.asarray(values)[::-1].tolist())


def free_name(name: str, mechanism: Mechanism) -> str:
    """The name, followed by as many underscores as needed for it and its weld to be new."""
    bodies = {item.name for item in mechanism.bodies} | {frame.name for frame in mechanism.frames}
    joints = {item.name for item in mechanism.joints} | {loop.name for loop in mechanism.loops}
    while name in bodies or f"{name}_fixed" in joints:
        name += "_"
    return name
