"""The same equations of motion with invertible inertias, by moving inertia across joints where this has no effect on them.

Point masses and thin rods have singular inertias, for which methods that start from inverse inertias (ADA, DCA) do not work.
Light links between heavy ones have inverses so large that those of the heavy ones are lost by rounding. No inertia is added;
the opposite of `base_parameters` is done: an inertia that moves the same whether it belongs to a joint's child or to its
parent (`JointKind.movable_inertia`) is added to the child and subtracted from the parent, or the other way round; the world
can give any amount. Accelerations and generalised forces do not change. The force that a joint transmits changes by the force
that moves this inertia, which `RegularizedTree.lent` contains.

The sizes of these pieces are found by convex optimization. With M_i(x) the links' 6×6 inertias after moving pieces of sizes x,
in units of the mean link, Σ log det M_i − tr M_i is concave, has one maximum and is finite only where every M_i has an
inverse; Newton's method finds it, starting where M_i + t·1 is positive for the least possible t. If no sizes suffice, that t
is not below zero.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import ModelError
from ...scalar import floats
from ...spatial import Inertia, Symmetric3, Transform, Vector3
from ..joints.contract import basis_motions
from .tree import WORLD_LINK, Tree

#: A link this much lighter than links on two sides of it costs four digits in methods that start from inverse inertias.
_LIGHT = 1e-4


def light_between_heavy(tree: Tree) -> list[list[int]]:
    """The links that are much lighter than links on at least two sides of them, in connected groups.

    A side is everything connected to the link by one of its joints, or by chords. The world is the heaviest side, if a joint
    connects the link to it.
    """
    sides: dict[int, list[float]] = defaultdict(list)  # for every link, the heaviest link on each side
    behind = floats(link.inertia.mass for link in tree.links)  # the heaviest of a link and its descendants
    for link in reversed(tree.links):
        if link.parent != WORLD_LINK:
            sides[link.parent].append(behind[link.index])
            behind[link.parent] = max(behind[link.parent], behind[link.index])
    before = [0.0] * len(tree.links)  # the heaviest on the side of the link's parent
    for link in tree.links:
        if link.parent == WORLD_LINK:
            before[link.index] = math.inf if link.kind.rows else 0.0
        else:
            outward = list(sides[link.parent])  # not yet with the inward side of the parent
            outward.remove(behind[link.index])
            before[link.index] = max(before[link.parent], float(tree.links[link.parent].inertia.mass), *outward, 0.0)
    for chord in tree.chords:
        for index in (chord.base.link, chord.follower.link):
            sides[index].append(max(behind, default=0.0))
    light = [
        link.index
        for link in tree.links
        if link.inertia.mass < _LIGHT * ([0.0, 0.0, *sorted([*sides[link.index], before[link.index]])][-2])
    ]
    groups: dict[int, list[int]] = {}
    for index in light:
        groups[index] = groups.get(tree.links[index].parent, [])
        groups[index].append(index)
    return [group for index, group in groups.items() if group[0] == index]


#: An inertia has no inverse if its smallest eigenvalue, measured by its own diagonal, is below this.
_SINGULAR = 1e-12
#: The same bound for links that gave or received inertia, in units of the mean link.
_ENOUGH = 1e-8
_NEWTON_STEPS = 100
#: The bound for light links between heavy ones, in the same units; lighter ones cost digits.
_HEAVY_ENOUGH = 1e-6
#: The largest product of pieces and links in one search: some 300 links in a row, which take minutes.
_MOST_CHANGES = 200_000
#: Radius of gyration of a mean link, squared, in units of its length.
_GYRATION = 1.0 / 12.0


@dataclass(frozen=True)
class RegularizedTree:
    """The tree, and the pieces placed on links and taken from their parents, by the link's index, in its frame.

    `frail`: the joints of light links between heavy ones that could not be given enough inertia.
    """

    tree: Tree
    lent: dict[int, Inertia]
    frail: tuple[str, ...] = ()


def with_regular_inertias(tree: Tree) -> RegularizedTree:
    """The tree with inertia moved only for links with singular inertias and for light links between heavy ones.

    It is the tree itself if there are no such links. A `ModelError` names a link's joint if none can give it what it lacks.
    """
    regular, frail = _with_inverses(tree), []
    for group in light_between_heavy(regular.tree):
        lenders = [link.index for link in tree.links if link.index in group or link.parent in group]
        lent = _pieces(regular.tree, lenders, must=False)
        if lent is None:
            frail += [tree.links[index].name for index in group]
        else:
            both = {i: regular.lent.get(i, Inertia()) + lent.get(i, Inertia()) for i in {*regular.lent, *lent}}
            regular = RegularizedTree(_moved(regular.tree, lent), both)
    return replace(regular, frail=tuple(frail))


def _with_inverses(tree: Tree) -> RegularizedTree:
    """The tree with inertia moved for links with singular inertias."""
    lacking = [link.index for link in tree.links if _regularity(link.inertia) < _SINGULAR]
    if not lacking:
        return RegularizedTree(tree, {})
    lenders: set[int] = set()
    more = set(lacking)  # the joints that move inertia: a link's own, then those around, and so on
    while more - lenders:
        lenders |= more
        lent = _pieces(tree, sorted(lenders), must=True)
        if lent is not None:
            return RegularizedTree(_moved(tree, lent), lent)
        around = {link.index for link in tree.links if link.index in lenders or link.parent in lenders}
        more = around | {tree.links[index].parent for index in around} - {WORLD_LINK}
    worst = tree.links[min(lacking, key=lambda index: _regularity(tree.links[index].inertia))]
    raise ModelError(
        f"joint {worst.name!r} carries a link whose inertia has no inverse (a point, a thin rod, or no mass), and no joint "
        "can lend it what it lacks, so that assembling by inverse inertias has nothing to start from; use method='aba', or "
        "give the link a small inertia about every axis"
    )


def _moved(tree: Tree, lent: dict[int, Inertia]) -> Tree:
    """The tree with these pieces added to links and subtracted from their parents."""
    inertias = [link.inertia for link in tree.links]
    for index, piece in lent.items():
        link = tree.links[index]
        inertias[index] = inertias[index] + piece
        if link.parent != WORLD_LINK:
            inertias[link.parent] = inertias[link.parent] + _times(piece.to_parent(link.placement), -1.0)
    return replace(tree, links=tuple(replace(link, inertia=own) for link, own in zip(tree.links, inertias, strict=True)))


def _pieces(tree: Tree, lenders: Sequence[int], *, must: bool) -> dict[int, Inertia] | None:
    """The inertias moved across these joints that make all their links invertible; None if there are none.

    `must`: there are singular inertias among them; otherwise all are invertible, and should become heavier.
    """
    mass = tree.mass / len(tree.links)
    spin = mass * tree.size**2 * _GYRATION
    spheres = (Inertia(mass), Inertia(rotational=Symmetric3.diagonal(spin, spin, spin)))
    offers = [
        (tree.links[index], piece)
        for index in lenders
        for piece in (tree.links[index].kind.movable_inertia(sphere) for sphere in spheres)
        if _matrix(piece).any()
    ]
    touched = sorted({index for link, _ in offers for index in (link.index, link.parent)} - {WORLD_LINK})
    singular, many = (i for i in lenders if _regularity(tree.links[i].inertia) < _SINGULAR), len(offers) * len(touched)
    if not offers or not set(touched).issuperset(singular) or (many > _MOST_CHANGES and not must):
        return None
    if many > _MOST_CHANGES:
        raise ModelError(
            f"{len(lenders)} joints in a row, {tree.links[lenders[0]].name!r} the first, carry links whose inertia has no "
            "inverse (points, thin rods): too many to find together what they can lend each other; use method='aba', or give "
            "such links a small inertia about every axis"
        )
    unit = 1.0 / np.sqrt([spin, spin, spin, mass, mass, mass])
    scale = np.outer(unit, unit)
    # about the links' centers of mass, since their frames may be far from them
    own = {index: tree.links[index].inertia for index in touched}
    shifts = {index: I.first_moment * (-1.0 / I.mass) if I.mass > 0.0 else Vector3() for index, I in own.items()}
    seen = {index: Transform(translation=shift) for index, shift in shifts.items()}
    M = np.array([_matrix(own[index].to_parent(seen[index])) * scale for index in touched])
    A = np.zeros((len(offers), *M.shape))
    for change, (link, piece) in zip(A, offers, strict=True):
        change[touched.index(link.index)] += _matrix(piece.to_parent(seen[link.index])) * scale
        if link.parent != WORLD_LINK:
            taken = piece.to_parent(link.placement).to_parent(seen[link.parent])
            change[touched.index(link.parent)] -= _matrix(taken) * scale
    x = _most_regular(M, A) if must else _centred(np.zeros(len(A)), M, A, np.einsum("klii->k", A))
    if x is None or not _lowest(M, A, x) >= (_ENOUGH if must else _HEAVY_ENOUGH):
        return None
    lent: dict[int, Inertia] = {}
    for (link, piece), size in zip(offers, x, strict=True):
        lent[link.index] = lent.get(link.index, Inertia()) + _times(piece, float(size))
    return lent


def _most_regular(M: np.ndarray, A: np.ndarray) -> np.ndarray | None:
    """The x at which Σ log det(M + x·A) − tr(M + x·A) over the links is largest; None if no x makes all of them positive.

    A first phase finds any such x: it has M + x·A + t·1 instead of M + x·A, with t as another unknown at an increasing cost.
    """
    x, one = np.zeros(len(A)), np.eye(M.shape[-1])
    cost = np.einsum("klii->k", A)
    with_t = np.concatenate([A, np.broadcast_to(one, (1, *M.shape))])
    price, t = 1.0, max(0.0, 1.0 - _lowest(M, A, x))
    while _lowest(M, A, x) < _ENOUGH:
        if price * _ENOUGH > 1.0:  # t is about 1/price above its minimum
            return None
        found = _centred(np.array([*x, t]), M, with_t, np.array([*cost, price * len(M) * len(one)]))
        x, t, price = found[:-1], float(found[-1]), 4.0 * price
    return _centred(x, M, A, cost)


def _lowest(M: np.ndarray, A: np.ndarray, x: np.ndarray) -> float:
    """The smallest eigenvalue of any M + x·A."""
    return float(np.linalg.eigvalsh(M + np.tensordot(x, A, 1)).min())


def _centred(x: np.ndarray, M: np.ndarray, A: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """The x at which Σ log det(M + x·A) − cost·x is largest, from one at which all M + x·A are positive, by Newton's method."""
    for _ in range(_NEWTON_STEPS):
        solved = np.linalg.inv(M + np.tensordot(x, A, 1)) @ A  # by piece, by link
        slope = np.einsum("klii->k", solved) - cost
        curvature = solved.reshape(len(A), -1) @ solved.swapaxes(2, 3).reshape(len(A), -1).T  # traces of products
        step = np.linalg.lstsq(curvature, slope, rcond=None)[0]
        decrement = float(slope @ step)
        # a shorter step stays inside: the function is self-concordant
        x = x + (step if decrement < 0.1 else step / (1.0 + np.sqrt(decrement)))
        if decrement < 1e-12:
            break
    return x


def _times(inertia: Inertia, factor: float) -> Inertia:
    return Inertia(inertia.mass * factor, inertia.first_moment * factor, inertia.rotational * factor)


def _matrix(inertia: Inertia) -> np.ndarray:
    """6×6, angular part first."""
    return np.array([list(inertia.times(axis)) for axis in basis_motions(range(6))], dtype=float)


def _regularity(inertia: Inertia) -> float:
    """The smallest eigenvalue measured by the diagonal, so that kilograms and metres do not matter: 1 for a sphere."""
    matrix = _matrix(inertia)
    size = np.sqrt(np.abs(matrix.diagonal()))
    if size.min() == 0.0:
        return 0.0
    return float(np.linalg.eigvalsh(matrix / np.outer(size, size)).min())
