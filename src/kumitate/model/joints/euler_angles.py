"""The spherical joint by three angles about any three axes: equivalent to three revolute joints through one point.

The thesis writes the angles z-y-z (table 2.1) and z-y-x (3.29); hips and shoulders of robots have others. Everything here
follows from R = R(a_1, θ1) R(a_2, θ2) R(a_3, θ3).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ModelError
from ...scalar import arctan2, cos, maximum, sin, sqrt
from ...spatial import AxisTurn, DenseRotation, Force, Inertia, Matrix3, Motion, Rotation, Transform, Vector3
from ..values import checked_numbers, shown
from .contract import JointKind, basis_forces

#: The tolerance within which vectors count as unit vectors, and as coordinate axes.
_UNIT, _ALONG = 4e-16, 1e-15
#: Axes closer to parallel than this do not span all directions.
_PLANE = 1e-6
#: Nearer to the singularity, two of the rotations are about the same axis, and one of them is arbitrary.
_FREE = 1e-9


@dataclass(frozen=True)
class EulerAngles(JointKind):
    """q = (θ1, θ2, θ3) about three axes, each rotated by the angles before it [rad]; v = q̇.

    Singular where the first and the third axis are parallel, or in one plane with the second: `singularity`.

    Attributes:
        axes: three directions in the joint's frame at zero angles; or letters, "zyx". The second must not be parallel to
            either neighbour. With axes at right angles to the second the joint reaches every orientation.

    Raises:
        ModelError: if the axes are not three directions, or two neighbours are parallel.

    >>> EulerAngles("zxy").axes
    ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    """

    name = "euler_angles"
    coordinates = velocities = ("first_angle", "second_angle", "third_angle")
    angles = (0, 1, 2)

    axes: str | Sequence[Sequence[float]] = "zyx"

    def __post_init__(self) -> None:
        given = [[float(letter == name) for name in "xyz"] for letter in self.axes] if isinstance(self.axes, str) else self.axes
        if not isinstance(given, Iterable) or len(given := list(given)) != 3:
            raise ModelError(
                f'euler_angles: the axes are {shown(self.axes)}; they must be three directions. Give three vectors, or "zyx"'
            )
        rows = np.array([checked_numbers("euler_angles", f"axis {k + 1}", row, 3) for k, row in enumerate(given)])
        if not (np.linalg.norm(rows, axis=1) > 1e-12).all():
            raise ModelError(
                f"euler_angles: one of the axes {shown(self.axes)} has no direction; give three vectors that are not zero"
            )
        object.__setattr__(self, "axes", tuple(_direction(row) for row in rows))
        a, b, c = self._axes
        if min(float(a.cross(b).norm()), float(b.cross(c).norm())) < _PLANE:
            raise ModelError(
                f"euler_angles: of the axes {self.axes} two neighbours are parallel, so that one direction is never turned "
                "about; give other axes, or take a joint of fewer degrees of freedom"
            )

    @property
    def _axes(self) -> tuple[Vector3, Vector3, Vector3]:
        a, b, c = (Vector3.of(axis) for axis in self.axes)  # type: ignore[arg-type]
        return a, b, c

    def _turns(self, q: Sequence[Any]) -> list[Rotation]:
        return [_turn(axis, angle) for axis, angle in zip(self._axes, q, strict=True)]

    def _swing(self) -> tuple[float, float, float]:
        """A, B, C of a_1·R(a_2, θ2) a_3 = A + B cos θ2 + C sin θ2."""
        a, b, c = self._axes
        along = float(a.dot(b) * b.dot(c))
        return along, float(a.dot(c)) - along, float(a.dot(b.cross(c)))

    @property
    def reaches_all(self) -> bool:
        """Whether every orientation has angles: the second axis is at right angles to both others, to 1e-9."""
        a, b, c = self._axes
        return max(abs(float(a.dot(b))), abs(float(b.dot(c)))) < 1e-9

    def transform(self, q: Sequence[Any]) -> Transform:
        first, second, third = self._turns(q)
        return Transform(first @ second @ third)

    # --- from orientations to angles ------------------------------------------------------------------------------------
    def locate(self, X_FM: Transform) -> list[Any]:
        # of the two solutions, the one whose second angle is in the half turn around zero
        return self._triple(X_FM.rotation, -1.0 if self._swing()[2] > 0.0 else 1.0)

    def _triple(self, R_FM: Rotation, side: float) -> list[Any]:
        a, b, c = self._axes
        A, B, C = self._swing()
        u = R_FM.rotate(c)  # the third axis, which the last rotation does not move
        x = a.dot(u)  # = A + B cos θ2 + C sin θ2, as the first rotation does not move a_1
        ahead = x - A
        # √(B² + C² − ahead²), written without cancellation for a_2 at right angles to both others
        beside = side * sqrt(maximum(a.cross(u).dot(a.cross(u)) + (B * B + C * C - 1.0 - A * A) + 2.0 * A * x, 0.0))
        second = arctan2(C * ahead + B * beside, B * ahead - C * beside)
        w = _turn(b, second).rotate(c)
        first = arctan2(a.dot(w.cross(u)), w.dot(u) - a.dot(w) * x)
        return [first, second, self._third(R_FM, first, second)]

    def _third(self, R_FM: Rotation, first: Any, second: Any) -> Any:
        a, b, c = self._axes
        across = b.cross(c) * (1.0 / float(b.cross(c).norm()))
        seen = _turn(b, second).unrotate(_turn(a, first).unrotate(R_FM.rotate(across)))
        return arctan2(c.dot(across.cross(seen)), across.dot(seen))

    def nearest(self, X_FM: Transform, q: Sequence[float]) -> list[float]:
        """The angles of an orientation nearest to the angles q: of both solutions, with whole turns added.

        At the singularity, where only a sum of the first and third angles is determined, the first is taken from q, so that
        angles are continuous along a motion where possible.
        """
        found = []
        for side in (1.0, -1.0):
            angles = self._triple(X_FM.rotation, side)
            if self.singularity(angles) < _FREE:
                angles = [q[0], angles[1], self._third(X_FM.rotation, q[0], angles[1])]
            turns = (round((there - here) / math.tau) for here, there in zip(angles, q, strict=True))
            found.append([float(here + math.tau * turn) for here, turn in zip(angles, turns, strict=True)])
        return min(found, key=lambda angles: sum((here - there) ** 2 for here, there in zip(angles, q, strict=True)))

    def deviation(self, X_FM: Transform) -> Motion:
        return Motion(Vector3(), X_FM.rotation.unrotate(X_FM.translation))  # the rotation angle is arbitrary

    # --- motions and forces ---------------------------------------------------------------------------------------------
    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        return tuple(Motion(axis) for axis in self._turned(q))

    def _turned(self, q: Sequence[Any]) -> tuple[Vector3, Vector3, Vector3]:
        """The three axes in M."""
        a, b, c = self._axes
        _, second, third = self._turns(q)
        return third.unrotate(second.unrotate(a)), third.unrotate(b), c

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        first, second, third = self._turned(q)
        spin = third * v[2]  # of M relative to the frame of the second axis; with the second rotation, of the first
        return Motion(first.cross(second * v[1] + spin)), Motion(second.cross(spin)), Motion()

    def _volume(self, q: Sequence[Any]) -> Any:
        """a_1·(a_2 × a_3) in the posture: det S."""
        _, B, C = self._swing()
        return C * cos(q[1]) - B * sin(q[1])

    def active(self, q: Sequence[Any]) -> tuple[Force, ...]:
        first, second, third = self._turned(q)
        share = 1.0 / self._volume(q)
        return tuple(Force(x.cross(y) * share) for x, y in ((second, third), (third, first), (first, second)))

    def constraint(self, q: Sequence[Any]) -> tuple[Force, ...]:
        return basis_forces((3, 4, 5))

    def consistent_rates(self, q: Sequence[float], omega: Sequence[float], damping: float) -> list[float]:
        """The rates q̇ for the angular velocity ω of M in F, in M [rad/s], finite at the singularity too.

        Singularity-consistent (Nenchev, Tsumaki, Uchiyama 2000): q̇ = adj(S) ω · d/(d² + λ²) with d = det S. The direction
        adj(S) ω of the motion in q is exact in every posture; only the speed along it is bounded, by |adj(S) ω|/2λ, which
        without damping λ would be |adj(S) ω|/|d|. The relative error of the speed is λ²/(d² + λ²).
        """
        first, second, third = self._turned(q)
        w, volume = Vector3.of(omega), float(self._volume(q))
        scaled = [x.cross(y).dot(w) for x, y in ((second, third), (third, first), (first, second))]
        if damping == 0.0 and volume == 0.0:
            return [math.copysign(math.inf, x) if x else 0.0 for x in scaled]
        return [float(x) * volume / (volume * volume + damping * damping) for x in scaled]

    def singularity(self, q: Sequence[float]) -> float:
        return abs(float(self._volume(q)))

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        return Inertia(inertia.mass)  # a point mass at the center


def _direction(row: np.ndarray) -> tuple[float, ...]:
    """The unit vector along it: exactly a coordinate axis if it is one up to rounding; unchanged if of unit length."""
    length = float(np.linalg.norm(row))
    unit = row if abs(length - 1.0) < _UNIT else row / length
    whole = np.round(unit)
    near = np.abs(unit - whole).max() < _ALONG
    return tuple(float(x) + 0.0 for x in (whole if near else unit))


def _turn(axis: Vector3, angle: Any) -> Rotation:
    """The rotation about an axis; about a coordinate axis, one that takes two products per row."""
    for k, part in enumerate(axis):
        if abs(part) == 1.0:
            return AxisTurn.by(k, angle if part > 0.0 else -angle)
    c, s = cos(angle), sin(angle)  # Rodrigues' formula
    rest = Matrix3.outer(axis, axis)
    cross = ((0.0, -axis.z, axis.y), (axis.z, 0.0, -axis.x), (-axis.y, axis.x, 0.0))
    rows = [[(1.0 - c) * rest[i][j] + s * cross[i][j] + (c if i == j else 0.0) for j in range(3)] for i in range(3)]
    return DenseRotation(Matrix3.of(rows))
