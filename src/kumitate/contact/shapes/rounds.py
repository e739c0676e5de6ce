"""Spheres, capsules and cylinders against one another: distances of points and segments."""

from __future__ import annotations

from ...model import Capsule, Cylinder, Sphere
from ...scalar import Scalar, absolute, both, maximum, minimum, select, sqrt
from ...spatial import Transform, Vector3
from .corner import outside_corner
from .touch import Touch, axes_of, between_balls, signed

__all__ = ["capsule_capsule", "sphere_capsule", "sphere_cylinder", "sphere_sphere"]

#: sin² of the angle between two capsules below which they are parallel; above it they touch at one point only.
_PARALLEL, _CROSSED = 1e-10, 0.01
#: Two points closer than this along a capsule are one [m].
_ONE = 1e-9


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
    """Two capsules: the closest points of their axes; if they are nearly parallel, also the further end of their overlap.

    The closest points of two segments are found as by Ericson, Real-Time Collision Detection (2005), section 5.1.9.
    """
    u, v, half_a, half_b = axes_of(X_WA)[2], axes_of(X_WB)[2], 0.5 * a.length, 0.5 * b.length
    apart = X_WA.translation - X_WB.translation
    cosine, along_a, along_b = u.dot(v), u.dot(apart), v.dot(apart)
    sine2 = 1.0 - cosine * cosine
    parallel = sine2 < _PARALLEL
    # the part of A's axis next to B's axis
    beside = absolute(cosine) * half_b
    low, high = maximum(-half_a, -along_a - beside), minimum(half_a, beside - along_a)
    crossing = (cosine * along_b - along_a) / select(parallel, 1.0, sine2)
    s = _clamped(select(parallel, low, crossing), half_a)
    t = _clamped(cosine * s + along_b, half_b)
    s = _clamped(cosine * t - along_a, half_a)
    further = select(s - low > high - s, low, high)
    t_further = _clamped(cosine * further + along_b, half_b)
    across = _perpendicular(u, v, axes_of(X_WB)[0])

    def at(s: Scalar, t: Scalar) -> Touch:
        return between_balls(X_WA.translation + u * s, a.radius, X_WB.translation + v * t, b.radius, across)

    second = both(both(sine2 < _CROSSED, high - low > _ONE), absolute(further - s) > _ONE)
    return [at(s, t), at(further, t_further).only_if(second)]


def _perpendicular(u: Vector3, v: Vector3, otherwise: Vector3) -> Vector3:
    """A unit vector perpendicular to u and v; `otherwise` where they are parallel."""
    across = u.cross(v)
    square = across.dot(across)
    parallel = square < _PARALLEL
    scale = 1.0 / sqrt(select(parallel, 1.0, square))
    return Vector3(*(select(parallel, other, part * scale) for other, part in zip(otherwise, across, strict=True)))


def _clamped(x: Scalar, most: float) -> Scalar:
    return maximum(-most, minimum(most, x))
