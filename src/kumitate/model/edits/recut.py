"""Other trees of the same mechanism: with another root, with loops in the tree, with a loop cut at another joint."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, replace

import numpy as np

from ...errors import ModelError
from ...spatial import Transform
from ..elements import Body, Joint, Loop, fitting
from ..joints import KINDS, JointKind
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
    opened = next((item for item in mechanism.loops if item.name == loop), None)
    if opened is None:
        known = ", ".join(item.name for item in mechanism.loops) or "none"
        raise ModelError(f"{mechanism.name}: there is no loop {loop!r}; there are {known}")
    cut = mechanism.joint(joint)
    if (loop, joint) not in recuts(mechanism):
        ways = ", ".join(name for other, name in recuts(mechanism) if other == loop) or "none"
        raise ModelError(f"{mechanism.name}: loop {loop!r} cannot be cut at joint {joint!r}; it can at these joints: {ways}")
    coupled = next((item.name for item in mechanism.couplings if joint in (item.joint, item.of)), None)
    if coupled is not None:
        raise ModelError(f"{mechanism.name}: joint {joint!r} is tied by the coupling {coupled!r}; cut the loop elsewhere")
    carriers = {item.child: item for item in mechanism.joints}
    near = next(end for end in (opened.body_b, opened.body_a) if joint in _inward(carriers, end))
    way = list(_inward(carriers, near).values())
    turned = way[: way.index(cut)]
    rest = (item for item in mechanism.joints if item is not cut and item not in turned)
    joints = (*rest, *_carrying(mechanism, opened, near), *(part for item in turned for part in turned_round(mechanism, item)))
    known_bodies = {item.name for item in mechanism.bodies}
    between = (Body(item.child) for item in joints if item.child not in known_bodies)
    closed = Loop(body_a=cut.parent, body_b=cut.child, pose_a=cut.pose, **{key: getattr(cut, key) for key in _SHARED})
    loops = tuple(closed if item is opened else item for item in mechanism.loops)
    starts = fitting(mechanism.starts, (item for item in mechanism.joints if item is not cut and item not in turned))
    return replace(mechanism, joints=joints, bodies=(*mechanism.bodies, *between), loops=loops, starts=starts)


def recuts(mechanism: Mechanism) -> list[tuple[str, str]]:
    """The names of all loops that are closed by joints, each with all moving joints at which it can be cut instead."""
    carriers = {item.child: item for item in mechanism.joints}
    found = []
    for loop in mechanism.loops:
        if isinstance(loop.kind, JointKind):
            one, other = (_inward(carriers, end) for end in (loop.body_b, loop.body_a))
            found += [
                (loop.name, name)
                for name, item in {**one, **other}.items()
                if (name in one) != (name in other) and item.kind.nv
            ]
    return found


def _inward(carriers: Mapping[str, Joint], body: str) -> dict[str, Joint]:
    """The joints from a body to the world, by name."""
    way = {}
    while body != WORLD:
        way[carriers[body].name] = carriers[body]
        body = carriers[body].parent
    return way


def _carrying(mechanism: Mechanism, loop: Loop, child: str) -> Iterator[Joint]:
    """The loop's joint as a joint of the tree with the child `child`, one of its two bodies.

    A joint's child frame is its body's frame; where the loop's frame differs, a massless body is inserted.
    """
    there = child
    place = loop.pose_b if child == loop.body_b else loop.pose_a
    if not place.almost_equal(Transform(), 0.0):
        there = free_name(f"{child}_at_{loop.name}", mechanism)
        yield Joint(f"{there}_fixed", KINDS["fixed"], there, child, place.inverse().dense())
    shared = {key: getattr(loop, key) for key in _SHARED}
    if child == loop.body_b:
        yield Joint(parent=loop.body_a, child=there, pose=loop.pose_a, **shared)
    else:
        onward = Joint(parent=there, child=loop.body_b, **shared)
        yield from (replace(back, pose=loop.pose_b) for back in turned_round(mechanism, onward))
