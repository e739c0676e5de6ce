"""Hulls in the place of meshes: what a mesh touches with."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from ..errors import InputError, KumitateWarning
from ..model import Geometry, Hull, Mesh

__all__ = ["touchable"]


def touchable(owner: str, shapes: Iterable[Geometry], vertices: int) -> tuple[Geometry, ...]:
    """The shapes that something touches with: its meshes as hulls of at most so many vertices, all others as they are.

    Args:
        owner: whose shapes they are, for messages: "robot: 'foot'".

    Raises:
        InputError: if `vertices` is less than 4.

    Warns:
        KumitateWarning: of a mesh that cannot be read; it is left out and touches nothing.
    """
    if vertices < 4:
        raise InputError(f"{owner}: hulls of {vertices} vertices hold no space; give Contact(hull_vertices=4) or more")
    found = []
    for item in shapes:
        if isinstance(item.shape, Mesh):
            hull = _hull(item.shape, vertices)
            if isinstance(hull, str):
                warnings.warn(f"{owner} touches nothing with its mesh {item.shape.path!r}: {hull}", KumitateWarning, 2)
                continue
            item = replace(item, shape=hull)
        found.append(item)
    return tuple(found)


@cache
def _hull(mesh: Mesh, vertices: int) -> Hull | str:
    """The hull, or why there is none."""
    from ..model.meshes import touching_hull

    try:
        return touching_hull(mesh, vertices)
    except InputError as error:
        return str(error)
