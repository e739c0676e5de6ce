"""The force at every joint of a tree, from articulated bodies (thesis eq. 2.23)."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Tree
from ..scalar import Scalar
from ..spatial import Force
from .aba import accelerations, articulated
from .acting import Acting
from .motion import link_motions


def joint_forces(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    acting: Acting,
) -> list[Force]:
    """The force that every joint exerts on the link it carries, in the link's frame and about its origin (2.23).

    Arguments as for `aba`.

    Raises:
        InputError: for a base-parameter tree, in which joints transmit other forces; or as for `Acting.at_an_instant`.
    """
    tree.check_physical("joint_forces")
    motions = link_motions(tree, q, v)
    handles = articulated(tree, motions, q, v, tau, acting.at_an_instant("joint_forces"))
    moved = accelerations(tree, motions, lambda link: handles[link].releases, acting.gravity)
    return [handles[link].whole.force(moved[link][0]) for link in tree.links]
