"""The table of pairs: by which routine two kinds of shapes touch, of one robot and in scenes of many bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...errors import ModelError
from ...model import Box, Capsule, Cylinder, Ellipsoid, HeightField, Hull, Mesh, Plane, Polygon, Shape, Sphere
from ...spatial import Transform
from .box_box import box_box
from .boxes import capsule_box, cylinder_box, hull_box, sphere_box
from .flats import box_on_plane, capsule_on, corners_on, cylinder_on, ellipsoid_on, hull_on, sphere_on
from .rounds import capsule_capsule, capsules_in_rows, sphere_capsule, sphere_cylinder, sphere_sphere
from .touch import Touch

Page = Callable[..., list[Touch]]


class Routines(NamedTuple):
    """How two kinds of shapes touch.

    Attributes:
        traced: of one robot, a page over scalars, (A, X_WA, B, X_WB) → a `Touch` for every slot; None if only scenes know
            the pair.
        rows: of scenes, which list the slots within a margin: a page, mostly the same one, or the name of a procedure that
            searches and leaves early (in `rows.touch`); None if scenes do not know the pair.
        own_points: whether the page tests only A's own points against a box B, which could pass between them if it is small.
    """

    traced: Page | None
    rows: Page | str | None = None
    own_points: bool = False


#: Each pair of kinds in one order; the other order has reversed normals. A new pair is a new entry.
PAIRS: dict[tuple[type[Shape], type[Shape]], Routines] = {
    # A         B             of one robot     in scenes of many bodies
    (Sphere, Plane): Routines(sphere_on, sphere_on),
    (Capsule, Plane): Routines(capsule_on, capsule_on),
    (Box, Plane): Routines(box_on_plane, corners_on),
    (Cylinder, Plane): Routines(cylinder_on, "plane_convex"),
    (Ellipsoid, Plane): Routines(ellipsoid_on, "plane_convex"),
    (Hull, Plane): Routines(hull_on, "plane_convex"),
    #
    (Sphere, Polygon): Routines(sphere_on),
    (Capsule, Polygon): Routines(capsule_on),
    (Box, Polygon): Routines(corners_on),
    (Cylinder, Polygon): Routines(cylinder_on),
    (Ellipsoid, Polygon): Routines(ellipsoid_on),
    (Hull, Polygon): Routines(hull_on),
    #
    (Sphere, Sphere): Routines(sphere_sphere, sphere_sphere),
    (Sphere, Capsule): Routines(sphere_capsule, sphere_capsule),
    (Sphere, Box): Routines(sphere_box, sphere_box),
    (Sphere, Cylinder): Routines(sphere_cylinder, "convex_convex"),
    (Capsule, Capsule): Routines(capsule_capsule, capsules_in_rows),
    (Capsule, Box): Routines(capsule_box, "convex_convex"),
    (Box, Box): Routines(box_box, "box_box"),
    (Cylinder, Box): Routines(cylinder_box, "convex_convex", own_points=True),
    (Hull, Box): Routines(hull_box, "convex_convex", own_points=True),
    #
    **{(kind, HeightField): Routines(None, "field_convex") for kind in (Sphere, Capsule, Box, Cylinder, Ellipsoid, Hull)},
    **{(kind, Ellipsoid): Routines(None, "convex_convex") for kind in (Sphere, Capsule, Box, Cylinder, Ellipsoid, Hull)},
    **{(kind, Cylinder): Routines(None, "convex_convex") for kind in (Capsule, Cylinder, Hull)},
    **{(kind, Hull): Routines(None, "convex_convex") for kind in (Sphere, Capsule, Hull)},
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
    if (page := _traced(*kinds)) is not None:
        return page(shape_a, X_WA, shape_b, X_WB)
    if (page := _traced(*kinds[::-1])) is not None:
        return [touch.flipped() for touch in page(shape_b, X_WB, shape_a, X_WA)]
    raise ModelError(without_routine(shape_a, shape_b))


def _traced(a: type[Shape], b: type[Shape]) -> Page | None:
    return PAIRS[a, b].traced if (a, b) in PAIRS else None


def capacity(shape_a: Shape, shape_b: Shape) -> int:
    """The maximum number of contact points of these two shapes.

    Raises:
        ModelError: as for `touches`.
    """
    return len(touches(shape_a, Transform(), shape_b, Transform()))


def without_routine(shape_a: Shape, shape_b: Shape) -> str | None:
    """The fault and remedy if no page is traced for the kinds of two shapes; None if there is one."""
    a, b = type(shape_a), type(shape_b)
    if _traced(a, b) or _traced(b, a):
        return None
    traced = [kinds for kinds, routines in PAIRS.items() if routines.traced]
    known = ", ".join(f"{one.__name__}-{other.__name__}" for one, other in traced)
    remedy = "put a sphere, capsule, box or hull in the place of one of them"
    if Mesh in (a, b):
        remedy = "take model.meshes.touching_hull of the mesh"
    elif not {a, b} <= {kind for pair in traced for kind in pair}:
        remedy += ", or write a routine for them and add it to kumitate.contact.pairs.PAIRS"
    one, other = (f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}" for kind in (a, b))
    return f"how {one} touches {other} is not known; the pairs are {known}; {remedy}"
