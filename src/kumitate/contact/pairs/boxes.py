"""Boxes against spheres, capsules, cylinders and the vertices of hulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from ...model import Box, Capsule, Cylinder, Hull, Sphere
from ...scalar import Scalar, Scalars, absolute, either, maximum, minimum, select, sqrt
from ...spatial import Transform, Vector3
from .flats import cylinder_points, vertices_of
from .touch import FAR, Touch, axes_of, outside_corner, signed

#: A direction with a smaller component does not cross a face [1].
_ALONG = 1e-12
#: Slower growth of the squared distance of the segment than this counts as zero, being rounding error [m].
_LEVEL = 1e-13
#: A capsule inclined by less than this to a face [sin of the angle] lies on it with two points.
_LEANING = 0.1
#: Two points closer than this along a capsule are one [m].
_ONE = 1e-9


def sphere_box(a: Sphere, X_WA: Transform, b: Box, X_WB: Transform) -> list[Touch]:
    """A sphere with a box: one point, on a face, an edge or a corner; at the nearest face if the sphere's center is inside."""
    return [_ball_on_box(X_WB.rotation.unrotate(X_WA.translation - X_WB.translation), a.radius, b, X_WB)]


def capsule_box(a: Capsule, X_WA: Transform, b: Box, X_WB: Transform) -> list[Touch]:
    """A capsule with a box: the closest point of its axis; if it lies along a face or an edge, also the further end there.

    The squared distance of the box from the point p + t u of the axis is convex, and quadratic between the points where the
    axis crosses the planes of the faces: its derivative, zero at the closest point, is interpolated between two of them.
    """
    center, u = (
        X_WB.rotation.unrotate(vector) for vector in (X_WA.translation - X_WB.translation, axes_of(X_WA)[2])
    )  # in the axes of B
    half, ends = [0.5 * edge for edge in b.size], 0.5 * a.length
    places: list[Scalar] = [-ends, ends]
    for p, slope, h in zip(center, u, half, strict=True):
        inverse = 1.0 / select(absolute(slope) < _ALONG, _ALONG, slope)
        places += [maximum(-ends, minimum(ends, (side - p) * inverse)) for side in (-h, h)]
    growths, squares = zip(*(_growth(center + u * t, u, half) for t in places), strict=True)

    # the last t up to which the distance falls, and the first from which it grows
    before, growth_before, after, growth_after = -ends, -FAR, ends, FAR
    for t, growth in zip(places, growths, strict=True):
        falls = growth <= _LEVEL
        before, growth_before = maximum(before, select(falls, t, before)), maximum(growth_before, select(falls, growth, -FAR))
        after, growth_after = minimum(after, select(falls, after, t)), minimum(growth_after, select(falls, FAR, growth))
    rise = growth_after - growth_before
    closest = before + (after - before) * maximum(0.0, minimum(1.0, -growth_before / select(rise > 0.0, rise, 1.0)))

    low = high = closest
    for t, growth, square in zip(places, growths, squares, strict=True):
        level = growth * growth <= _LEANING**2 * square + _LEVEL**2
        low, high = minimum(low, select(level, t, low)), maximum(high, select(level, t, high))
    further = select(closest - low > high - closest, low, high)
    first, second = (_ball_on_box(center + u * t, a.radius, b, X_WB) for t in (closest, further))
    return [first, second.only_if(absolute(further - closest) > _ONE)]


def _growth(point: Vector3, u: Vector3, half: Sequence[float]) -> tuple[Scalar, Scalar]:
    """Half the derivative along u of the squared distance of a box from a point, and the squared distance."""
    beyond = Vector3(*(x - maximum(-h, minimum(h, x)) for x, h in zip(point, half, strict=True)))
    return u.dot(beyond), beyond.dot(beyond)


