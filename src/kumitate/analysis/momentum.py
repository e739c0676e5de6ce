"""Momenta of a mechanism (thesis 5.2, momentum)."""

from __future__ import annotations

from collections.abc import Sequence

from ..kinematics import link_poses, link_twists
from ..model import Tree
from ..scalar import Scalar
from ..spatial import Force


def momentum(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """[l; p] (6): angular momentum about the world's origin [kg·m²/s] and linear momentum [kg·m/s], in the world's axes.

    Raises:
        InputError: for a base-parameter tree.
    """
    tree.check_physical("momentum")
    poses, twists = link_poses(tree, q), link_twists(tree, q, v)
    total = Force()
    for link in tree.links:
        total = total + link.inertia.times(twists[link]).to_parent(poses[link])
    return list(total)
