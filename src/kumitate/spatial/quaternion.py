"""Unit quaternions (x, y, z, w) as orientations (thesis eq. 3.31-3.34)."""

from __future__ import annotations

from collections.abc import Sequence

from ..scalar import Scalar, cos, maximum, select, sin, sqrt
from .rotation import DenseRotation, Rotation
from .vector import Matrix3, Vector3

_TERMS = 20  # of the series of the arc tangent: the next one is 1e-17 at tan π/8
_TINY = 1e-12  # below this squared angle a two-term series is exact up to rounding


def quaternion_rotation(q: Sequence[Scalar]) -> DenseRotation:
    """R_AB of the orientation q of B in A (3.33, transposed: there it maps from A to B)."""
    x, y, z, w = q
    xx, yy, zz = 2.0 * x * x, 2.0 * y * y, 2.0 * z * z
    xy, xz, yz = 2.0 * x * y, 2.0 * x * z, 2.0 * y * z
    wx, wy, wz = 2.0 * w * x, 2.0 * w * y, 2.0 * w * z
    return DenseRotation(
        Matrix3.of(
            [
                [1.0 - (yy + zz), xy - wz, xz + wy],
                [xy + wz, 1.0 - (xx + zz), yz - wx],
                [xz - wy, yz + wx, 1.0 - (xx + yy)],
            ]
        )
    )


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


def quaternion_product(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """a ⊗ b: the composition of a with b, where b is relative to the frame with orientation a."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]


def quaternion_rate(q: Sequence[Scalar], omega: Vector3) -> list[Scalar]:
    """q̇ for the angular velocity ω in the body's axes [rad/s] (3.34)."""
    return [0.5 * part for part in quaternion_product(q, [*omega, 0.0])]


def quaternion_exp(angle: Vector3) -> list[Scalar]:
    """The orientation after a rotation by the rotation vector `angle` [rad]."""
    squared = angle.dot(angle)
    small = squared < _TINY
    length = sqrt(maximum(squared, _TINY))
    factor = select(small, 0.5 - squared / 48.0, sin(0.5 * length) / length)
    return [*(angle * factor), select(small, 1.0 - squared / 8.0, cos(0.5 * length))]


def quaternion_log(q: Sequence[Scalar]) -> Vector3:
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


def quaternion_normalized(q: Sequence[Scalar]) -> list[Scalar]:
    """q / |q|."""
    x, y, z, w = q
    scale = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return [part * scale for part in q]
