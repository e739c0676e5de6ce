"""Spheres, capsules and cylinders against one another: distances of points and segments."""

from __future__ import annotations

from dataclasses import replace

from ...model import Capsule, Cylinder, Sphere
from ...scalar import Scalar, absolute, both, maximum, minimum, select, sqrt, when
from ...spatial import Transform, Vector3
from .touch import FAR, Touch, axes_of, between_balls, outside_corner, signed

#: sin² of the angle between two capsules below which they are parallel; above it they touch at one point only.
_PARALLEL, _CROSSED = 1e-10, 0.01
#: Two points closer than this along a capsule are one [m]; the closest point is one of its own if deeper by this [m].
_ONE, _DEEPER = 1e-9, 1e-7


def sphere_sphere(a: Sphere, X_WA: Transform, b: Sphere, X_WB: Transform) -> list[Touch]:
    """Two spheres: one point."""
    return [between_balls(X_WA.translation, a.radius, X_WB.translation, b.radius, axes_of(X_WB)[2])]


def sphere_capsule(a: Sphere, X_WA: Transform, b: Capsule, X_WB: Transform) -> list[Touch]:
    """A sphere with a capsule: one point."""
    x, _, u = axes_of(X_WB)
    t = _clamped(u.dot(X_WA.translation - X_WB.translation), 0.5 * b.length)
    return [between_balls(X_WA.translation, a.radius, X_WB.translation + u * t, b.radius, x)]


def sphere_cylinder(a: Sphere, X_WA: Transform, b: Cylinder, X_WB: Transform) -> list[Touch]:
    """A sphere with a cylinder: one point, on the side, a cap or a rim, even if the sphere's center is inside."""
    x, _, u = axes_of(X_WB)
    center = X_WA.translation - X_WB.translation
    height = u.dot(center)
    radial = center - u * height
    square = radial.dot(radial)
    on_axis = square < 1e-24
    radius = sqrt(square)
    scale = 1.0 / select(on_axis, 1.0, radius)
    away = Vector3(*(select(on_axis, other, part * scale) for other, part in zip(x, radial, strict=True)))
    distance, (out, up) = outside_corner([radius - b.radius, absolute(height) - 0.5 * b.length])
    normal = away * out + u * signed(up, height)
    gap = distance - a.radius
    return [Touch(X_WA.translation - normal * (a.radius + 0.5 * gap), normal, gap)]


def capsule_capsule(a: Capsule, X_WA: Transform, b: Capsule, X_WB: Transform) -> list[Touch]:
    """Two capsules: the closest points of their axes; if they are nearly parallel, also the further end of their overlap."""
    axes = _Axes(a, X_WA, b, X_WB)
    further = select(axes.s - axes.low > axes.high - axes.s, axes.low, axes.high)
    beside = axes.beside(further)
    axes.find_across()
    two = both(both(axes.sine2 < _CROSSED, axes.high - axes.low > _ONE), absolute(further - axes.s) > _ONE)
    return [axes.at(axes.s, axes.t), axes.at(further, beside).only_if(two)]


def capsules_in_rows(a: Capsule, X_WA: Transform, b: Capsule, X_WB: Transform) -> list[Touch]:
    """The same, where points keep their slots while capsules rock: the closest one if it is deeper than the ends; both ends."""
    axes = _Axes(a, X_WA, b, X_WB)
    axes.find_across()
    closest = axes.at(axes.s, axes.t)

    def ends() -> list[list[Scalar]]:
        return [axes.at(s, axes.beside(s)).numbers for s in (axes.low, axes.high)]

    along = both(axes.sine2 < _CROSSED, axes.low < axes.high)
    two = when(along, ends, [replace(closest, gap=FAR).numbers] * 2)
    return [
        closest.only_if(closest.gap < minimum(two[0][-1], two[1][-1]) - _DEEPER),
        *(Touch(Vector3.of(row[:3]), Vector3.of(row[3:6]), row[6]) for row in two),
    ]


class _Axes:
    """The axes of two capsules and their closest points: Ericson, Real-Time Collision Detection (2005), section 5.1.9.

    Attributes:
        s, t: the places along A's axis and B's where they are closest [m].
        low, high: the part of A's axis next to B's [m].
        sine2: the square of the sine of their angle.
    """

    def __init__(self, a: Capsule, X_WA: Transform, b: Capsule, X_WB: Transform):
        self.balls, self.poses = (a.radius, b.radius), (X_WA, X_WB)
        self.u, self.v, half_a, half_b = axes_of(X_WA)[2], axes_of(X_WB)[2], 0.5 * a.length, 0.5 * b.length
        apart = X_WA.translation - X_WB.translation
        cosine, along_a, along_b = self.u.dot(self.v), self.u.dot(apart), self.v.dot(apart)
        self.sine2 = 1.0 - cosine * cosine
        parallel = self.sine2 < _PARALLEL
        reach = absolute(cosine) * half_b
        self.low, self.high = maximum(-half_a, -along_a - reach), minimum(half_a, reach - along_a)
        crossing = (cosine * along_b - along_a) / select(parallel, 1.0, self.sine2)
        s = _clamped(select(parallel, self.low, crossing), half_a)
        self.beside = lambda s: _clamped(cosine * s + along_b, half_b)
        self.t = self.beside(s)
        self.s = _clamped(cosine * self.t - along_a, half_a)

    def find_across(self) -> None:
        """Finds a unit vector perpendicular to both axes, even if they are parallel."""
        across = self.u.cross(self.v)
        square = across.dot(across)
        parallel = square < _PARALLEL
        scale = 1.0 / sqrt(select(parallel, 1.0, square))
        other = axes_of(self.poses[1])[0]
        self.across = Vector3(*(select(parallel, x, part * scale) for x, part in zip(other, across, strict=True)))

    def at(self, s: Scalar, t: Scalar) -> Touch:
        """The balls at places along the axes [m]."""
        p, q = (X.translation + axis * place for X, axis, place in zip(self.poses, (self.u, self.v), (s, t), strict=True))
        return between_balls(p, self.balls[0], q, self.balls[1], self.across)


def _clamped(x: Scalar, most: Scalar) -> Scalar:
    return maximum(-most, minimum(most, x))
