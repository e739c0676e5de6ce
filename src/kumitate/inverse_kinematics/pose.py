"""A body or frame at a pose in the world."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model import Tree
from ..scalar import Scalar
from .contract import Goal, Posture, checked_place, checked_target
from .orientation import TURNED, checked_rotation, rotation_entries, turn_missing


@dataclass(frozen=True, eq=False)
class PoseGoal(Goal):
    """A body or frame is at a pose.

    Attributes:
        place: name of the body or frame.
        pose: X_WB (..., 4, 4): [R p; 0 1], as `Robot.pose` returns it, p in m; or as `kumitate.pose` makes it.
    """

    place: str
    pose: Any

    @property
    def key(self) -> Hashable:
        return "pose", self.place, self.weight

    def size(self, tree: Tree) -> int:
        return 12

    def target(self, tree: Tree) -> np.ndarray:
        checked_place(tree, self.place)
        given = checked_target(f"the pose of {self.place!r}", self.pose, (4, 4))
        X = given.reshape(*given.shape[:-1], 4, 4)
        R = checked_rotation(self.place, X[..., :3, :3].reshape(*X.shape[:-2], 9))
        return np.concatenate([R, X[..., :3, 3]], axis=-1)

    def errors(self, posture: Posture, target: Sequence[Scalar]) -> list[Scalar]:
        shift = [wanted - is_at for wanted, is_at in zip(target[9:12], posture.pose(self.place).translation, strict=True)]
        return [*turn_missing(posture, self.place, target[:9]), *shift]

    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        return posture.jacobian(self.place)

    def scales(self, tree: Tree) -> list[float]:
        return [TURNED] * 9 + [1.0] * 3

    def reached(self, posture: Posture) -> list[Scalar]:
        return [*rotation_entries(posture, self.place), *posture.pose(self.place).translation]
