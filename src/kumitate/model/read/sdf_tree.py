"""The choice of the joints that form the tree; the others close loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..mechanism import WORLD
from .sdf_joint import SdfJoint


@dataclass
class SpanningTree:
    """A tree over all links: its joints outward, the joints that close loops, and the root links."""

    joints: list[SdfJoint] = field(default_factory=list)
    loops: list[SdfJoint] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    #: joints of the tree that run from the file's child to the file's parent
    turned: list[SdfJoint] = field(default_factory=list)


def spanning_tree(links: Sequence[str], joints: Sequence[SdfJoint], first: str | None) -> SpanningTree:
    """Breadth first from the world and from each root, in the file's order: the first joint that names a child is its joint.

    A link that is not a child is attached by one of its own joints, reversed, if that leads to links that are in the tree
    already; otherwise it is a root, `first` before all others.
    """
    tree = SpanningTree()
    carried = {WORLD}
    children = {joint.child for joint in joints}
    outward: dict[str, list[SdfJoint]] = {}
    for joint in joints:
        outward.setdefault(joint.parent, []).append(joint)

    def grow(start: str) -> None:
        carried.add(start)
        waiting = [start]
        for body in waiting:
            for joint in outward.get(body, ()):
                if joint.child not in carried:
                    carried.add(joint.child)
                    tree.joints.append(joint)
                    waiting.append(joint.child)

    grow(WORLD)
    candidates = [link for link in links if link not in children]
    if first in candidates:
        candidates = [first, *candidates]  # type: ignore[list-item]
    while True:
        inward = next((joint for joint in joints if joint.child in carried and joint.parent not in carried), None)
        root = next((link for link in [*candidates, *links] if link not in carried), None)
        if inward is not None:
            tree.joints.append(inward.backward())
            tree.turned.append(inward)
            grow(inward.parent)
        elif root is not None:
            tree.roots.append(root)
            grow(root)
        else:
            break
    used = {joint.key for joint in tree.joints}
    tree.loops.extend(joint for joint in joints if joint.key not in used)
    return tree
