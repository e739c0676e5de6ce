"""The force at every joint of a tree, from its articulated bodies (thesis eq. 2.23)."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Tree
from ..scalar import Scalar
from ..spatial import Force
from .aba import accelerations, articulated
from .motion import link_motions
from .wrenches import Applied

__all__ = ["joint_forces"]


def joint_forces(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Applied | None = None,
) -> list[Force]:
    """The force that every joint exerts on the link it carries, in the link's frame and about its origin (2.23).

    Arguments as of `aba`. The tree must be the true one: moving inertia inwards (`Mechanism.lean_tree`) changes what joints
    transmit.
    """
    motions = link_motions(tree, q, v)
    handles = articulated(tree, motions, q, v, tau, wrenches=wrenches, implicit_step=0.0)
    moved = accelerations(tree, motions, lambda link: handles[link].releases, gravity)
    return [handles[link].whole.force(moved[link][0]) for link in tree.links]
