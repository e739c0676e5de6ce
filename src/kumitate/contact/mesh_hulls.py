"""Convex hulls that replace meshes in contact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from ..errors import InputError, warn
from ..model import Geometry, Hull, Mesh


def touchable(owner: str, shapes: Iterable[Geometry], vertices: int) -> tuple[Geometry, ...]:
    """The collision shapes of an object, with meshes replaced by hulls of at most `vertices` vertices.

    Args:
        owner: the owner of the shapes, for messages: "robot: 'foot'".

    Raises:
        InputError: if `vertices` is less than 4.

    Warns:
        KumitateWarning: if a mesh cannot be read; it is left out of contact.
    """
    if vertices < 4:
        raise InputError(
            f"{owner}: hulls of {vertices} vertices have no volume; they need at least 4. Give Contact(hull_vertices=4)"
        )
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
