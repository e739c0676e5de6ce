"""A body or frame turned as wanted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..model import Tree
from ..scalar import Scalar
from ..spatial import DenseRotation, Matrix3, quaternion_log, quaternion_of
from .contract import Goal, Posture, checked_place, checked_target

#: By how much R Rᵀ may differ from 1.
_ROUNDING = 1e-6
#: Of entries of rotations where starts are compared: an angle, found more easily than a place, counts by 0.6 m/rad.
TURNED = 0.45


@dataclass(frozen=True, eq=False)
class OrientationGoal(Goal):
    """The axes of a body or frame have a direction.

    Attributes:
        place: name of the body or frame.
        rotation: R_WB (..., 3, 3), its axes in the world as columns.
    """

    place: str
    rotation: Any

    @property
    def key(self) -> Hashable:
        return "orientation", self.place, self.weight

    def size(self, tree: Tree) -> int:
        return 9

    def target(self, tree: Tree) -> np.ndarray:
        checked_place(tree, self.place)
        return checked_rotation(self.place, checked_target(f"the orientation of {self.place!r}", self.rotation, (3, 3)))

    def errors(self, posture: Posture, target: Sequence[Scalar]) -> list[Scalar]:
        return turn_missing(posture, self.place, target)

    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        return posture.jacobian(self.place)[:3]

    def scales(self, tree: Tree) -> list[float]:
        return [TURNED] * 9

    def reached(self, posture: Posture) -> list[Scalar]:
        return rotation_entries(posture, self.place)


def rotation_entries(posture: Posture, place: str) -> list[Scalar]:
    """R_WB (9) of a place, row by row."""
    return [x for row in posture.pose(place).rotation.matrix().rows for x in row]


def turn_missing(posture: Posture, place: str, wanted: Sequence[Scalar]) -> list[Scalar]:
    """The rotation vector [rad], in the world, that takes a place to the rotation with these nine entries, row by row."""
    R = Matrix3.of([wanted[:3], wanted[3:6], wanted[6:9]])
    away = DenseRotation(R @ posture.pose(place).rotation.matrix().T)
    return list(quaternion_log(quaternion_of(away)))


def checked_rotation(place: str, entries: np.ndarray) -> np.ndarray:
    """The entries (..., 9) of rotations.

    Raises:
        InputError: if R Rᵀ is not 1, or R mirrors.
    """
    x, y, z = R = np.ascontiguousarray(entries.reshape(-1, 9).T).reshape(3, 3, -1)  # side by side: faster than one by one
    off = float(np.abs(np.einsum("ikn,jkn->ijn", R, R) - np.eye(3)[:, :, None]).max(initial=0.0))
    volume = sum(x[i] * (y[i - 2] * z[i - 1] - y[i - 1] * z[i - 2]) for i in range(3))
    if not (off <= _ROUNDING and (volume > 0.0).all()):
        raise InputError(
            f"the target of {place!r} is not turned by a rotation: R Rᵀ differs from 1 by {off:.2g}, or R mirrors. Give "
            "orthonormal columns, the axes of the body in the world, right-handed"
        )
    return entries
