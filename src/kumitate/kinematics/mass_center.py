"""The center of mass of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import Link, Tree, inward
from ..scalar import Scalar, floats, is_zero
from ..spatial import Inertia


def total_mass(tree: Tree) -> Any:
    """The mass of all moving links [kg], without bodies fixed to the world.

    Raises:
        InputError: for a base-parameter tree.
    """
    tree.check_physical("total_mass")
    masses = [link.inertia.mass for link in tree.links]
    return sum(floats(masses)) if all(isinstance(mass, float | int) for mass in masses) else sum(masses, 0.0)


def center_of_mass(tree: Tree, q: Sequence[Scalar]) -> list[Scalar]:
    """The center of mass of all moving links, in the world [m] (3); the origin if the total mass is zero.

    Raises:
        InputError: for a base-parameter tree.
    """
    tree.check_physical("center_of_mass")

    def compose(link: Link, children: list[tuple[Inertia, Inertia]]) -> tuple[Inertia, Inertia]:
        # only the first moments are used: the rotational part is removed as dead code
        composite = link.inertia
        for _, child in children:
            composite = composite + child
        return composite, composite.to_parent(link.pose(q))

    composites = inward(tree, compose)
    whole = Inertia()
    for link in tree.children(-1):
        whole = whole + composites[link][1]
    mass = total_mass(tree)
    return [0.0 if is_zero(mass) else part / mass for part in whole.first_moment]
