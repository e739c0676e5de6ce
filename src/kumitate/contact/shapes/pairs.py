"""The pairs of shapes that can touch, and the function that finds their contact points."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import ModelError
from ...model import Box, Capsule, Cylinder, Ellipsoid, Hull, Mesh, Plane, Polygon, Shape, Sphere
from ...spatial import Transform
from .box_box import box_box
from .boxes import capsule_box, cylinder_box, hull_box, sphere_box
from .flats import box_on_plane, box_on_polygon, capsule_on, cylinder_on, ellipsoid_on, hull_on, sphere_on
from .rounds import capsule_capsule, sphere_capsule, sphere_cylinder, sphere_sphere
from .touch import Touch

__all__ = ["PAIRS", "capacity", "touches", "without_routine"]

#: Each pair of kinds in one order; the other order has reversed normals. A new pair is a new entry.
PAIRS: dict[tuple[type, type], Callable[..., list[Touch]]] = {
    **{(Sphere, flat): sphere_on for flat in (Plane, Polygon)},
    **{(Capsule, flat): capsule_on for flat in (Plane, Polygon)},
    (Box, Plane): box_on_plane,
    (Box, Polygon): box_on_polygon,
    **{(Cylinder, flat): cylinder_on for flat in (Plane, Polygon)},
    **{(Ellipsoid, flat): ellipsoid_on for flat in (Plane, Polygon)},
    **{(Hull, flat): hull_on for flat in (Plane, Polygon)},
    (Sphere, Sphere): sphere_sphere,
    (Sphere, Capsule): sphere_capsule,
    (Sphere, Cylinder): sphere_cylinder,
    (Sphere, Box): sphere_box,
    (Capsule, Capsule): capsule_capsule,
    (Capsule, Box): capsule_box,
    (Cylinder, Box): cylinder_box,
    (Hull, Box): hull_box,
    (Box, Box): box_box,
}


def touches(shape_a: Shape, X_WA: Transform, shape_b: Shape, X_WB: Transform) -> list[Touch]:
    """The contact points of two shapes that touch or are close, over scalars: S, section 3.3, step 2.

    The number of slots depends only on the kinds of shapes and the number of vertices of a hull; a slot without a point at the
    moment has the gap `FAR`. A positive gap is a distance, so points are known before they touch.

    Args:
        X_WA, X_WB: the poses of the shapes in the world.

    Raises:
        ModelError: if there is no routine for such a pair.

    >>> from kumitate.model import Plane, Sphere
    >>> from kumitate.spatial import pose
    >>> [touch] = touches(Sphere(0.5), pose((0, 0, 0.75)), Plane(), pose())
    >>> touch.gap, touch.point.z, touch.normal.z
    (0.25, 0.125, 1.0)
    """
    kinds = type(shape_a), type(shape_b)
    if (pair := PAIRS.get(kinds)) is not None:
        return pair(shape_a, X_WA, shape_b, X_WB)
    if (pair := PAIRS.get(kinds[::-1])) is not None:
        return [touch.flipped() for touch in pair(shape_b, X_WB, shape_a, X_WA)]
    raise ModelError(without_routine(shape_a, shape_b))


def capacity(shape_a: Shape, shape_b: Shape) -> int:
    """The maximum number of contact points of these two shapes.

    Raises:
        ModelError: as for `touches`.
    """
    return len(touches(shape_a, Transform(), shape_b, Transform()))


def without_routine(shape_a: Shape, shape_b: Shape) -> str | None:
    """The fault and remedy if there is no routine for the kinds of two shapes; None if there is one."""
    a, b = type(shape_a), type(shape_b)
    if (a, b) in PAIRS or (b, a) in PAIRS:
        return None
    known = ", ".join(f"{one.__name__}-{other.__name__}" for one, other in PAIRS)
    remedy = "put a sphere, capsule, box or hull in the place of one of them"
    if Mesh in (a, b):
        remedy = "take model.meshes.touching_hull of the mesh"
    elif not {a, b} <= {kind for pair in PAIRS for kind in pair}:
        remedy += ", or write a routine for them and add it to kumitate.contact.shapes.PAIRS"
    one, other = (f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}" for kind in (a, b))
    return f"how {one} touches {other} is not known; the pairs are {known}; {remedy}"
