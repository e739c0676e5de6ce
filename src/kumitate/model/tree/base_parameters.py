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

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import InputError
from ...scalar import floats
from ...spatial import AxisTurn, Inertia, RotationChain, Symmetric3, Transform, Vector3, zxz_rotation
from .tree import WORLD_LINK, Link, Place, Tree

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
        pairs = zip(floats(numbers_of(inertias[link.index])), floats(numbers_of(movable)), strict=True)
        inertias[link.index] = inertia_of([0.0 if abs(x - y) <= _ROUNDING * abs(x) else x - y for x, y in pairs])
        if link.parent != WORLD_LINK:  # the parent is the world, which does not move
            inertias[link.parent] = inertias[link.parent] + movable.to_parent(link.placement)
    links = tuple(replace(link, inertia=inertia) for link, inertia in zip(tree.links, inertias, strict=True))
    return BaseParameterTree(links, tree.places, tree.nq, tree.nv, tree.chords, tree.gears, tree.mass, tree.size)


#: Numbers of an inertia: mass, first moment (x, y, z), rotational inertia about the origin (xx, yy, zz, xy, xz, yz).
SIZE = 10
#: Entries below this part of a matrix's largest are rounding.
_ROUNDED = 4e-15


def numbers_of(inertia: Inertia) -> list[Any]:
    """The ten numbers of an inertia."""
    return [inertia.mass, *inertia.first_moment, *inertia.rotational.entries]


def inertia_of(numbers: Any) -> Inertia:
    """The inertia of ten numbers."""
    return Inertia(numbers[0], Vector3(*numbers[1:4]), Symmetric3(*numbers[4:]))


@dataclass(frozen=True)
class InertiaMap:
    """From bodies' inertias (N, bodies, 10), each in the body's frame, to links' base parameters (N, links, 10).

    Attributes:
        places: for each body on a moving link, its number, its link's and the change of frame (10, 10).
        kept: for each link, the part of an inertia that stays on it (10, 10).
        moved: the part that is moved to its parent, in the parent's frame (10, 10).
        parents: of the links.
    """

    places: tuple[tuple[int, int, np.ndarray], ...]
    kept: tuple[np.ndarray, ...]
    moved: tuple[np.ndarray, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, tree: BaseParameterTree, bodies: Sequence[str]) -> InertiaMap:
        """The map for a mechanism's tree, from the bodies of these names."""
        seen = [(k, tree.places[name]) for k, name in enumerate(bodies)]
        places = tuple((k, place.link, inertia_shift(place.pose)) for k, place in seen if place.link != WORLD_LINK)
        movable = [_matrix(link.kind.movable_inertia) for link in tree.links]
        shifts = [inertia_shift(link.placement) for link in tree.links]
        kept = tuple(np.eye(SIZE) - part for part in movable)
        moved = tuple(shift @ part for shift, part in zip(shifts, movable, strict=True))
        return cls(places, kept, moved, tuple(link.parent for link in tree.links))

    def base(self, bodies: np.ndarray) -> np.ndarray:
        """The links' base parameters (N, links, 10) for bodies' inertias (N, bodies, 10)."""
        found = np.zeros((len(bodies), len(self.parents), SIZE))
        for body, link, place in self.places:
            found[:, link] += _product(place, bodies[:, body])
        for link in reversed(range(len(self.parents))):
            if self.parents[link] != WORLD_LINK:
                found[:, self.parents[link]] += _product(self.moved[link], found[:, link])
            found[:, link] = _product(self.kept[link], found[:, link])
        return found


