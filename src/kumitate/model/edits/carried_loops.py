"""The same mechanism with loop joints in the tree, each with a massless body that a rigid loop ties to where the joint was."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, replace

from ..elements import Body, Joint, Loop
from ..joints import KINDS, JointKind
from ..mechanism import Mechanism
from .reroot import free_name

#: The properties that joints and loops have in common, apart from bodies and poses.
_SHARED = {item.name for item in fields(Joint)} & {item.name for item in fields(Loop)}


def closed_by(loop: str) -> str:
    """The name of the rigid loop that closes a loop joint in the tree."""
    return f"{loop}_closed"


def with_loops_in_tree(mechanism: Mechanism, loops: Collection[str]) -> Mechanism:
    """The mechanism with a coordinate in q for each of these loop joints, under the loop joint's name.

    The joint carries a massless body on its body A, and a fixed loop ties that to its body B. Nothing physical changes;
    something other than inertia must determine the joint, such as a prescribed motion.
    """
    bodies, joints, found = list(mechanism.bodies), list(mechanism.joints), []
    for loop in mechanism.loops:
        if loop.name not in loops or not isinstance(loop.kind, JointKind):
            found.append(loop)
            continue
        carried = free_name(f"{loop.name}_carried", mechanism)
        bodies.append(Body(carried))
        shared = {key: getattr(loop, key) for key in _SHARED}
        joints.append(Joint(parent=loop.body_a, child=carried, pose=loop.pose_a, **shared))
        found.append(Loop(closed_by(loop.name), KINDS["fixed"], carried, loop.body_b, pose_b=loop.pose_b))
    return replace(mechanism, bodies=tuple(bodies), joints=tuple(joints), loops=tuple(found))
