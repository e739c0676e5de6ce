"""Shapes without a size, on which nothing can rest."""

from __future__ import annotations

import numpy as np

from ..errors import ModelError
from ..model import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere

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
