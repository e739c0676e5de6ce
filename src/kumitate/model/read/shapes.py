"""What URDF and SDF write alike: the shapes of geometries, and names that may be taken."""

from __future__ import annotations

from collections.abc import Callable, Container

from ..shapes import Box, Capsule, Cylinder, Shape, Sphere
from .xml import Element

__all__ = ["free_name", "read_shape"]


def read_shape(
    geometry: Element, mesh: Callable[[Element], Shape | None], lengths: Callable[..., tuple[float, ...]]
) -> Shape | None:
    """The shape in a <geometry>; None if it is of no kind that is known here.

    Args:
        mesh: reads a <mesh>.
        lengths: reads numbers from a shape's element, by name and count (1): attributes in one format, elements in the other.
    """
    if (part := geometry.child("mesh")) is not None:
        return mesh(part)
    if (part := geometry.child("box")) is not None:
        x, y, z = lengths(part, "size", 3)
        return Box((x, y, z))
    if (part := geometry.child("sphere")) is not None:
        return Sphere(*lengths(part, "radius"))
    if (part := geometry.child("cylinder")) is not None:
        return Cylinder(*lengths(part, "radius"), *lengths(part, "length"))
    if (part := geometry.child("capsule")) is not None:
        return Capsule(*lengths(part, "radius"), *lengths(part, "length"))
    return None


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with as many underscores behind it as it takes to be new."""
    while name in taken:
        name += "_"
    return name
