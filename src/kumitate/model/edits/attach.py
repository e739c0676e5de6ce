"""One mechanism from two, and a part of a mechanism as one of its own."""

from __future__ import annotations

from dataclasses import replace

from ...errors import ModelError, warn
from ...spatial import Transform
from ..elements import Joint, NamedState, fitting
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism, free_name
from ..values import checked_pose


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

    def named(name: str) -> str:
        return body if name == WORLD else prefix + name

    def placed(name: str, X: Transform) -> Transform:
        return mount @ X if name == WORLD else X

    _check_names(mechanism, other, prefix)
    bodies = tuple(replace(item, name=named(item.name)) for item in other.bodies)
    joints = tuple(
        replace(j, name=prefix + j.name, parent=named(j.parent), child=named(j.child), pose=placed(j.parent, j.pose))
        for j in other.joints
    )
    loops = tuple(
        replace(
            loop, name=prefix + loop.name, body_a=named(loop.body_a), body_b=named(loop.body_b),
            pose_a=placed(loop.body_a, loop.pose_a), pose_b=placed(loop.body_b, loop.pose_b),
        )
        for loop in other.loops
    )  # fmt: skip
    frames = tuple(
        replace(frame, name=prefix + frame.name, body=named(frame.body), pose=placed(frame.body, frame.pose))
        for frame in other.frames
    )
    couplings = tuple(
        replace(item, name=prefix + item.name, joint=prefix + item.joint, of=prefix + item.of) for item in other.couplings
    )
    starts = tuple(
        NamedState(prefix + item.name, *(tuple((prefix + name, x) for name, x in part) for part in (item.q, item.v)))
        for item in other.starts
    )
    apart = tuple((named(one), named(two)) for one, two in other.no_contact)
    return replace(
        mechanism, bodies=(*mechanism.bodies, *bodies), joints=(*mechanism.joints, *joints),
        loops=(*mechanism.loops, *loops), frames=(*mechanism.frames, *frames),
        couplings=(*mechanism.couplings, *couplings), faults=(*mechanism.faults, *other.faults),
        starts=(*mechanism.starts, *starts), no_contact=(*mechanism.no_contact, *apart),
    )  # fmt: skip


def merge(mechanism: Mechanism, other: Mechanism, pose: Transform | None = None, *, prefix: str = "") -> Mechanism:
    """The two mechanisms in one world, the other one's world at `pose` in the first's; see `attach`."""
    return attach(mechanism, other, WORLD, pose, prefix=prefix)


def _check_names(mechanism: Mechanism, other: Mechanism, prefix: str) -> None:
    for what, groups in (
        ("joint", ("joints", "loops")),
        ("body or frame", ("bodies", "frames")),
        ("coupling", ("couplings",)),
        ("start", ("starts",)),
    ):
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
    return replace(
        mechanism,
        name=f"{mechanism.name}_{root}",
        bodies=tuple(body for body in mechanism.bodies if body.name in kept),
        joints=(base, *joints),
        loops=loops,
        couplings=couplings,
        frames=tuple(frame for frame in mechanism.frames if frame.body in kept),
        starts=fitting(mechanism.starts, joints),
        no_contact=tuple(pair for pair in mechanism.no_contact if set(pair) <= kept),
    )
