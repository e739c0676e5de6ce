"""Rotations as operators: a rotation about one coordinate axis, a chain of such rotations, or a dense matrix.

Rotating a symmetric matrix about one axis takes 8 products instead of 45 for the dense R A Rᵀ; a general one 12 instead of 54.
Every rotation R_AB maps components in B to components in A: v_A = R_AB.rotate(v_B).

Unit quaternions (x, y, z, w) as orientations (thesis eq. 3.31-3.34).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

from ..scalar import Scalar, Scalars, cos, maximum, select, sin, sqrt
from .vector import Matrix3, Symmetric3, Vector3, quantity


class Rotation(ABC):
    """The interface of all rotations."""

    __slots__ = ()

    @abstractmethod
    def rotate(self, vector: Vector3) -> Vector3:
        """R v."""

    @abstractmethod
    def rotate_symmetric(self, matrix: Symmetric3) -> Symmetric3:
        """R A Rᵀ of a symmetric A."""

    @abstractmethod
    def rotate_matrix(self, matrix: Matrix3) -> Matrix3:
        """R A Rᵀ of any A."""

    @abstractmethod
    def inverse(self) -> Rotation:
        """Rᵀ."""

    def unrotate(self, vector: Vector3) -> Vector3:
        """Rᵀ v."""
        return self.inverse().rotate(vector)

    def matrix(self) -> Matrix3:
        """The nine entries."""
        x, y, z = (self.rotate(Vector3.unit(axis)) for axis in range(3))
        return Matrix3((x, y, z)).T

    def __matmul__(self, other: Rotation) -> Rotation:
        """The product R_AB R_BC = R_AC, as a chain."""
        factors = (*_factors(self), *_factors(other))
        return factors[0] if len(factors) == 1 else RotationChain(factors)


@quantity
class AxisTurn(Rotation):
    """A rotation about coordinate axis 0, 1 or 2, by the cosine and sine of its angle."""

    axis: int
    c: Scalar
    s: Scalar

    @classmethod
    def by(cls, axis: int, angle: Scalar) -> AxisTurn:
        """The rotation by `angle` [rad]; for a number, sines and cosines within rounding of 0 and ±1 are made exact."""
        c, s = cos(angle), sin(angle)
        if isinstance(angle, float | int):
            c, s = (float(round(part)) if abs(part - round(part)) < 4e-16 else part for part in (c, s))
        return cls(axis, c, s)

    def inverse(self) -> AxisTurn:
        return AxisTurn(self.axis, self.c, -self.s)

    def rotate(self, vector: Vector3) -> Vector3:
        x, y, z = vector.x, vector.y, vector.z  # written out, as poses on numbers turn many vectors
        if self.axis == 0:
            return Vector3(x, self.c * y - self.s * z, self.s * y + self.c * z)
        if self.axis == 1:
            along = self.c * z - self.s * x
            return Vector3(self.s * z + self.c * x, y, along)
        return Vector3(self.c * x - self.s * y, self.s * x + self.c * y, z)

    def rotate_symmetric(self, matrix: Symmetric3) -> Symmetric3:
        k, i, j = _cycle(self.axis)
        a = matrix.matrix()
        # with t and u the block of the rotated plane needs 4 products: R A Rᵀ = A + [[t, u], [u, −t]]
        t, u = self._plane_change(a[i][i], a[j][j], 2.0 * a[i][j])
        rows: list[list[Scalar]] = [[0.0] * 3 for _ in range(3)]
        rows[k][k] = a[k][k]
        rows[i][i] = a[i][i] + t
        rows[j][j] = a[j][j] - t
        rows[i][j] = rows[j][i] = a[i][j] + u
        rows[i][k] = rows[k][i] = self.c * a[i][k] - self.s * a[j][k]
        rows[j][k] = rows[k][j] = self.s * a[i][k] + self.c * a[j][k]
        return Symmetric3.of(rows)

    def rotate_matrix(self, matrix: Matrix3) -> Matrix3:
        k, i, j = _cycle(self.axis)
        a = matrix
        t, u = self._plane_change(a[i][i], a[j][j], a[i][j] + a[j][i])
        rows: list[list[Scalar]] = [[0.0] * 3 for _ in range(3)]
        rows[k][k] = a[k][k]
        rows[i][i], rows[i][j] = a[i][i] + t, a[i][j] + u
        rows[j][i], rows[j][j] = a[j][i] + u, a[j][j] - t
        rows[i][k], rows[j][k] = self.c * a[i][k] - self.s * a[j][k], self.s * a[i][k] + self.c * a[j][k]
        rows[k][i], rows[k][j] = self.c * a[k][i] - self.s * a[k][j], self.s * a[k][i] + self.c * a[k][j]
        return Matrix3.of(rows)

    def _plane_change(self, a: Scalar, b: Scalar, d: Scalar) -> tuple[Scalar, Scalar]:
        """t = s²(b − a) − sc·d and u = sc(a − b) − s²·d."""
        ss, sc = self.s * self.s, self.s * self.c
        return ss * (b - a) - sc * d, sc * (a - b) - ss * d


@quantity
class DenseRotation(Rotation):
    """A rotation by its nine entries (from a quaternion, say)."""

    entries: Matrix3

    def inverse(self) -> DenseRotation:
        return DenseRotation(self.entries.T)

    def rotate(self, vector: Vector3) -> Vector3:
        return self.entries @ vector

    def unrotate(self, vector: Vector3) -> Vector3:
        return self.entries.transposed_times(vector)

    def rotate_symmetric(self, matrix: Symmetric3) -> Symmetric3:
        half = self.entries @ matrix.matrix()
        r = self.entries
        return Symmetric3(*(half[i].dot(r[j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))

    def rotate_matrix(self, matrix: Matrix3) -> Matrix3:
        return self.entries @ matrix @ self.entries.T

    def matrix(self) -> Matrix3:
        return self.entries


@quantity
class RotationChain(Rotation):
    """A product of rotations, applied one after the other, the last one first."""

    factors: tuple[Rotation, ...]

    def inverse(self) -> RotationChain:
        return RotationChain(tuple(factor.inverse() for factor in reversed(self.factors)))

    def rotate(self, vector: Vector3) -> Vector3:
        for factor in reversed(self.factors):
            vector = factor.rotate(vector)
        return vector

    def unrotate(self, vector: Vector3) -> Vector3:
        for factor in self.factors:
            vector = factor.unrotate(vector)
        return vector

    def rotate_symmetric(self, matrix: Symmetric3) -> Symmetric3:
        for factor in reversed(self.factors):
            matrix = factor.rotate_symmetric(matrix)
        return matrix

    def rotate_matrix(self, matrix: Matrix3) -> Matrix3:
        for factor in reversed(self.factors):
            matrix = factor.rotate_matrix(matrix)
        return matrix


def identity_rotation() -> Rotation:
    """No rotation: the empty product."""
    return RotationChain(())


def is_rotation(matrix: Sequence[Sequence[float]], tolerance: float = 1e-9) -> bool:
    """Whether the rows of a 3×3 matrix of floats are orthonormal and right-handed, each product to within `tolerance`."""
    a, b, c = (Vector3.of(list(row)) for row in matrix)
    products = (a.dot(a) - 1.0, b.dot(b) - 1.0, c.dot(c) - 1.0, a.dot(b), b.dot(c), c.dot(a), a.cross(b).dot(c) - 1.0)
    return all(abs(product) <= tolerance for product in products)  # NaN is not


def zxz_rotation(matrix: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """Angles (α, β, γ) [rad] with R = Rz(α) Rx(β) Rz(γ); α is zero if both rotate about the same axis."""
    r = [list(row) for row in matrix]
    beta = math.atan2(math.hypot(r[0][2], r[1][2]), r[2][2])
    if math.hypot(r[0][2], r[1][2]) < 1e-15:
        return 0.0, (0.0 if r[2][2] > 0.0 else math.pi), math.atan2(-r[0][1], r[0][0])
    alpha = math.atan2(r[0][2], -r[1][2])
    # γ from the first row after removing α: unlike those of the third row, its entries are not small if β is
    c, s = math.cos(alpha), math.sin(alpha)
    return alpha, beta, math.atan2(-(c * r[0][1] + s * r[1][1]), c * r[0][0] + s * r[1][0])


def _factors(rotation: Rotation) -> tuple[Rotation, ...]:
    return rotation.factors if isinstance(rotation, RotationChain) else (rotation,)


def _cycle(axis: int) -> tuple[int, int, int]:
    """The axis and the two after it, cyclically."""
    return axis, (axis + 1) % 3, (axis + 2) % 3


_TERMS = 20  # of the series of the arc tangent: the next one is 1e-17 at tan π/8
_TINY = 1e-12  # below this squared angle a two-term series is exact up to rounding


def quaternion_rotation(q: Scalars) -> DenseRotation:
    """R_AB of the orientation q of B in A (3.33, transposed: there it maps from A to B)."""
    x, y, z, w = q
    xx, yy, zz = 2.0 * x * x, 2.0 * y * y, 2.0 * z * z
    xy, xz, yz = 2.0 * x * y, 2.0 * x * z, 2.0 * y * z
    wx, wy, wz = 2.0 * w * x, 2.0 * w * y, 2.0 * w * z
    rows = (
        (1.0 - (yy + zz), xy - wz, xz + wy),
        (xy + wz, 1.0 - (xx + zz), yz - wx),
        (xz - wy, yz + wx, 1.0 - (xx + yy)),
    )
    return DenseRotation(Matrix3.of(rows))


def quaternion_of(rotation: Rotation) -> list[Scalar]:
    """The quaternion of a rotation R_AB, by the one of four formulas that has the largest divisor."""
    R = rotation.matrix()
    x, y, z = R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]  # 4w times the vector part
    xy, xz, yz = R[0][1] + R[1][0], R[0][2] + R[2][0], R[1][2] + R[2][1]
    ways = [  # the quaternion times 4w, 4x, 4y, 4z
        (x, y, z, 1.0 + R[0][0] + R[1][1] + R[2][2]),
        (1.0 + R[0][0] - R[1][1] - R[2][2], xy, xz, x),
        (xy, 1.0 - R[0][0] + R[1][1] - R[2][2], yz, y),
        (xz, yz, 1.0 - R[0][0] - R[1][1] + R[2][2], z),
    ]
    best, size = ways[0], ways[0][3]
    for way, own in zip(ways[1:], (0, 1, 2), strict=True):
        larger = size < way[own]
        best = tuple(select(larger, a, b) for a, b in zip(way, best, strict=True))
        size = select(larger, way[own], size)
    return quaternion_normalized(best)


def quaternion_product(a: Scalars, b: Scalars) -> list[Scalar]:
    """a ⊗ b: the composition of a with b, where b is relative to the frame with orientation a."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]


