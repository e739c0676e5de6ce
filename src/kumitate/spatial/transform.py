"""Poses of a frame B in a frame A, and the transformation of points (thesis, appendix A.4)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import field
from numbers import Real
from typing import Any

import numpy as np

from ..errors import ModelError
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
