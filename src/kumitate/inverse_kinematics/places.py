"""Goals at places: a point of a body or frame at a point of the world, an orientation, a pose, an axis pointed at a point."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis import momentum_matrix
from ..errors import InputError
from ..kinematics import center_of_mass, difference
from ..model import Tree
from ..scalar import Scalar
from ..spatial import DenseRotation, Matrix3, Vector3, quaternion_log, quaternion_of
from .contract import Goal, Posture, checked_target


class _AtPoint(Goal):
    """A point of the robot, that a posture `reached`, is at a point of the world."""

    def size(self, tree: Tree) -> int:
        return 3

    def scales(self, tree: Tree) -> list[float]:
        return [1.0] * 3

    def errors(self, posture: Posture, target: Sequence[Scalar]) -> list[Scalar]:
        return [wanted - is_at for wanted, is_at in zip(target, self.reached(posture), strict=True)]


@dataclass(frozen=True, eq=False)
class PositionGoal(_AtPoint):
    """The origin of a body or frame is at a point.

    Attributes:
        place: name of the body or frame.
        point: in the world (..., 3) [m].
    """

    place: str
    point: Any

    @property
    def key(self) -> Hashable:
        return "position", self.place, self.weight

    def target(self, tree: Tree) -> np.ndarray:
        tree.place(self.place, "a goal is for")
        return checked_target(f"the position of {self.place!r}", self.point, (3,))

    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        return posture.jacobian(self.place)[3:]

    def reached(self, posture: Posture) -> list[Scalar]:
        return list(posture.pose(self.place).translation)


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
        tree.place(self.place, "a goal is for")
        return checked_rotation(self.place, checked_target(f"the orientation of {self.place!r}", self.rotation, (3, 3)))

    def errors(self, posture: Posture, target: Sequence[Scalar]) -> list[Scalar]:
        """The rotation vector in the world from the place to its target."""
        R = Matrix3.of([target[:3], target[3:6], target[6:9]])
        away = DenseRotation(R @ posture.pose(self.place).rotation.matrix().T)
        return list(quaternion_log(quaternion_of(away)))

    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        return posture.jacobian(self.place)[:3]

    def scales(self, tree: Tree) -> list[float]:
        return [TURNED] * 9

    def reached(self, posture: Posture) -> list[Scalar]:
        return [x for row in posture.pose(self.place).rotation.matrix().rows for x in row]


def checked_rotation(place: str, entries: np.ndarray) -> np.ndarray:
    """The entries (..., 9) of rotations; raises `InputError` if R Rᵀ is not 1, or R mirrors."""
    x, y, z = R = np.ascontiguousarray(entries.reshape(-1, 9).T).reshape(3, 3, -1)  # side by side: faster than one by one
    off = float(np.abs(np.einsum("ikn,jkn->ijn", R, R) - np.eye(3)[:, :, None]).max(initial=0.0))
    volume = sum(x[i] * (y[i - 2] * z[i - 1] - y[i - 1] * z[i - 2]) for i in range(3))
    if not (off <= _ROUNDING and (volume > 0.0).all()):
        raise InputError(
            f"the target of {place!r} is not turned by a rotation: R Rᵀ differs from 1 by {off:.2g}, or R mirrors. Give "
            "orthonormal columns, the axes of the body in the world, right-handed"
        )
    return entries


@dataclass(frozen=True, eq=False)
class PoseGoal(Goal):
    """A body or frame is at a pose: an `OrientationGoal` and a `PositionGoal` in one.

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
        tree.place(self.place, "a goal is for")
        given = checked_target(f"the pose of {self.place!r}", self.pose, (4, 4))
        X = given.reshape(*given.shape[:-1], 4, 4)
        R = checked_rotation(self.place, X[..., :3, :3].reshape(*X.shape[:-2], 9))
        return np.concatenate([R, X[..., :3, 3]], axis=-1)

    @property
    def _parts(self) -> tuple[OrientationGoal, PositionGoal]:
        return OrientationGoal(self.place, None), PositionGoal(self.place, None)

    def errors(self, posture: Posture, target: Sequence[Scalar]) -> list[Scalar]:
        turn, shift = self._parts
        missing = shift.errors(posture, target[9:12])
        return [*turn.errors(posture, target[:9]), *missing]

    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        return posture.jacobian(self.place)

    def scales(self, tree: Tree) -> list[float]:
        return [TURNED] * 9 + [1.0] * 3

    def reached(self, posture: Posture) -> list[Scalar]:
        return [x for part in self._parts for x in part.reached(posture)]


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
        tree.place(self.place, "a goal is for")
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


@dataclass(frozen=True, eq=False)
class PostureGoal(Goal):
    """The robot is in a posture, mostly as a goal of low priority: of all solutions the nearest to it is then taken.

    In one list with goals of other kinds it is a wish: the search moves towards it along the degrees of freedom that they
    leave, and ends as soon as they are reached, whether it is or not; its weight counts against other wishes.

    Attributes:
        q: coordinates (..., nq).
    """

    q: Any
    wish = True

    @property
    def key(self) -> Hashable:
        return "rest", self.weight

    def size(self, tree: Tree) -> int:
        return tree.nq

    def target(self, tree: Tree) -> np.ndarray:
        return checked_target("the posture", self.q, (tree.nq,))

    def errors(self, posture: Posture, target: Sequence[Scalar]) -> list[Scalar]:
        return difference(posture.tree, posture.q, list(target))

    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        n = posture.tree.nv
        return [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]


@dataclass(frozen=True, eq=False)
class CenterOfMassGoal(_AtPoint):
    """The center of mass of all moving bodies is at a point.

    Attributes:
        point: in the world (..., 3) [m].
    """

    point: Any

    @property
    def key(self) -> Hashable:
        return "center_of_mass", self.weight

    def target(self, tree: Tree) -> np.ndarray:
        return checked_target("the center of mass", self.point, (3,))

    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        linear = momentum_matrix(posture.tree, posture.q)[3:]
        return [[entry / posture.tree.mass for entry in row] for row in linear]

    def reached(self, posture: Posture) -> list[Scalar]:
        return list(center_of_mass(posture.tree, posture.q))
