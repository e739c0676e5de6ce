"""The same mechanism with one of its loops cut at another joint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace

from ...errors import ModelError
from ...spatial import Transform
from ..elements import Body, Joint, Loop, fitting
from ..joints import KINDS, JointKind
from ..mechanism import WORLD, Mechanism
from .reroot import free_name, turned_round

#: The properties that joints and loops have in common, apart from bodies and poses.
_SHARED = {item.name for item in fields(Joint)} & {item.name for item in fields(Loop)}


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
