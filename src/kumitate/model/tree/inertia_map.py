"""The map from the inertias of bodies to those of the links of a base-parameter tree: linear, and applied to many rows at once.

A mechanism whose masses differ from row to row has one base-parameter tree each. Moving inertia across joints is linear in the
ten numbers of every body, so that it is a few matrices here, made once, instead of a tree for every row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...spatial import Inertia, Symmetric3, Transform, Vector3
from .tree import WORLD_LINK

if TYPE_CHECKING:
    from ..mechanism import Mechanism

#: Numbers of an inertia: mass, first moment (x, y, z), rotational inertia about the origin (xx, yy, zz, xy, xz, yz).
SIZE = 10
#: Entries below this part of a matrix's largest are rounding.
_ROUNDING = 4e-15


def numbers_of(inertia: Inertia) -> list[Any]:
    """The ten numbers of an inertia."""
    I = inertia.rotational
    return [inertia.mass, *inertia.first_moment, I.xx, I.yy, I.zz, I.xy, I.xz, I.yz]


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
    def of(cls, mechanism: Mechanism) -> InertiaMap:
        """The map of a mechanism, for the frames of `Mechanism.base_parameter_tree`."""
        tree = mechanism.base_parameter_tree
        places = []
        for k, body in enumerate(mechanism.bodies):
            place = tree.places[body.name]
            if place.link != WORLD_LINK:
                places.append((k, place.link, _shift(place.pose)))
        movable = [_matrix(link.kind.movable_inertia) for link in tree.links]
        shifts = [_shift(link.placement) for link in tree.links]
        kept = tuple(np.eye(SIZE) - part for part in movable)
        moved = tuple(shift @ part for shift, part in zip(shifts, movable, strict=True))
        return cls(tuple(places), kept, moved, tuple(link.parent for link in tree.links))

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

    def pattern(self, bodies: np.ndarray) -> np.ndarray:
        """Which base parameters (links, 10) depend on these numbers of bodies (bodies, 10), both as truth values."""
        found = np.zeros((len(self.parents), SIZE), dtype=bool)
        for body, link, place in self.places:
            found[link] |= _reached(place, bodies[body])
        for link in reversed(range(len(self.parents))):
            if self.parents[link] != WORLD_LINK:
                found[self.parents[link]] |= _reached(self.moved[link], found[link])
            found[link] = _reached(self.kept[link], found[link])
        return found


def _product(matrix: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The matrix times each row (N, 10); by sums, as the bits of `@` depend on how many rows there are."""
    return np.asarray((rows[:, None, :] * matrix).sum(axis=-1))


def _shift(pose: Transform) -> np.ndarray:
    """The change of inertias to another frame (10, 10)."""
    return _matrix(lambda inertia: inertia.to_parent(pose))


def _matrix(change: Callable[[Inertia], Inertia]) -> np.ndarray:
    """The matrix (10, 10) of a linear change of inertias, without what rounding has left of zeros."""
    columns = [[float(x) for x in numbers_of(change(inertia_of(unit)))] for unit in np.eye(SIZE).tolist()]
    matrix = np.array(columns).T
    return np.where(np.abs(matrix) <= _ROUNDING * max(1.0, float(np.abs(matrix).max())), 0.0, matrix)


def _reached(matrix: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Which results of a matrix depend on the given ones of its arguments."""
    return np.asarray((matrix[:, given] != 0.0).any(axis=1))