def quaternion_rate(q: Scalars, omega: Vector3) -> list[Scalar]:
    """q̇ for the angular velocity ω in the body's axes [rad/s] (3.34)."""
    return [0.5 * part for part in quaternion_product(q, [*omega, 0.0])]


def quaternion_exp(angle: Vector3) -> list[Scalar]:
    """The orientation after a rotation by the rotation vector `angle` [rad]."""
    squared = angle.dot(angle)
    small = squared < _TINY
    length = sqrt(maximum(squared, _TINY))
    factor = select(small, 0.5 - squared / 48.0, sin(0.5 * length) / length)
    return [*(angle * factor), select(small, 1.0 - squared / 8.0, cos(0.5 * length))]


def quaternion_log(q: Scalars) -> Vector3:
    """The shortest rotation vector [rad] of the orientation q; the same for q and −q, and for multiples of them.

    Its length is φ = 8 arctan tan φ/8, with |(x, y, z)| = sin φ/2, w = cos φ/2, and tan a/2 = tan a / (1 + √(1 + tan² a)): the
    power series then needs no cases, and is computed for several states at once, unlike the arc tangent of libraries.
    """
    x, y, z, w = q
    sign = select(w < 0.0, -1.0, 1.0)
    vector, w = Vector3(x, y, z) * sign, w * sign
    squared = vector.dot(vector)
    quarter = 1.0 / (sqrt(squared + w * w) + w)  # times |vector|: tan φ/4
    eighth = quarter / (1.0 + sqrt(1.0 + squared * quarter * quarter))
    square = squared * eighth * eighth  # at most tan² π/8 = 0.17
    series: Scalar = 0.0
    for k in reversed(range(_TERMS)):
        series = 1.0 / (2 * k + 1) - square * series
    return vector * (8.0 * eighth * series)


def quaternion_normalized(q: Scalars) -> list[Scalar]:
    """q / |q|."""
    x, y, z, w = q
    scale = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return [part * scale for part in q]
