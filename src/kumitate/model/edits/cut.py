"""A part of a mechanism as a mechanism of its own."""

from __future__ import annotations

from dataclasses import replace

from ...errors import warn
from ...spatial import Transform
from ..elements import Joint, fitting
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism
from .standing import behind, standing


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
    name, taken = f"{kind}_base", {item.name for item in mechanism.joints} | {loop.name for loop in loops}
    while name in taken - {joint}:
        name += "_"
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
