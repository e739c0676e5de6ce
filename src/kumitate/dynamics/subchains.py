"""Sub-chains: a tree split into them, and each as an articulated body by its joint-space equations (thesis 4.2-4.9; 4.14-4.20).

V̇ of the first link of a free sub-chain is one of its unknowns; M and c of (4.2) are computed by the algorithms for whole trees.
M is eliminated from the tips inward, M = Lᵀ D⁻¹ L in the order of the tree; Φ = (L⁻ᵀJᵀ)ᵀ D (L⁻ᵀJᵀ) is then (4.7) or (4.19), and
the same factors give the accelerations once the forces at handles are known (4.9, 4.32, 4.33). (4.14-4.20) are of those on the
ground.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ..errors import InputError, ModelError
from ..model import Link, PerLink, Tree, inward, outward
from ..model.tree.base_parameters import base_parameter_tree, with_dh_frames
from ..model.tree.subchains import Part, Partition, Subchain, parted, parts_by_cuts, parts_by_names
from ..scalar import Scalar, Scalars, table
from ..spatial import Dense, Factors, Force, Inertia, InverseInertia, Motion, Symmetric3, Vector3, dot
from .acting import LinkForces
from .assembly.connection import WORLD, Bodies, connected_links, loop_closers
from .assembly.initial import Prepared, prepared
from .assembly.order import assembly_order
from .crba import crba
from .motion import LinkMotion, acceleration, falling, link_motions
from .rnea import rnea


@dataclass(frozen=True)
class JointSpace:
    """The factored equations of a sub-chain at a state, by its own link indices. Rows run from the tips to the first link.

    Attributes:
        factors: of M.
        driven: L⁻¹ (τ − c − g).
        reaches: L⁻¹ Jᵀ of every handle, one row per velocity.
        Phi, B, between: of the body (4.7, 4.8), as in `Bodies`.
    """

    factors: Factors
    driven: tuple[Scalar, ...]
    reaches: dict[int, Dense]
    Phi: dict[int, InverseInertia]
    B: dict[int, Motion]
    between: dict[int, dict[int, Dense]]


def joint_space(
    subchain: Subchain, q: Scalars, v: Scalars, tau: Scalars, pushed: Sequence[Force], gravity: Scalars
) -> JointSpace:
    """The equations of a sub-chain.

    Args:
        q, v, tau: its own; in a free sub-chain, v begins with [ω; 0] of its first link, and tau with six zeros.
        pushed: the force on every link apart from the sub-chain's own drives, in its frame and about its origin.
        gravity: for a sub-chain on the ground; zero for a free one, whose V̇ is relative to free fall.
    """
    tree = subchain.tree
    motions, still = link_motions(tree, q, v), table([0.0] * tree.nv)
    bias = rnea(tree, q, v, still, gravity=gravity, wrenches=LinkForces(dict(enumerate(pushed))))  # c + g of (4.2)
    backward = [row[::-1] for row in crba(tree, q)][::-1]
    factors = Factors.of(Dense.of(backward))
    driven = _eliminated(factors, [t - h for t, h in zip(tau, bias, strict=True)][::-1])

    def carry(link: Any, carrier: Motion) -> Motion:
        return acceleration(motions[link], carrier, link.velocities(still))

    swept = outward(tree, carry, falling(gravity))  # J̇ q̇ and free fall
    reaches = {}
    for handle in subchain.handles:
        columns = _jacobian(tree, motions, handle)  # of (4.3), (4.15)
        rows = [[column[axis] for column in reversed(columns)] for axis in range(6)]
        reaches[handle] = Dense.of(_eliminated(factors, row) for row in rows).T
    Phi, B = {}, {}
    between: dict[int, dict[int, Dense]] = {i: {} for i in reaches}
    for i, reach in reaches.items():
        scaled = Dense.of([x * d for x in row] for row, d in zip(reach.rows, factors.D, strict=True)).T
        Phi[i] = InverseInertia.of((scaled @ reach).rows)
        B[i] = swept[tree.links[i]] + Motion.of([dot(row, driven) for row in scaled.rows])
        for k in (k for k in reaches if k > i):
            between[i][k] = scaled @ reaches[k]
            between[k][i] = between[i][k].T
    return JointSpace(factors, tuple(driven), reaches, Phi, B, between)


def rates(factors: Factors, driven: Scalars, reaches: Sequence[Dense], forces: Sequence[Force]) -> list[Scalar]:
    """[V̇; q̈] of a free sub-chain, or q̈ of a grounded one, from the forces at its handles (4.9, 4.32, 4.33)."""
    left = list(driven)
    for reach, force in zip(reaches, forces, strict=True):
        left = [a + b for a, b in zip(left, (reach @ Dense.column(force)).entries(), strict=True)]
    x: list[Scalar] = []  # from the last row up, which is the order of v
    for i in reversed(range(len(left))):
        below = sum((factors.L[j][i] * other for j, other in zip(reversed(range(i + 1, len(left))), x, strict=True)), 0.0)
        x.append(left[i] * factors.D[i] - below)
    return x


def _jacobian(tree: Tree, motions: PerLink[LinkMotion], handle: int) -> list[Motion]:
    """The columns of the Jacobian of a link, in its own axes and at its origin."""
    columns = [Motion()] * tree.nv
    moved: list[int] = []
    for link in reversed(tree.ancestors(handle)):
        X_PL, S = motions[link].X_PL, motions[link].S
        for i in moved:
            columns[i] = columns[i].to_child(X_PL)
        columns[link.v_start : link.v_start + len(S)] = S
        moved += range(link.v_start, link.v_start + len(S))
    return columns


def _eliminated(factors: Factors, b: Scalars) -> list[Scalar]:
    """L⁻¹ b."""
    x: list[Scalar] = []
    for value, row in zip(b, factors.L, strict=True):
        x.append(value - sum((factor * other for factor, other in zip(row, x, strict=True)), 0.0))
    return x


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


def side_by_side(parts: Sequence[Part], equations: Sequence[JointSpace], gravity: Scalars) -> Bodies:
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
    parted: Parted, part: Part, state: tuple[Any, Any, Any], omega: Vector3, pushed: Sequence[Force], gravity: Scalars
) -> tuple[SubchainPage, tuple[Any, ...]]:
    """A sub-chain's page and its arguments at a state (q, v, tau).

    `omega`: of its first link; `pushed`: the forces on all links of the tree.
    """
    (q, v, tau), links, subchain = state, parted.ready.tree.links, part.subchain
    own_v, own_tau, falls = part.velocities(links, v), part.velocities(links, tau), tuple(gravity)
    if not subchain.grounded:
        own_v, own_tau, falls = (*omega, 0.0, 0.0, 0.0, *own_v), (*[0.0] * 6, *own_tau), (0.0, 0.0, 0.0)
    forces = tuple(pushed[index] for index in part.members)
    return SubchainPage(subchain.shape), (subchain.numbers, part.coordinates(links, q), own_v, own_tau, forces, falls)


# --- the partition with the fewest operations -----------------------------------------------------------------------------
# A partition is the set of joints between sub-chains, its cuts. Branches and sub-chains of equal size are tried first; the best
# partition is then changed cut by cut as long as that reduces the count.


#: How many partitions are counted, for small trees and for those with more than `LARGEST` links, which cost more to trace.
BUDGET, FEW = 24, 6
#: Sub-chains with more links are not tried: the number of operations is cubic in the number of links.
LARGEST = 30

Parts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Trial:
    """A partition that was tried: its sub-chains by the indices of their links, and the number of operations.

    `operations` is infinite where a sub-chain has no inverse inertia.
    """

    parts: Parts
    operations: float


def chosen_parts(tree: Tree, partition: Partition | str, count: Callable[[Tree, Parts], int]) -> Parts:
    """The sub-chains of a partition, by the indices of their links; "auto": those with the fewest operations.

    Raises:
        InputError: for a word other than "auto"; ModelError: for an invalid partition.
    """
    if not isinstance(partition, str):
        return parts_by_names(tree, partition)
    if partition != "auto":
        raise InputError(f'there is no partition {partition!r}; give "auto", or one sequence of joints per sub-chain')
    return min(tried_partitions(tree, count), key=lambda trial: (trial.operations, len(trial.parts))).parts


def tried_partitions(tree: Tree, count: Callable[[Tree, Parts], int], budget: int | None = None) -> tuple[Trial, ...]:
    """Partitions and their operations, in the order they were tried."""
    found: dict[frozenset[int], float] = {}
    budget = budget or (BUDGET if len(tree.links) <= LARGEST else FEW)

    def tried(cuts: frozenset[int]) -> float:
        if cuts not in found:
            found[cuts] = math.inf
            with suppress(ModelError):  # the whole tree as one sub-chain is always valid
                found[cuts] = count(tree, parts_by_cuts(tree, cuts))
        return found[cuts]

    for cuts in _like_sizes(tree):
        if len(found) < budget:
            tried(cuts)
    if all(operations == math.inf for operations in found.values()):
        tried(frozenset())
    best = min(found, key=lambda cuts: (found[cuts], len(cuts)))
    while True:
        nearby = [cuts for cuts in _changed(tree, best) if cuts not in found][: max(0, budget - len(found))]
        better = [cuts for cuts in nearby if tried(cuts) < found[best]]
        if not better:
            return tuple(Trial(parts_by_cuts(tree, cuts), operations) for cuts, operations in found.items())
        best = min(better, key=lambda cuts: found[cuts])


def _like_sizes(tree: Tree) -> Iterator[frozenset[int]]:
    """The whole tree; branches; sub-chains of half of the links, …, 6, 4, 3, 2, counted from the world and from the tips."""
    n, depths = len(tree.links), outward(tree, lambda link, above: above + 1, -1)
    inner = frozenset(link.index for link in tree.links) - {link.index for link in tree.children(-1)}
    forked = {child.index for link in tree.links if len(tree.children(link.index)) > 1 for child in tree.children(link.index)}
    yield from [frozenset(), frozenset(forked)] if n <= LARGEST else [frozenset(forked)] if forked else []
    sizes = {(n + 1) // 2, *(s for s in (2, 3, 4, 6, 8, 12, 16, 24) if s < n)} if n <= LARGEST else {2, 4, 8}
    for size in sorted(sizes, reverse=True):
        yield frozenset(link.index for link in tree.links if depths[link] % size == 0) & inner
        yield frozenset(_filled(tree, size)) & inner


def _filled(tree: Tree, size: int) -> list[int]:
    """Cuts where at least `size` links are together, counted from the tips inward."""

    def together(link: Link, children: list[int]) -> int:
        return 1 + sum(count for count in children if count < size)

    counts = inward(tree, together)
    return [link.index for link in tree.links if counts[link] >= size]


def _changed(tree: Tree, cuts: frozenset[int]) -> Iterator[frozenset[int]]:
    """Each cut moved by a link outward or inward; each sub-chain cut in the middle; each cut left out."""
    inner = {child.index: link for link in tree.links for child in tree.children(link.index)}
    for cut in sorted(cuts):
        for other in (inner[cut].index, *(child.index for child in tree.children(cut))):
            if other in inner:
                yield cuts - {cut} | {other}
    for part in sorted(parts_by_cuts(tree, cuts), key=len, reverse=True):
        if len(part) > 1:
            yield cuts | {part[len(part) // 2]}
    for cut in sorted(cuts):
        yield cuts - {cut}
