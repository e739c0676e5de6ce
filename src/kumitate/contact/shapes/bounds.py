"""How far shapes reach from the origin of their frames: enough to see that two are nowhere near each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...model import Box, Capsule, Cylinder, Hull, Shape, Sphere

__all__ = ["bounding_radius"]

_RADII: dict[type, Callable[[Any], float]] = {
    Sphere: lambda shape: shape.radius,
    Capsule: lambda shape: shape.radius + 0.5 * shape.length,
    Cylinder: lambda shape: math.hypot(shape.radius, 0.5 * shape.length),
    Box: lambda shape: 0.5 * math.hypot(*shape.size),
    Hull: lambda shape: max(math.hypot(*vertex) for vertex in shape.vertices),
}


def bounding_radius(shape: Shape) -> float:
    """The largest distance of a point of the shape from its frame's origin [m]; infinite for planes and the like.

    >>> bounding_radius(Capsule(0.1, 0.4))
    0.30000000000000004
    """
    radius = _RADII.get(type(shape))
    return math.inf if radius is None else radius(shape)