def _product(matrix: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The matrix times each row (N, 10); by sums, as the bits of `@` depend on how many rows there are."""
    return np.asarray((rows[:, None, :] * matrix).sum(axis=-1))


def inertia_shift(pose: Transform) -> np.ndarray:
    """The change of the ten numbers of an inertia to the parent's frame (10, 10); `pose`: of its own there."""
    return _matrix(lambda inertia: inertia.to_parent(pose))


def _matrix(change: Callable[[Inertia], Inertia]) -> np.ndarray:
    """The matrix (10, 10) of a linear change of inertias, without what rounding has left of zeros."""
    columns = [[float(x) for x in numbers_of(change(inertia_of(unit)))] for unit in np.eye(SIZE).tolist()]
    matrix = np.array(columns).T
    return np.where(np.abs(matrix) <= _ROUNDED * max(1.0, float(np.abs(matrix).max())), 0.0, matrix)


# --- link frames of the fewest numbers, in the form of Denavit and Hartenberg -------------------------------------------------
# A frame may be rotated about and shifted along its own joint's axis without effect on results: the rotation is added to the
# joint's angle. Where that saves numbers, every link's origin is put at the foot of the common normal to its parent's axis,
# and its x axis along the common normal to its first child's: from link to link there is then one rotation about x and a shift
# along x and z. Robot files mostly have such frames already.

#: Lengths [m] and angles [rad] below this count as zero.
_TINY = 1e-13


def with_dh_frames(tree: Tree) -> Tree:
    """The tree with its frames moved along and about their joints' axes; `places` is changed accordingly."""
    moved: list[Link] = []
    changes: list[Transform] = []  # G of L' = L·G
    for link in tree.links:
        X_PF = link.placement if link.parent == WORLD_LINK else changes[link.parent].inverse() @ link.placement
        G = _change(X_PF, tree.children(link.index)) if link.kind.turn is not None else Transform()
        placement, turn = _split(X_PF @ G, link)
        changes.append(G)
        moved.append(replace(link, placement=placement, inertia=link.inertia.to_parent(G.inverse()), offset=link.offset + turn))

    def seen(place: Place) -> Place:
        return place if place.link == WORLD_LINK else Place(place.link, (changes[place.link].inverse() @ place.pose).dense())

    places = {name: seen(place) for name, place in tree.places.items()}
    chords = tuple(replace(chord, base=seen(chord.base), follower=seen(chord.follower)) for chord in tree.chords)
    return replace(tree, links=tuple(moved), places=places, chords=chords)


def _change(X_PF: Transform, children: list[Link]) -> Transform:
    """G = Tz(s) Rz(ψ): s by the parent's axis, ψ by the first child's."""
    alpha, beta, _ = zxz_rotation(X_PF.rotation.matrix())  # type: ignore[arg-type]
    p = X_PF.translation
    # p = d z_P + a x' + e z_L with x' along the common normal, and z_L = −sin β across + cos β z_P: the origin moves back by e
    normal = Vector3(math.cos(alpha), math.sin(alpha), 0.0)
    across = Vector3(-math.sin(alpha), math.cos(alpha), 0.0)
    # axes that are almost parallel meet their common normal very far away
    s = p.dot(across) / math.sin(beta) if abs(math.sin(beta)) > 1e-3 else 0.0  # −e
    foot = (p.dot(normal), p.z + s * math.cos(beta))
    if sum(abs(x) > _TINY for x in foot) >= _numbers(p):
        s = 0.0
    psi = 0.0
    if children:
        child_alpha, child_beta, _ = zxz_rotation(children[0].placement.rotation.matrix())  # type: ignore[arg-type]
        if _generic(child_beta):
            psi = child_alpha
        elif abs(math.sin(child_beta)) < _TINY:  # parallel axes: x along the offset
            q = children[0].placement.translation
            psi = math.atan2(q.y, q.x) if _numbers(Vector3(q.x, q.y, 0.0)) == 2 else 0.0
    if not _generic(psi):
        psi = 0.0
    return Transform(AxisTurn.by(2, psi), Vector3(0.0, 0.0, s))


def _generic(angle: float) -> bool:
    """Whether a rotation by the angle takes multiplications."""
    return abs(math.sin(2.0 * angle)) > _TINY


def _numbers(p: Vector3) -> int:
    return sum(abs(x) > _TINY for x in floats(p))


def _split(X_PF: Transform, link: Link) -> tuple[Transform, float]:
    """The placement without its last rotation about z if the joint's angle can absorb it, and that rotation."""
    rows = np.array([list(row) for row in X_PF.rotation.matrix()])
    rows[np.abs(rows - rows.round()) < 1e-15] = rows.round()[np.abs(rows - rows.round()) < 1e-15]
    alpha, beta, gamma = zxz_rotation(rows.tolist())
    turns = [AxisTurn.by(2, alpha), AxisTurn.by(0, beta)]
    if link.kind.turn is None:
        turns.append(AxisTurn.by(2, gamma))
        gamma = 0.0
    p = Vector3(*(0.0 if abs(x) < _TINY else float(x) for x in X_PF.translation))
    return Transform(RotationChain(tuple(turns)), p), gamma
