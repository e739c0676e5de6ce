"""Fixing two bodies to each other."""

from __future__ import annotations

from dataclasses import replace

from ...errors import ModelError
from ...spatial import Transform
from ..elements import Joint, Loop, fitting
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism
from ..tree.tree import alignment
from ..values import checked_pose
from .lock import lock
from .standing import behind, standing
from .undriven import check_undriven

#: Degrees of freedom of a free body.
_FREE = 6


def weld(mechanism: Mechanism, a: str, b: str, *, pose: Transform | None = None) -> Mechanism:
    """The mechanism with body b fixed to body a.

    A joint between the two becomes a fixed one, and joints that are coupled to it are locked at the coordinates that follow
    from those nearest to the weld. If one of them floats freely in the world, it becomes a child of the other. Otherwise the
    weld closes a loop: it becomes the loop "weld_a_b", of the kind "fixed".

    Args:
        mechanism: to change.
        a, b: names of bodies, or "world".
        pose: X_AB, the pose of b in a; that at neutral coordinates by default.

    Raises:
        ModelError: if a name is not the name of a body, both are the same, the two are fixed to each other already, or the
            joint between them has a drive.
    """
    for name in (a, b):
        if name != WORLD:
            mechanism.body(name)
    if a == b:
        raise ModelError(f"{mechanism.name}: {a!r} cannot be welded to itself; name two bodies")
    if pose is None:
        at = standing(mechanism)
        pose = at[a].inverse() @ at[b]
    pose = checked_pose(mechanism.name, "the pose", pose).dense()
    for joint in mechanism.joints:
        for parent, child, X_PC in ((a, b, pose), (b, a, pose.inverse())):
            between = joint.parent == parent and joint.child == child
            free = joint.parent == WORLD and joint.child == child and joint.kind.nv == _FREE
            if between and joint.kind.nv == 0:
                raise ModelError(f"{mechanism.name}: {a!r} and {b!r} are fixed to each other already, by {joint.name!r}")
            if between or (free and parent not in behind(mechanism, child)):
                check_undriven(mechanism, [joint.name], "becomes a fixed one")
                fixed = Joint(joint.name, KINDS["fixed"], parent, child, X_PC)
                return _with(fixed, _without_followers(mechanism, joint, X_PC))
    loop = Loop(f"weld_{a}_{b}", KINDS["fixed"], a, b, pose)
    return replace(mechanism, loops=(*mechanism.loops, loop))


def _with(fixed: Joint, mechanism: Mechanism) -> Mechanism:
    """The mechanism with this joint instead of the one of the same name."""
    joints = tuple(fixed if item.name == fixed.name else item for item in mechanism.joints)
    return replace(mechanism, joints=joints, starts=fitting(mechanism.starts, joints))


def _without_followers(mechanism: Mechanism, joint: Joint, X_PC: Transform) -> Mechanism:
    """The mechanism with the joints that are coupled to a joint locked at the coordinates for this pose of its bodies."""
    if not any(joint.name in (item.joint, item.of) for item in mechanism.couplings):
        return mechanism
    A = Transform(alignment(joint.axis, joint.second_axis))
    X_FM = A.inverse() @ joint.pose.inverse() @ X_PC @ A
    return lock(mechanism, {joint.name: [float(x) for x in joint.kind.locate(X_FM)]})
