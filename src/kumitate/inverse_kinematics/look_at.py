"""An axis of a body or frame pointed at a point in the world."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..model import Tree
from ..scalar import Scalar
from ..spatial import Vector3
from .contract import Goal, Posture, checked_place, checked_target


@dataclass(frozen=True, eq=False)
class LookAtGoal(Goal):
    """An axis through the origin of a body or frame points at a point.

    Attributes:
        place: name of the body or frame.
        point: in the world (..., 3) [m].
        axis: in the axes of the place (3); x by default.
    """

    place: str
    point: Any
    axis: tuple[float, float, float] = (1.0, 0.0, 0.0)

    @property
    def key(self) -> Hashable:
        return "look_at", self.place, tuple(float(x) for x in self.axis), self.weight

    def size(self, tree: Tree) -> int:
        return 3

    def target(self, tree: Tree) -> np.ndarray:
        checked_place(tree, self.place)
        if np.shape(self.axis) != (3,) or not np.linalg.norm(self.axis) > 0.0:
            raise InputError(f"the axis of {self.place!r} that looks is {self.axis!r}; give three components, not all zero")
        return checked_target(f"what {self.place!r} looks at", self.point, (3,))

    def errors(self, posture: Posture, target: Sequence[Scalar]) -> list[Scalar]:
        axis, towards, _ = self._directions(posture, target)
        return list(towards - axis)

    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        """Of a − d, with a the axis, ȧ = ω × a, and d the direction to the point, ḋ = −(1 − d dᵀ) v / distance."""
        axis, towards, distance = self._directions(posture, target)
        columns = []
        for k in range(posture.tree.nv):
            column = [row[k] for row in posture.jacobian(self.place)]
            omega, v = Vector3.of(column[:3]), Vector3.of(column[3:])
            columns.append(omega.cross(axis) + (v - towards * towards.dot(v)) * (1.0 / distance))
        return [[column[i] for column in columns] for i in range(3)]

    def _directions(self, posture: Posture, target: Sequence[Scalar]) -> tuple[Vector3, Vector3, Scalar]:
        pose, own = posture.pose(self.place), np.array(self.axis, dtype=float)
        away = Vector3.of(list(target)) - pose.translation
        distance = away.norm()
        return pose.rotation.rotate(Vector3(*(own / np.linalg.norm(own)).tolist())), away * (1.0 / distance), distance
