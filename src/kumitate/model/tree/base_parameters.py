"""Base parameters: the same equations of motion with fewer numbers, by moving inertia across joints.

A thin rod along the axis of a revolute joint moves the same whether it belongs to the joint's child or to its parent. From
every child the rod is taken that makes its mass, its first moment along the axis and one of its transverse inertias zero
(Gautier and Khalil, Direct calculation of minimum set of inertial parameters of serial robots, IEEE Trans. Robotics and
Automation 6(3), 1990: the remaining ones are the base parameters). The inertia of a link then need not be physical: masses may
be zero and inertias negative. Generalised forces, accelerations and kinetic energies stay the same. Forces that joints
transmit, masses, centers of mass and spatial momenta change, so the tree is a type of its own, which pages that need those
refuse.
"""

from __future__ import annotations

from dataclasses import replace

from ...errors import InputError
from ...scalar import Scalar, floats
from ...spatial import Inertia
from .tree import WORLD_LINK, Tree

#: Differences below this fraction of a number count as zero.
_ROUNDING = 4e-16


class BaseParameterTree(Tree):
    """A tree with the same motion as a mechanism's, whose links do not have the inertias of their bodies."""

    def check_physical(self, purpose: str) -> None:
        raise InputError(
            f"{purpose}: the tree is a base-parameter tree, which moves like the mechanism but whose links do not have the "
            "inertias of their bodies. Give Mechanism.tree"
        )


def base_parameter_tree(tree: Tree) -> BaseParameterTree:
    """The tree with each link's inertia moved inward as far as its joint allows."""
    inertias = [link.inertia for link in tree.links]
    for link in reversed(tree.links):
        movable = link.kind.movable_inertia(inertias[link.index])
        inertias[link.index] = _difference(inertias[link.index], movable)
        if link.parent != WORLD_LINK:  # the parent is the world, which does not move
            inertias[link.parent] = inertias[link.parent] + movable.to_parent(link.placement)
    links = tuple(replace(link, inertia=inertia) for link, inertia in zip(tree.links, inertias, strict=True))
    return BaseParameterTree(links, tree.places, tree.nq, tree.nv, tree.chords, tree.gears, tree.mass, tree.size)


def _difference(a: Inertia, b: Inertia) -> Inertia:
    def minus(whole: Scalar, part: Scalar) -> float:
        x, y = floats((whole, part))
        return 0.0 if abs(x - y) <= _ROUNDING * abs(x) else x - y

    moment, rotational = type(a.first_moment), type(a.rotational)
    return Inertia(
        minus(a.mass, b.mass),
        moment(*(minus(x, y) for x, y in zip(a.first_moment, b.first_moment, strict=True))),
        rotational(*(minus(getattr(a.rotational, key), getattr(b.rotational, key)) for key in rotational.__slots__)),
    )
