"""Edits of a mechanism, such as locking joints or attaching a tool. They return a new mechanism and leave theirs unchanged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ..errors import ModelError, warn
from ..spatial import Transform
from .elements import Body, Joint, Loop, NamedState, fitting
from .joints import KINDS, JointKind
from .mechanism import WORLD, ByName, Mechanism, free_name
from .tree.tree import alignment
from .values import checked_array, checked_pose


def standing(mechanism: Mechanism) -> dict[str, Transform]:
    """The pose X_WB of every body (and of the world) at neutral coordinates, where joints' frames coincide."""
    poses = {WORLD: Transform()}
    for joint in mechanism.joints:  # parents before children
        poses[joint.child] = (poses[joint.parent] @ joint.pose).dense()
    return poses


def behind(mechanism: Mechanism, body: str) -> set[str]:
    """The names of a body and of all its descendants."""
    found = {body}
    for joint in mechanism.joints:  # parents before children
        if joint.parent in found:
            found.add(joint.child)
    return found


def attach(mechanism: Mechanism, other: Mechanism, body: str, pose: Transform | None = None, *, prefix: str = "") -> Mechanism:
    """The mechanism with another one mounted on one of its bodies, such as a tool on a flange.

    The joints of the other one to its world become joints to the body: a fixed base becomes a rigid mount. Gravity is that of
    the first.

    Args:
        mechanism, other: the two.
        body: the name of the body that replaces the other one's world; "world" for two separate mechanisms in one world.
        pose: of the other one's world in that body; identity by default.
        prefix: prepended to all names of the other one.

    Raises:
        ModelError: if there is no such body, or the two share names.
    """
    if body != WORLD:
        mechanism.body(body)
    mount = Transform() if pose is None else checked_pose(mechanism.name, "the pose", pose).dense()
    _check_names(mechanism, other, prefix)
    together: dict[str, Any] = {
        key: (*getattr(mechanism, key), *(_mounted(part, body, mount, prefix) for part in getattr(other, key)))
        for key in ("bodies", "joints", "loops", "frames", "couplings")
    }
    starts = (
        NamedState(prefix + item.name, *(tuple((prefix + name, x) for name, x in part) for part in (item.q, item.v)))
        for item in other.starts
    )
    apart = ((prefix + one, prefix + two) for one, two in other.no_contact)
    return replace(
        mechanism, **together, faults=(*mechanism.faults, *other.faults), starts=(*mechanism.starts, *starts),
        no_contact=(*mechanism.no_contact, *apart),
    )  # fmt: skip


#: Fields of parts of mechanisms that name a body, each with the field of the pose in it.
_IN_BODIES = {"parent": "pose", "child": "", "body": "pose", "body_a": "pose_a", "body_b": "pose_b"}


def _mounted(part: Any, body: str, mount: Transform, prefix: str) -> Any:
    """A part of another mechanism, whose names get a prefix; what is in its world is at `mount` in a body."""
    changes = {key: prefix + getattr(part, key) for key in ("name", "joint", "of") if hasattr(part, key)}
    for key, pose in _IN_BODIES.items():
        if getattr(part, key, None) == WORLD:
            changes |= {key: body, pose: mount @ getattr(part, pose)}
        elif hasattr(part, key):
            changes[key] = prefix + getattr(part, key)
    return replace(part, **changes)


def merge(mechanism: Mechanism, other: Mechanism, pose: Transform | None = None, *, prefix: str = "") -> Mechanism:
    """The two mechanisms in one world, the other one's world at `pose` in the first's; see `attach`."""
    return attach(mechanism, other, WORLD, pose, prefix=prefix)


def _check_names(mechanism: Mechanism, other: Mechanism, prefix: str) -> None:
    kinds = {
        "joint": ("joints", "loops"),
        "body or frame": ("bodies", "frames"),
        "coupling": ("couplings",),
        "start": ("starts",),
    }
    for what, groups in kinds.items():
        taken = {item.name for group in groups for item in getattr(mechanism, group)}
        added = {prefix + item.name for group in groups for item in getattr(other, group)}
        if taken & added:
            raise ModelError(
                f"{mechanism.name} and {other.name} both have the {what} names {', '.join(sorted(taken & added)[:5])}; "
                'give a prefix for those of the second, such as prefix="tool_", or Robot.attach(…, name="tool")'
            )


