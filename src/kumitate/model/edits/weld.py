"""Locking joints, removing their friction, and fixing two bodies to each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...errors import ModelError
from ...spatial import Transform
from ..elements import Joint, Loop, fitting
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism
from ..tree.tree import alignment
from ..values import checked_array, checked_pose
from .attach import behind, standing


def check_undriven(mechanism: Mechanism, joints: Iterable[str], what: str) -> None:
    """Refuses to take away joints that have drives; `what` is done to them, for the message.

    Raises:
        ModelError: naming the joint.
    """
    driven = {item.name: item.drive for item in mechanism.driven}
    for name in joints:
        if name in driven:
            raise ModelError(
                f"{mechanism.name}: joint {name!r} {what}, but it has a {driven[name].kind} drive, which would be lost with "
                f"its target; take the drive out first, by mechanism.with_drives({{{name!r}: None}})"
            )


#: The tolerance for given coordinates that a coupling relates, relative to their size.
_ROUNDING = 1e-9


def lock(mechanism: Mechanism, joints: Mapping[str, Any] | Sequence[str]) -> Mechanism:
    """The mechanism with some joints fixed: at the coordinates given by name, or at their neutral ones.

    Joints that are coupled to a locked one are locked too, at the coordinates that follow from it.

    Raises:
        ModelError: if a name is not a joint's, a joint is given the wrong number of coordinates, or coupled joints are given
            coordinates that contradict their coupling; or if one of the joints has a drive.
    """
    at = joints if isinstance(joints, Mapping) else {}
    held = {name: _coordinates(mechanism.joint(name), at.get(name)) for name in joints}
    _follow(mechanism, held)
    check_undriven(mechanism, held, "is locked")
    changed = tuple(_locked(joint, held[joint.name]) if joint.name in held else joint for joint in mechanism.joints)
    couplings = tuple(item for item in mechanism.couplings if item.joint not in held)
    return replace(mechanism, joints=changed, couplings=couplings, starts=fitting(mechanism.starts, changed))


def _coordinates(joint: Joint, q: Any) -> list[float]:
    if q is None:
        return joint.kind.neutral()
    values = checked_array(f"joint {joint.name!r}", "the place where it is locked", q, error=ModelError).ravel().tolist()
    if len(values) != joint.kind.nq:
        raise ModelError(
            f"joint {joint.name!r} is locked at {len(values)} coordinates; it has {joint.kind.nq} "
            f"({', '.join(joint.kind.coordinates) or 'none'}), give these"
        )
    return values


def _follow(mechanism: Mechanism, held: dict[str, list[float]]) -> None:
    """Adds the joints that are locked by couplings with those already in `held`, by their coordinates."""
    waiting = list(mechanism.couplings)
    while waiting:
        found = next((item for item in waiting if item.of in held or (item.joint in held and item.ratio != 0.0)), None)
        if found is None:
            break
        waiting.remove(found)
        if found.of not in held:
            held[found.of] = [(held[found.joint][0] - found.offset) / found.ratio]
        needed = found.ratio * held[found.of][0] + found.offset
        given = held.setdefault(found.joint, [needed])[0]
        if abs(given - needed) > _ROUNDING * (1.0 + abs(needed)):
            raise ModelError(
                f"{mechanism.name}: joint {found.joint!r} is locked at {given:.9g}, but coupling {found.name!r} holds it at "
                f"{needed:.9g} with {found.of!r} where it is locked; lock one of the two, or take the coupling out"
            )


def _locked(joint: Joint, values: Sequence[float]) -> Joint:
    A = Transform(alignment(joint.axis, joint.second_axis))
    held = joint.pose @ A @ joint.kind.transform(values) @ A.inverse()
    return Joint(joint.name, KINDS["fixed"], joint.parent, joint.child, held.dense())


def without_friction(mechanism: Mechanism) -> Mechanism:
    """The mechanism with frictionless, undamped joints and loops."""
    joints = tuple(replace(joint, damping=0.0, friction=0.0) for joint in mechanism.joints)
    loops = tuple(replace(loop, damping=0.0, friction=0.0) for loop in mechanism.loops)
    return replace(mechanism, joints=joints, loops=loops)


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
                mechanism = _without_followers(mechanism, joint, X_PC)
                joints = tuple(fixed if item.name == fixed.name else item for item in mechanism.joints)
                return replace(mechanism, joints=joints, starts=fitting(mechanism.starts, joints))
    loop = Loop(f"weld_{a}_{b}", KINDS["fixed"], a, b, pose)
    return replace(mechanism, loops=(*mechanism.loops, loop))


def _without_followers(mechanism: Mechanism, joint: Joint, X_PC: Transform) -> Mechanism:
    """The mechanism with the joints that are coupled to a joint locked at the coordinates for this pose of its bodies."""
    if not any(joint.name in (item.joint, item.of) for item in mechanism.couplings):
        return mechanism
    A = Transform(alignment(joint.axis, joint.second_axis))
    X_FM = A.inverse() @ joint.pose.inverse() @ X_PC @ A
    return lock(mechanism, {joint.name: [float(x) for x in joint.kind.locate(X_FM)]})
