"""Which shapes can touch which, and the one function that finds where."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import ModelError
from ...model import Box, Capsule, Cylinder, Hull, Mesh, Plane, Polygon, Shape, Sphere
from ...spatial import Transform
from .box_box import box_box
from .boxes import capsule_box, cylinder_box, hull_box, sphere_box
from .flats import box_on_plane, box_on_polygon, capsule_on, cylinder_on, hull_on, sphere_on
from .rounds import capsule_capsule, sphere_capsule, sphere_cylinder, sphere_sphere
from .touch import Touch

__all__ = ["PAIRS", "capacity", "touches", "without_routine"]

#: One way round of each pair of kinds; the other is the same with normals turned. A new pair is a new entry.
PAIRS: dict[tuple[type, type], Callable[..., list[Touch]]] = {
    **{(Sphere, flat): sphere_on for flat in (Plane, Polygon)},
    **{(Capsule, flat): capsule_on for flat in (Plane, Polygon)},
    (Box, Plane): box_on_plane,
    (Box, Polygon): box_on_polygon,
    **{(Cylinder, flat): cylinder_on for flat in (Plane, Polygon)},
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
    """Where two shapes touch, or come close, over scalars: S, section 3.3, step 2.

    The number of slots depends on the kinds of the shapes only, and on how many vertices a hull has; a slot without a point now
    has the gap `FAR`. A gap that is positive is a distance, so that points that are about to touch are known before they do.

    Args:
        X_WA, X_WB: the poses of the shapes in the world.

    Raises:
        ModelError: if nobody has written down how such a pair touches.

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
    """How many points these two shapes can touch in.

    Raises:
        ModelError: as `touches`.
    """
    return len(touches(shape_a, Transform(), shape_b, Transform()))


def without_routine(shape_a: Shape, shape_b: Shape) -> str | None:
    """Why two shapes cannot touch, and what to do: no routine is written for their kinds; None if there is one."""
    a, b = type(shape_a), type(shape_b)
    if (a, b) in PAIRS or (b, a) in PAIRS:
        return None
    known = ", ".join(f"{one.__name__}-{other.__name__}" for one, other in PAIRS)
    remedy = "put a sphere, capsule, box or hull in the place of one of them"
    if Mesh in (a, b):
        remedy = "take model.meshes.touching_hull of the mesh"
    elif not {a, b} <= {kind for pair in PAIRS for kind in pair}:
        remedy += ", or write a routine for them and add it to kumitate.contact.shapes.PAIRS"
    return f"how a {a.__name__} touches a {b.__name__} is not known; the pairs are {known}; {remedy}"