def cut(mechanism: Mechanism, joint: str, *, floating_base: bool = False) -> Mechanism:
    """The part of a mechanism beyond a joint, as a mechanism of its own: the joint's child body and its descendants.

    That body is fixed by the joint "fixed_base" at its world pose for neutral coordinates, or is free ("floating_base",
    its coordinates being its pose in the world).

    Raises:
        ModelError: if there is no such joint.

    Warns:
        KumitateWarning: if loops, or couplings with the remaining joints, are cut; these are left out, and named.
    """
    root = mechanism.joint(joint).child
    kept = behind(mechanism, root)
    loops = tuple(loop for loop in mechanism.loops if {loop.body_a, loop.body_b} <= kept)
    through = [loop.name for loop in mechanism.loops if loop not in loops and kept & {loop.body_a, loop.body_b}]
    joints = tuple(item for item in mechanism.joints if item.parent in kept)
    names = {item.name for item in joints}
    couplings = tuple(item for item in mechanism.couplings if {item.joint, item.of} <= names)
    apart = [item.name for item in mechanism.couplings if item not in couplings and names & {item.joint, item.of}]
    for what, left in (("loops", through), ("couplings", apart)):
        if left:
            warn(f"{mechanism.name}: the cut at joint {joint!r} goes through the {what} {', '.join(left)}, which are left out")
    kind = "floating" if floating_base else "fixed"
    name = free_name(f"{kind}_base", {item.name for item in mechanism.joints} - {joint} | {loop.name for loop in loops})
    base = Joint(name, KINDS[kind], WORLD, root, Transform() if floating_base else standing(mechanism)[root])
    bodies = tuple(body for body in mechanism.bodies if body.name in kept)
    frames = tuple(frame for frame in mechanism.frames if frame.body in kept)
    pairs = tuple(pair for pair in mechanism.no_contact if set(pair) <= kept)
    return replace(
        mechanism, name=f"{mechanism.name}_{root}", bodies=bodies, joints=(base, *joints), loops=loops, couplings=couplings,
        frames=frames, starts=fitting(mechanism.starts, joints), no_contact=pairs,
    )  # fmt: skip


# --- locking and welding --------------------------------------------------------------------------------------------------
def check_undriven(mechanism: Mechanism, joints: Iterable[str], what: str) -> None:
    """Refuses, by a `ModelError`, to take away joints that have drives; `what` is done to them, for the message."""
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
    changed = tuple(
        Joint(joint.name, KINDS["fixed"], joint.parent, joint.child, pose_at(joint, held[joint.name]))
        if joint.name in held else joint
        for joint in mechanism.joints
    )  # fmt: skip
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


def pose_at(joint: Joint, values: Sequence[float]) -> Transform:
    """The pose of a joint's child in its parent at these coordinates."""
    A = Transform(alignment(joint.axis, joint.second_axis))
    return (joint.pose @ A @ joint.kind.transform(values) @ A.inverse()).dense()


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
    at = standing(mechanism)
    pose = checked_pose(mechanism.name, "the pose", at[a].inverse() @ at[b] if pose is None else pose).dense()
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


# --- other trees of the same mechanism ------------------------------------------------------------------------------------
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
    kept = fitting(mechanism.starts, (joint for joint in mechanism.joints if joint.name not in turned))
    return replace(mechanism, joints=joints, bodies=_all_bodies(mechanism, joints), starts=kept)


def _all_bodies(mechanism: Mechanism, joints: Iterable[Joint]) -> tuple[Body, ...]:
    """Its bodies, and massless ones that these joints have in addition."""
    known = {item.name for item in mechanism.bodies}
    return (*mechanism.bodies, *(Body(joint.child) for joint in joints if joint.child not in known))


def turned_round(mechanism: Mechanism, joint: Joint) -> Iterator[Joint]:
    """The joint with parent and child exchanged: its child frame is the old fixed frame, to which the old parent is fixed."""
    there = joint.parent
    at_origin = joint.pose.almost_equal(Transform(), 0.0)
    if not at_origin:
        there = _new_body(f"{joint.parent}_at_{joint.name}", mechanism)
        yield Joint(f"{there}_fixed", KINDS["fixed"], there, joint.parent, joint.pose.inverse().dense())
    swapped = replace(joint, parent=joint.child, child=there, pose=Transform())
    if joint.kind.nv == 0:
        yield swapped
    elif joint.kind.screw_symmetric:  # motion backward along the axis is motion forward along the opposite axis
        yield replace(swapped, axis=_minus(joint.axis))
    elif joint.kind.name == "universal":
        rows = np.array([list(row) for row in alignment(joint.axis, joint.second_axis).matrix()])
        keys = ("limits", "damping", "friction", "armature", "stiffness", "rest")
        exchanged: dict[str, Any] = {key: getattr(joint, key)[::-1] for key in keys}
        yield replace(swapped, axis=_minus(rows[:, 1]), second_axis=_minus(joint.axis), **exchanged)
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


