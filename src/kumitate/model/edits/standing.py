"""Poses of bodies at neutral coordinates, and the descendants of a body."""

from __future__ import annotations

from ...spatial import Transform
from ..mechanism import WORLD, Mechanism


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
