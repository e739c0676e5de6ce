"""Planes and polygons: other shapes touch them at a few candidate points, each the center of a ball.

By S, section 2.1, contact along a line or a surface is contact at the vertices of that line or surface.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...model import Box, Capsule, Cylinder, Ellipsoid, Hull, Plane, Polygon, Sphere
from ...scalar import Scalar, maximum, minimum, select, sqrt
from ...spatial import Transform, Vector3
from .touch import Touch, axes_of, over_plane, signed

#: A ball of the body: its center in the world and its radius [m].
Ball = tuple[Vector3, float]

#: A cylinder whose axis is inclined by less than this to the normal [rad] is upright and has no lowest direction.
_STANDING = 1e-9


def sphere_on(sphere: Sphere, X_WA: Transform, flat: Plane | Polygon, X_WB: Transform) -> list[Touch]:
    """A sphere with a plane or polygon: one point."""
    return _on(flat, X_WB, [(X_WA.translation, sphere.radius)])


def capsule_on(capsule: Capsule, X_WA: Transform, flat: Plane | Polygon, X_WB: Transform) -> list[Touch]:
    """A capsule with a plane or polygon: a point at each end."""
    half = axes_of(X_WA)[2] * (0.5 * capsule.length)
    return _on(flat, X_WB, [(X_WA.translation + half, capsule.radius), (X_WA.translation - half, capsule.radius)])


def ellipsoid_on(ellipsoid: Ellipsoid, X_WA: Transform, flat: Plane | Polygon, X_WB: Transform) -> list[Touch]:
    """An ellipsoid with a plane or polygon: its lowest point, −A² n/|A n| from its center for half axes A, normal n."""
    normal = axes_of(X_WB)[2]
    along = X_WA.rotation.unrotate(normal)
    scaled = [half * part for half, part in zip(ellipsoid.half_axes, along, strict=True)]
    reach = sqrt(scaled[0] * scaled[0] + scaled[1] * scaled[1] + scaled[2] * scaled[2])
    down = Vector3(*(half * part for half, part in zip(ellipsoid.half_axes, scaled, strict=True))) * (1.0 / reach)
    return _on(flat, X_WB, [(X_WA.translation - X_WA.rotation.rotate(down), 0.0)])


def box_on_plane(box: Box, X_WA: Transform, flat: Plane, X_WB: Transform) -> list[Touch]:
    """A box with a plane: the four corners of the face that is most parallel to it, including the lowest corner."""
    halves = _halves(box, X_WA)
    normal = axes_of(X_WB)[2]
    up = [normal.dot(axis) for axis in axes_of(X_WA)]
    steep = [along * along for along in up]
    by_x, by_y = steep[0] >= maximum(steep[1], steep[2]), steep[1] >= steep[2]

    def chosen(of_x: Vector3, of_y: Vector3, of_z: Vector3) -> Vector3:
        parts = zip(of_x, of_y, of_z, strict=True)
        return Vector3(*(select(by_x, one, select(by_y, two, three)) for one, two, three in parts))

    across = [Vector3(*(signed(part, along) for part in half)) for half, along in zip(halves, up, strict=True)]
    middle = X_WA.translation - chosen(*across)
    x, y, z = halves
    one, two = chosen(y, z, x), chosen(z, x, y)
    return _on(flat, X_WB, [(middle + side + other, 0.0) for side in (one, -one) for other in (two, -two)])


def corners_on(box: Box, X_WA: Transform, flat: Plane | Polygon, X_WB: Transform) -> list[Touch]:
    """A box with a plane or polygon: its eight corners, of which those over a polygon need not be the lowest."""
    corners = [X_WA.translation]
    for half in _halves(box, X_WA):
        corners = [corner + side for corner in corners for side in (half, -half)]
    return _on(flat, X_WB, [(corner, 0.0) for corner in corners])


def _halves(box: Box, X_WA: Transform) -> list[Vector3]:
    """From the center of a box to the centers of three of its faces, in the world [m]."""
    return [axis * (0.5 * edge) for axis, edge in zip(axes_of(X_WA), box.size, strict=True)]


def hull_on(hull: Hull, X_WA: Transform, flat: Plane | Polygon, X_WB: Transform) -> list[Touch]:
    """A hull with a plane or polygon: its vertices."""
    return _on(flat, X_WB, [(vertex, 0.0) for vertex in vertices_of(hull, X_WA)])


def vertices_of(hull: Hull, X_WA: Transform) -> list[Vector3]:
    """The vertices of a hull in the world [m]."""
    x, y, z = axes_of(X_WA)
    return [X_WA.translation + x * a + y * b + z * c for a, b, c in hull.vertices]


def cylinder_on(cylinder: Cylinder, X_WA: Transform, flat: Plane | Polygon, X_WB: Transform) -> list[Touch]:
    """A cylinder with a plane or polygon: the lowest point of each rim, and two more of the lower one, 120° from its lowest.

    Upright, it stands on a triangle with one corner on the side to which the cylinder starts to tilt; lying, on two points.
    """
    points = cylinder_points(cylinder, X_WA, axes_of(X_WB)[2])
    return _on(flat, X_WB, [(point, 0.0) for point in points])


def cylinder_points(cylinder: Cylinder, X_WA: Transform, normal: Vector3) -> list[Vector3]:
    """The points of a cylinder that can touch a plane with this normal, in the world [m]: see `cylinder_on`."""
    x, _, u = axes_of(X_WA)
    along = normal.dot(u)
    across = u * along - normal  # downwards in the cap's plane
    square = across.dot(across)
    standing = square < _STANDING * _STANDING
    scale = 1.0 / sqrt(select(standing, 1.0, square))
    down = Vector3(*(select(standing, other, part * scale) for other, part in zip(x, across, strict=True)))
    rim, half = down * cylinder.radius, u * (0.5 * cylinder.length)
    aside = u.cross(down) * (math.sqrt(0.75) * cylinder.radius)
    lower = X_WA.translation - Vector3(*(signed(part, along) for part in half)) - rim * 0.5
    return [X_WA.translation + half + rim, X_WA.translation - half + rim, lower + aside, lower - aside]


def _on(flat: Plane | Polygon, X_WB: Transform, balls: Sequence[Ball]) -> list[Touch]:
    """Each ball against the plane z = 0 of B; for a polygon only if the foot of the perpendicular lies inside."""
    x, y, normal = axes_of(X_WB)
    level, origin_x, origin_y = (axis.dot(X_WB.translation) for axis in (normal, x, y))
    touches = []
    for center, radius in balls:
        touch = over_plane(center, radius, normal, level)
        if isinstance(flat, Polygon):  # known while tracing
            inside = _inside(flat, x.dot(center) - origin_x, y.dot(center) - origin_y)
            touch = touch.only_if(minimum(inside, touch.gap + flat.depth) >= 0.0)
        touches.append(touch)
    return touches


def _inside(polygon: Polygon, x: Scalar, y: Scalar) -> Scalar:
    """The distance of the point (x, y) from the line of the nearest side [m], negative outside."""
    depth: Scalar = math.inf
    for k, (bx, by) in enumerate(polygon.vertices):
        ax, ay = polygon.vertices[k - 1]
        length = math.hypot(bx - ax, by - ay)
        inward_x, inward_y = (ay - by) / length, (bx - ax) / length  # to the left of the side
        offset = inward_x * x + inward_y * y - (inward_x * ax + inward_y * ay)
        depth = offset if k == 0 else minimum(depth, offset)
    return depth