def _new_body(name: str, mechanism: Mechanism) -> str:
    """The `free_name` of a body, of which its weld has a new name, too."""
    bodies = {body.name for body in mechanism.bodies} | {frame.name for frame in mechanism.frames}
    joints = {joint.name for joint in mechanism.joints} | {loop.name for loop in mechanism.loops}
    welds = {name.removesuffix("_fixed") for name in joints if name.endswith("_fixed")}
    return free_name(name, bodies | welds)


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
        carried = _new_body(f"{loop.name}_carried", mechanism)
        bodies.append(Body(carried))
        shared = {key: getattr(loop, key) for key in _SHARED}
        joints.append(Joint(parent=loop.body_a, child=carried, pose=loop.pose_a, **shared))
        found.append(Loop(closed_by(loop.name), KINDS["fixed"], carried, loop.body_b, pose_b=loop.pose_b))
    return replace(mechanism, bodies=tuple(bodies), joints=tuple(joints), loops=tuple(found))


def recut(mechanism: Mechanism, loop: str, joint: str) -> Mechanism:
    """The mechanism with a loop joint made a joint of the tree, and a tree joint on that loop made the loop joint.

    The bodies beyond the joint now depend on the loop's; joints between the two are reversed (see `reroot`). No body's frame
    moves, and nothing physical changes, but the coordinates do: they contain those of the loop, and not those of the joint.

    Args:
        loop, joint: their names.

    Raises:
        ModelError: if there is no such loop, it is not closed by a joint, or the joint is not part of it or is
            coupled to another; or if a joint to be reversed has properties that are given in one direction only.
    """
    opened, cut = ByName(mechanism, "loop", mechanism.loops)[loop], mechanism.joint(joint)
    if (loop, joint) not in recuts(mechanism):
        ways = ", ".join(name for other, name in recuts(mechanism) if other == loop) or "none"
        raise ModelError(f"{mechanism.name}: loop {loop!r} cannot be cut at joint {joint!r}; it can at these joints: {ways}")
    coupled = next((item.name for item in mechanism.couplings if joint in (item.joint, item.of)), None)
    if coupled is not None:
        raise ModelError(f"{mechanism.name}: joint {joint!r} is tied by the coupling {coupled!r}; cut the loop elsewhere")
    carriers = {item.child: item for item in mechanism.joints}
    near = next(end for end in (opened.body_b, opened.body_a) if joint in inward_joints(carriers, end))
    way = list(inward_joints(carriers, near).values())
    turned = way[: way.index(cut)]
    rest = [item for item in mechanism.joints if item is not cut and item not in turned]
    joints = (*rest, *_carrying(mechanism, opened, near), *(part for item in turned for part in turned_round(mechanism, item)))
    closed = Loop(body_a=cut.parent, body_b=cut.child, pose_a=cut.pose, **{key: getattr(cut, key) for key in _SHARED})
    loops = tuple(closed if item is opened else item for item in mechanism.loops)
    return replace(
        mechanism, joints=joints, bodies=_all_bodies(mechanism, joints), loops=loops, starts=fitting(mechanism.starts, rest)
    )


def recuts(mechanism: Mechanism) -> list[tuple[str, str]]:
    """The names of all loops that are closed by joints, each with all moving joints at which it can be cut instead."""
    carriers = {item.child: item for item in mechanism.joints}
    return [
        (loop.name, joint.name)
        for loop in mechanism.loops
        if isinstance(loop.kind, JointKind)
        for joint in joints_between(carriers, loop.body_b, loop.body_a)
        if joint.kind.nv
    ]


def inward_joints(carriers: Mapping[str, Joint], body: str) -> dict[str, Joint]:
    """The joints from a body to the world, by name; `carriers`: the joint of each child."""
    way = {}
    while body in carriers:
        way[carriers[body].name] = carriers[body]
        body = carriers[body].parent
    return way


def joints_between(carriers: Mapping[str, Joint], one: str, other: str) -> list[Joint]:
    """The joints from one body to another, through their common ancestor."""
    ways = [inward_joints(carriers, body) for body in (one, other)]
    return [joint for name, joint in (ways[0] | ways[1]).items() if (name in ways[0]) != (name in ways[1])]


def _carrying(mechanism: Mechanism, loop: Loop, child: str) -> Iterator[Joint]:
    """The loop's joint as a joint of the tree with the child `child`, one of its two bodies.

    A joint's child frame is its body's frame; where the loop's frame differs, a massless body is inserted.
    """
    there = child
    place = loop.pose_b if child == loop.body_b else loop.pose_a
    if not place.almost_equal(Transform(), 0.0):
        there = _new_body(f"{child}_at_{loop.name}", mechanism)
        yield Joint(f"{there}_fixed", KINDS["fixed"], there, child, place.inverse().dense())
    shared = {key: getattr(loop, key) for key in _SHARED}
    if child == loop.body_b:
        yield Joint(parent=loop.body_a, child=there, pose=loop.pose_a, **shared)
    else:
        onward = Joint(parent=there, child=loop.body_b, **shared)
        yield from (replace(back, pose=loop.pose_b) for back in turned_round(mechanism, onward))
