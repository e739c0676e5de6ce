"""The goals of inverse kinematics under their contract: places at poses, axes at points, postures, centers of mass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np

from ..analysis import momentum_matrix
from ..errors import InputError
from ..kinematics import center_of_mass, difference, jacobian, link_poses, place_pose
from ..model import Tree
from ..scalar import Scalar
from ..spatial import DenseRotation, Matrix3, Transform, Vector3, quaternion_log, quaternion_of


class Posture:
    """A tree at coordinates q while goals are evaluated; what several goals need is computed once."""

    def __init__(self, tree: Tree, q: Sequence[Scalar]):
        self.tree, self.q = tree, list(q)
        self._jacobians: dict[str, list[list[Scalar]]] = {}

    @cached_property
    def _poses(self) -> Any:
        return link_poses(self.tree, self.q)

    def pose(self, place: str) -> Transform:
        """X_WB of a body or frame."""
        return place_pose(self.tree, self._poses, self.tree.places[place])

    def jacobian(self, place: str) -> list[list[Scalar]]:
        """J (6, nv) of a body or frame: [ω; v] = J q̇ in the axes of the world."""
        if place not in self._jacobians:
            self._jacobians[place] = jacobian(self.tree, self.q, self.tree.places[place])
        return self._jacobians[place]


@dataclass(frozen=True, eq=False, kw_only=True)
class Goal(ABC):
    """One wish for a posture. Its target may have leading axes: one target for each of many postures.

    Attributes:
        weight: of its errors against those of other goals of the same priority; 1 rad counts like 1 m.
    """

    weight: float = 1.0
    #: Whether goals of this kind only say where the degrees of freedom go that others of their list leave.
    wish: ClassVar[bool] = False

    @property
    @abstractmethod
    def key(self) -> Hashable:
        """What the program of the goal depends on: everything but the target."""

    @abstractmethod
    def size(self, tree: Tree) -> int:
        """The number of components of its target."""

    @abstractmethod
    def target(self, tree: Tree) -> np.ndarray:
        """The target (..., size).

        Raises:
            InputError: for a place that does not exist, or a target of another shape.
        """

    @abstractmethod
    def errors(self, posture: Posture, target: Sequence[Scalar]) -> list[Scalar]:
        """What is missing to the target [m, rad]: zero where the goal is reached."""

    @abstractmethod
    def slopes(self, posture: Posture, target: Sequence[Scalar]) -> list[list[Scalar]]:
        """By how much the errors decrease (errors, nv) along each degree of freedom."""

    def scales(self, tree: Tree) -> list[float]:
        """By what its components (size) are multiplied where targets are compared for new starts; empty if they are not."""
        return []

    def reached(self, posture: Posture) -> list[Scalar]:
        """The target (size) that a posture reaches; empty if `scales` is."""
        return []


class KeyedGoals:
    """Goals by priority, equal where their programs are; `rests`: whether the search goes on until all of them are at rest."""

    def __init__(self, levels: Sequence[Sequence[Goal]], *, rests: bool = False):
        self.levels, self.rests = levels, rests
        self.key = (rests, *(tuple(goal.key for goal in level) for level in levels))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyedGoals) and self.key == other.key


def by_priority(goals: Any) -> list[list[Goal]]:
    """The lists of goals, the first first, of a goal, a list of goals, or lists of goals; `InputError` for anything else."""
    given = [goals] if isinstance(goals, Goal) else list(goals)
    inner = [list(one) for one in given if isinstance(one, list | tuple)]
    levels = inner if len(inner) == len(given) else [given]
    wrong = [goal for level in levels for goal in level if not isinstance(goal, Goal)]
    if wrong or not all(levels) or not levels:
        what = f"{wrong[0]!r:.60} is not a goal" if wrong else "there are no goals"
        raise InputError(
            f"inverse kinematics: {what}. Give goals, such as PoseGoal(place, X), or a list of lists: priority by priority"
        )
    return levels


def checked_target(what: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A target (..., *shape) of finite numbers, with its own axes made one; `InputError` for other shapes or values."""
    values = np.asarray(given, dtype=float)
    own = values.shape[values.ndim - len(shape) :] if values.ndim >= len(shape) else values.shape
    if own != shape or not np.isfinite(values).all():
        raise InputError(
            f"the target of {what} has shape {values.shape}; give finite numbers (..., {', '.join(map(str, shape))})"
        )
    return values.reshape(*values.shape[: values.ndim - len(shape)], prod(shape))


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