def _ball_on_box(center_B: Vector3, radius: float, box: Box, X_WB: Transform) -> Touch:
    """A ball with a box; its center is given in the axes of the box."""
    offsets = [absolute(x) - 0.5 * edge for x, edge in zip(center_B, box.size, strict=True)]
    distance, away = outside_corner(offsets)
    normal_B = Vector3(*(signed(part, x) for part, x in zip(away, center_B, strict=True)))
    gap = distance - radius
    middle_B = center_B - normal_B * (radius + 0.5 * gap)
    return Touch(X_WB.point(middle_B), X_WB.rotation.rotate(normal_B), gap)


def hull_box(a: Hull, X_WA: Transform, b: Box, X_WB: Transform) -> list[Touch]:
    """A hull with a box: the vertices that project onto the one face of the box through which the hull has entered.

    All vertices use the same face, so a foot placed near the edge of a step is not pushed off sideways. Corners and edges of
    the box that touch a face of the hull between its vertices are not found.
    """
    vertices = vertices_of(a, X_WA)
    in_box = [X_WB.rotation.unrotate(vertex - X_WB.translation) for vertex in vertices]
    low, high = ([reduce(pick, (vertex[k] for vertex in in_box)) for k in range(3)] for pick in (minimum, maximum))
    return _on_face(_nearest_face(low, high, b), vertices, in_box, X_WB)


def cylinder_box(a: Cylinder, X_WA: Transform, b: Box, X_WB: Transform) -> list[Touch]:
    """A cylinder with a box: its four contact points with the plane of the one face through which it has entered.

    Edges of the box that touch the side or a cap of the cylinder between these points are not found.
    """
    center, u = (X_WB.rotation.unrotate(v) for v in (X_WA.translation - X_WB.translation, axes_of(X_WA)[2]))
    reach = [a.radius * sqrt(maximum(1.0 - x * x, 0.0)) + 0.5 * a.length * absolute(x) for x in u]
    low, high = ([c + side * r for c, r in zip(center, reach, strict=True)] for side in (-1.0, 1.0))
    face = _nearest_face(low, high, b)
    points = cylinder_points(a, X_WA, X_WB.rotation.rotate(face.normal_B))
    in_box = [X_WB.rotation.unrotate(point - X_WB.translation) for point in points]
    return _on_face(face, points, in_box, X_WB)


@dataclass(frozen=True)
class _Face:
    """A face of a box B."""

    normal_B: Vector3  # its outward normal, one of six
    height: Scalar  # above the box's center [m]
    bounds: Scalars  # its extent along each axis of B [m]; unlimited along its normal


def _nearest_face(low: Scalars, high: Scalars, box: Box) -> _Face:
    """The face with the largest separation, or least penetration, from a body within `low` to `high` along the box's axes."""
    half = [0.5 * edge for edge in box.size]
    apart = [maximum(a, -b) - h for a, b, h in zip(low, high, half, strict=True)]
    most = reduce(maximum, apart)
    normal, bounds, height, taken = [], [], 0.0, False
    for k in range(3):
        here = apart[k] >= most
        weight = select(taken, 0.0, select(here, 1.0, 0.0))
        taken = either(taken, here)
        normal.append(signed(weight, low[k] + high[k]))
        bounds.append(half[k] + FAR * weight)
        height = height + half[k] * weight
    return _Face(Vector3.of(normal), height, bounds)


def _on_face(face: _Face, points: Sequence[Vector3], in_box: Sequence[Vector3], X_WB: Transform) -> list[Touch]:
    """Contact points of the given points (in the world and in the box) that project onto the face."""
    normal = X_WB.rotation.rotate(face.normal_B)
    touches = []
    for point, p_B in zip(points, in_box, strict=True):
        gap = face.normal_B.dot(p_B) - face.height
        inside = reduce(minimum, (bound - absolute(x) for bound, x in zip(face.bounds, p_B, strict=True)))
        touches.append(Touch(point - normal * (0.5 * gap), normal, gap).only_if(inside >= 0.0))
    return touches
