"""Poses, and spatial vectors: motions and forces, which are distinct types (thesis, appendix A.1-A.4). Angular part first.

A `Transform` is the pose of a frame B in a frame A. A `Motion` or `Force` named V_B is expressed in the axes of frame B and
taken at B's origin.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from numbers import Real
from typing import Any

import numpy as np

from ..errors import ModelError
from ..scalar import Scalar, Scalars
from .rotation import AxisTurn, DenseRotation, Rotation, RotationChain, identity_rotation, is_rotation
from .vector import Matrix3, Vector3, quantity


@quantity
class Transform:
    """The pose X_AB of frame B in frame A: the rotation R_AB and the position of B's origin in A [m]."""

    rotation: Rotation = field(default_factory=identity_rotation)
    translation: Vector3 = field(default_factory=Vector3)

    def __matmul__(self, other: Transform) -> Transform:
        """X_AB X_BC = X_AC."""
        return Transform(self.rotation @ other.rotation, self.point(other.translation))

    def point(self, p_B: Vector3) -> Vector3:
        """Transforms a point from B to A."""
        return self.rotation.rotate(p_B) + self.translation

    def inverse(self) -> Transform:
        """X_BA."""
        return Transform(self.rotation.inverse(), -self.rotation.unrotate(self.translation))

    def matrix(self) -> list[list[Any]]:
        """The homogeneous 4×4 matrix [R p; 0 1]."""
        rows = [[*row, p] for row, p in zip(self.rotation.matrix(), self.translation, strict=True)]
        return [*rows, [0.0, 0.0, 0.0, 1.0]]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The 4×4 matrix, as poses are given and returned in arrays."""
        return np.array(self.matrix(), dtype=dtype)

    def dense(self) -> Transform:
        """The same pose with its rotation as one matrix."""
        return Transform(DenseRotation(self.rotation.matrix()), self.translation)

    def almost_equal(self, other: Transform, tolerance: float = 1e-12) -> bool:
        """Whether two numeric poses agree in every entry."""
        pairs = zip(self.matrix(), other.matrix(), strict=True)
        return all(abs(a - b) <= tolerance for mine, yours in pairs for a, b in zip(mine, yours, strict=True))


def pose(
    xyz: Sequence[float] = (0.0, 0.0, 0.0), rpy: Sequence[float] = (0.0, 0.0, 0.0), *,
    matrix: Sequence[Sequence[float]] | None = None,
) -> Transform:  # fmt: skip
    """A pose from numbers.

    Args:
        xyz: position of the frame's origin [m].
        rpy: roll, pitch, yaw [rad] about the fixed axes x, y, z (URDF's convention: R = Rz(yaw) Ry(pitch) Rx(roll)).
        matrix: the rotation as 3×3 rows instead of `rpy`.

    Raises:
        ModelError: if an argument does not have the right number of finite numbers, or the matrix is not a rotation.

    >>> [float(x) for x in pose(xyz=(1, 0, 0)).point(Vector3(0.0, 2.0, 0.0))]
    [1.0, 2.0, 0.0]
    """
    place = Vector3.of(_three("xyz", xyz, "Give a position in metres"))
    if matrix is not None:
        given: Iterable[Any] = matrix if isinstance(matrix, Iterable) else (matrix,)
        rows = [_three("a row of the matrix", row, "Give three rows of three numbers each") for row in given]
        if len(rows) != 3 or not is_rotation(rows):
            raise ModelError(
                f"pose: the matrix {rows} is not a rotation; its rows must be orthonormal and right-handed. Divide rows by "
                "their lengths, and check their signs"
            )
        return Transform(DenseRotation(Matrix3.of(rows)), place)
    roll, pitch, yaw = _three("rpy", rpy, "Give angles in radians")
    turns = ((2, yaw), (1, pitch), (0, roll))
    return Transform(RotationChain(tuple(AxisTurn.by(axis, angle) for axis, angle in turns if angle)), place)


def _three(what: str, values: Any, remedy: str) -> list[float]:
    """Three finite numbers."""
    try:
        if len(values) == 3 and all(isinstance(part, Real) and math.isfinite(part) for part in values):
            return [float(part) for part in values]
    except (TypeError, OverflowError):
        pass
    raise ModelError(f"pose: {what} is {values!r:.60}; it must be three finite numbers. {remedy}")


@quantity
class Motion:
    """A velocity [ω; v] (rad/s, m/s), an acceleration [α; a], or a direction of motion."""

    angular: Vector3 = field(default_factory=Vector3)
    linear: Vector3 = field(default_factory=Vector3)

    @classmethod
    def of(cls, components: Scalars) -> Motion:
        """From six components, angular first."""
        return cls(Vector3.of(components[:3]), Vector3.of(components[3:6]))

    def __iter__(self) -> Iterator[Scalar]:
        yield from self.angular
        yield from self.linear

    def __len__(self) -> int:
        return 6

    def __getitem__(self, axis: int) -> Scalar:
        return self.angular[axis] if axis < 3 else self.linear[axis - 3]

    def __add__(self, other: Motion) -> Motion:
        if not isinstance(other, Motion):
            return NotImplemented
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Motion) -> Motion:
        if not isinstance(other, Motion):
            return NotImplemented
        return Motion(self.angular - other.angular, self.linear - other.linear)

    def __mul__(self, factor: Scalar) -> Motion:
        return Motion(self.angular * factor, self.linear * factor)

    __rmul__ = __mul__

    def dot(self, force: Force) -> Scalar:
        """The power of `force` on this motion; both at the same point and in the same frame."""
        if not isinstance(force, Force):
            raise TypeError(f"the dot product of a motion takes a force, not a {type(force).__name__}")
        return self.angular.dot(force.moment) + self.linear.dot(force.force)

    def cross(self, other: Motion) -> Motion:
        """The rate of a motion fixed in a frame that moves with this velocity: V × M (thesis eq. 5.4)."""
        return Motion(self.angular.cross(other.angular), self.angular.cross(other.linear) + self.linear.cross(other.angular))

    def cross_force(self, force: Force) -> Force:
        """The rate of a force fixed in a frame that moves with this velocity: V ×* F."""
        return Force(self.angular.cross(force.moment) + self.linear.cross(force.force), self.angular.cross(force.force))

    def to_parent(self, X_AB: Transform) -> Motion:
        """Transforms this motion from B to the axes of A and A's origin (A.14)."""
        angular = X_AB.rotation.rotate(self.angular)
        return Motion(angular, X_AB.rotation.rotate(self.linear) + X_AB.translation.cross(angular))

    def to_child(self, X_AB: Transform) -> Motion:
        """Transforms this motion from A to the axes of B and B's origin (A.14)."""
        at_B = self.linear + self.angular.cross(X_AB.translation)
        return Motion(X_AB.rotation.unrotate(self.angular), X_AB.rotation.unrotate(at_B))


@quantity
class Force:
    """A wrench [n; f] (N·m, N) or a momentum [l; p]."""

    moment: Vector3 = field(default_factory=Vector3)
    force: Vector3 = field(default_factory=Vector3)

    @classmethod
    def of(cls, components: Scalars) -> Force:
        """From six components, moment first."""
        return cls(Vector3.of(components[:3]), Vector3.of(components[3:6]))

    def __iter__(self) -> Iterator[Scalar]:
        yield from self.moment
        yield from self.force

    def __len__(self) -> int:
        return 6

    def __getitem__(self, axis: int) -> Scalar:
        return self.moment[axis] if axis < 3 else self.force[axis - 3]

    def __add__(self, other: Force) -> Force:
        if not isinstance(other, Force):
            return NotImplemented
        return Force(self.moment + other.moment, self.force + other.force)

    def __sub__(self, other: Force) -> Force:
        if not isinstance(other, Force):
            return NotImplemented
        return Force(self.moment - other.moment, self.force - other.force)

    def __mul__(self, factor: Scalar) -> Force:
        return Force(self.moment * factor, self.force * factor)

    __rmul__ = __mul__

    def to_parent(self, X_AB: Transform) -> Force:
        """Transforms this force from B to the axes of A and about A's origin (A.15)."""
        force = X_AB.rotation.rotate(self.force)
        return Force(X_AB.rotation.rotate(self.moment) + X_AB.translation.cross(force), force)

    def to_child(self, X_AB: Transform) -> Force:
        """Transforms this force from A to the axes of B and about B's origin (A.15)."""
        at_B = self.moment - X_AB.translation.cross(self.force)
        return Force(X_AB.rotation.unrotate(at_B), X_AB.rotation.unrotate(self.force))
