"""Shapes as they touch: convex hulls in place of meshes, and none without a size, on which nothing could rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np

from ..errors import InputError, ModelError, warn
from ..model import Box, Capsule, Cylinder, Ellipsoid, Geometry, Hull, Mesh, Shape, Sphere


def touchable(owner: str, shapes: Iterable[Geometry], vertices: int) -> tuple[Geometry, ...]:
    """The collision shapes of an object, with meshes replaced by hulls of at most `vertices` vertices.

    Args:
        owner: the owner of the shapes, for messages: "robot: 'foot'".

    Warns:
        KumitateWarning: if a mesh cannot be read; it is left out of contact.
    """
    found = []
    for item in shapes:
        if isinstance(item.shape, Mesh):
            hull = _hull(item.shape, vertices)
            if isinstance(hull, str):
                warn(f"{owner} touches nothing with its mesh {item.shape.path!r}: {hull}")
                continue
            item = replace(item, shape=hull)
        found.append(item)
    return tuple(found)


@cache
def _hull(mesh: Mesh, vertices: int) -> Hull | str:
    """The hull, or the reason why it cannot be made."""
    from ..model.meshes import touching_hull

    try:
        return touching_hull(mesh, vertices)
    except InputError as error:
        return str(error)


#: The numbers that must not be zero, so that a shape has a size.
_SIZES: dict[type[Shape], tuple[str, ...]] = {
    Sphere: ("radius",), Capsule: ("radius",), Box: ("size",), Cylinder: ("radius", "length"), Ellipsoid: ("half_axes",),
}  # fmt: skip


def check_size(shape: Shape, name: str) -> None:
    """Refuses shapes without size; a point is a hull of one vertex.

    Raises:
        ModelError: with the `name` of what has the shape.
    """
    for size in _SIZES.get(type(shape), ()):
        if not np.all(np.array(getattr(shape, size)) > 0.0):
            raise ModelError(
                f"{name}: a {shape.kind} whose {size} is {getattr(shape, size)} has no size, so that nothing can rest on it; "
                f"every {size} must be more than 0. Give it one, or leave the shape out"
            )
