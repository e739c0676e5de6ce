"""Where rays meet convex shapes, in closed form, for programs of sensors; any solid of a row is met by `rows.nearest`.

A line p + t d runs inside of a convex shape from one t to another; between two planes, in a ball or a cylinder each of the two
has a closed form (A. Glassner, ed., An Introduction to Ray Tracing, 1989, chapter 2). A ray from outside meets the shape where
it enters, one from inside where it leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...model.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Shape, Sphere
from ...scalar import Scalar, absolute, maximum, minimum, select, sqrt
from ...spatial import Vector3

#: Further than any shape [m]: where nothing is met.
FAR = 1e30
#: Directions with smaller parts across two planes, or with smaller squares across an axis, are parallel to them.
_PARALLEL = 1e-15


class _Inside(NamedTuple):
    """The part of a line inside of a shape, from entering to leaving [m]; nothing if it enters after it leaves."""

    enters: Scalar
    leaves: Scalar

    def and_(self, other: _Inside) -> _Inside:
        """Inside of both."""
        return _Inside(maximum(self.enters, other.enters), minimum(self.leaves, other.leaves))

    def joined(self, other: _Inside) -> _Inside:
        """Inside of the convex shape that is made of both."""
        first, second = self.or_nothing(), other.or_nothing()
        return _Inside(minimum(first.enters, second.enters), maximum(first.leaves, second.leaves))

    def or_nothing(self) -> _Inside:
        """Nothing as (FAR, −FAR)."""
        nothing = self.enters > self.leaves
        return _Inside(select(nothing, FAR, self.enters), select(nothing, -FAR, self.leaves))


def met(shape: Shape, p: Vector3, d: Vector3) -> Scalar:
    """The distance [m] from p along d, of unit length, to where a ray meets a shape, in its frame; FAR if nowhere."""
    inside = MET[type(shape)](shape, p, d)
    ahead = select(inside.enters < 0.0, inside.leaves, inside.enters)
    return select(maximum(inside.enters, 0.0) > inside.leaves, FAR, ahead)


def _between(half: Scalar, p: Scalar, d: Scalar) -> _Inside:
    """Between two planes at ±half."""
    parallel = absolute(d) < _PARALLEL
    slope = 1.0 / select(parallel, 1.0, d)
    middle, reach = -p * slope, half * absolute(slope)
    outside = select(absolute(p) > half, -FAR, FAR)
    return _Inside(select(parallel, -outside, middle - reach), select(parallel, outside, middle + reach))


def _quadric(a: Scalar, b: Scalar, c: Scalar) -> _Inside:
    """Where a t² + 2 b t + c ≤ 0; everywhere or nowhere along the axis of a cylinder, where a = 0."""
    along = a < _PARALLEL
    square = b * b - a * c
    root, size = sqrt(maximum(square, 0.0)), select(along, 1.0, a)
    nothing = select(along, c, -square) > 0.0
    wide = select(along, FAR, root / size)
    middle = select(along, 0.0, -b / size)
    return _Inside(select(nothing, FAR, middle - wide), select(nothing, -FAR, middle + wide))


def _ball(radius: Scalar, p: Vector3, d: Vector3) -> _Inside:
    return _quadric(d.dot(d), p.dot(d), p.dot(p) - radius * radius)


def _ellipsoid(shape: Ellipsoid, p: Vector3, d: Vector3) -> _Inside:
    scaled = [Vector3.of([x / size for x, size in zip(v, shape.half_axes, strict=True)]) for v in (p, d)]
    return _ball(1.0, *scaled)


def _box(shape: Box, p: Vector3, d: Vector3) -> _Inside:
    x, y, z = (_between(0.5 * size, a, b) for size, a, b in zip(shape.size, p, d, strict=True))
    return x.and_(y).and_(z)


def _barrel(shape: Cylinder | Capsule, p: Vector3, d: Vector3) -> _Inside:
    """The cylinder about z."""
    (x, y, z), (u, v, w) = p, d
    round_ = _quadric(u * u + v * v, x * u + y * v, x * x + y * y - shape.radius * shape.radius)
    return round_.and_(_between(0.5 * shape.length, z, w))


def _capsule(shape: Capsule, p: Vector3, d: Vector3) -> _Inside:
    ends = [_ball(shape.radius, p - Vector3(0.0, 0.0, side * shape.length), d) for side in (0.5, -0.5)]
    return _barrel(shape, p, d).joined(ends[0]).joined(ends[1])


def _plane(shape: Plane, p: Vector3, d: Vector3) -> _Inside:
    """Met from above alone, at the plane."""
    (_, _, z), (_, _, w) = p, d
    down = w < -_PARALLEL
    at = select(down, -z / select(down, w, 1.0), FAR)
    return _Inside(at, at)


#: By the shapes that rays meet.
MET: dict[type[Shape], Callable[[Any, Vector3, Vector3], _Inside]] = {
    Box: _box, Capsule: _capsule, Cylinder: _barrel, Ellipsoid: _ellipsoid, Plane: _plane,
    Sphere: lambda shape, p, d: _ball(shape.radius, p, d),
}  # fmt: skip
