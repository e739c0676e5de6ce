"""A tree split into sub-chains and prepared for their equations, and the sub-chains as a set of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ...model import Tree
from ...model.tree.base_parameters import base_parameter_tree
from ...model.tree.dh_frames import with_dh_frames
from ...model.tree.subchains import Part, Subchain, parted
from ...scalar import Scalar
from ...spatial import Force, Inertia, InverseInertia, Symmetric3, Vector3
from ..assembly.bodies import Bodies
from ..assembly.central_tree import Prepared, prepared
from ..assembly.connectivity import WORLD, connected_links, loop_closers
from ..assembly.order import assembly_order
from ..motion import falling
from .joint_space import JointSpace, joint_space

_SPHERE = Inertia(1.0, rotational=Symmetric3.diagonal(1.0, 1.0, 1.0))


@dataclass(frozen=True)
class Parted:
    """An equivalent tree with simpler constants, and its sub-chains: the same motion, but other frames and joint forces.

    Attributes:
        ready: the prepared tree; handles are at the links' origins.
        parts: the sub-chains.
        between: the joints between sub-chains, by the index of the link that each carries.
        order: the order in which these, the chords and the gears are assembled, numbered as in `assembly.order`.
        closers: those of them that close loops.
    """

    ready: Prepared
    parts: tuple[Part, ...]
    between: tuple[int, ...]
    order: tuple[int, ...]
    closers: frozenset[int]


@lru_cache(maxsize=64)
def parted_tree(tree: Tree, parts: tuple[tuple[int, ...], ...]) -> Parted:
    """The tree split into these sub-chains.

    Raises:
        ModelError: if there are free sub-chains, and a link has an inertia without an inverse and moving inertia across its
            joints does not give it one.
    """
    between = tuple(part.root for part in parted(tree, parts) if not part.subchain.grounded)
    if between:
        # if the inertia of every link is invertible, so is that of every sub-chain, in every posture
        ready = prepared(tree)
    else:  # all sub-chains are on the ground: only frames are moved, which does not depend on inertias
        sturdy = tuple(replace(link, inertia=_SPHERE) for link in tree.links)
        ready = replace(prepared(replace(tree, links=sturdy)), tree=with_dh_frames(tree))
    ready = replace(ready, centers=dict.fromkeys(ready.centers, Vector3()))
    fewer = tuple(
        replace(part, subchain=replace(part.subchain, tree=base_parameter_tree(part.subchain.tree)))
        for part in parted(ready.tree, parts)
    )
    inner = [link.index for link in tree.links if link.index not in between]
    held = connected_links(tree)
    order = tuple(j for j in assembly_order(tree) if held[j] and j not in inner)
    return Parted(ready, fewer, between, order, frozenset(loop_closers(tree, [*inner, *order])) & set(order))


def side_by_side(parts: Sequence[Part], equations: Sequence[JointSpace], gravity: Sequence[Scalar]) -> Bodies:
    """The sub-chains as articulated bodies, by the indices of the whole tree, and the world."""
    bodies = Bodies({WORLD: InverseInertia.immovable()}, {WORLD: falling(gravity)}, {})
    for part, own in zip(parts, equations, strict=True):
        named = part.members
        bodies = Bodies(
            {**bodies.Phi, **{named[i]: Phi for i, Phi in own.Phi.items()}},
            {**bodies.B, **{named[i]: B for i, B in own.B.items()}},
            {**bodies.between, **{named[i]: {named[k]: x for k, x in row.items()} for i, row in own.between.items()}},
        )
    return bodies


@dataclass(frozen=True)
class SubchainPage:
    """The page of a sub-chain's equations, shared by all sub-chains of the same shape."""

    shape: Subchain

    def __call__(self, numbers: Any, *state: Any) -> JointSpace:
        return joint_space(self.shape.with_numbers(numbers), *state)


def subchain_call(
    parted: Parted, part: Part, q: Any, v: Any, tau: Any, omega: Vector3, pushed: Sequence[Force], gravity: Sequence[Scalar]
) -> tuple[SubchainPage, tuple[Any, ...]]:  # fmt: skip
    """A sub-chain's page and its arguments; `omega`: of its first link, `pushed`: the forces on all links of the tree."""
    links, subchain = parted.ready.tree.links, part.subchain
    own_v, own_tau, falls = part.velocities(links, v), part.velocities(links, tau), tuple(gravity)
    if not subchain.grounded:
        own_v, own_tau, falls = (*omega, 0.0, 0.0, 0.0, *own_v), (*[0.0] * 6, *own_tau), (0.0, 0.0, 0.0)
    forces = tuple(pushed[index] for index in part.members)
    return SubchainPage(subchain.shape), (subchain.numbers, part.coordinates(links, q), own_v, own_tau, forces, falls)
