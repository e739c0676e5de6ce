"""What URDF and SDF write alike: the shapes of geometries, and names that may be taken."""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import partial

from ..shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from .xml import Element

#: By the name of its element: a shape of the numbers in it, each given as lengths(name, count).
_SHAPES: dict[str, Callable[[Callable[..., tuple[float, ...]]], Shape]] = {
    "box": lambda lengths: Box(lengths("size", 3)),  # type: ignore[arg-type]  # three, as asked for
    "sphere": lambda lengths: Sphere(*lengths("radius")),
    "cylinder": lambda lengths: Cylinder(*lengths("radius"), *lengths("length")),
    "ellipsoid": lambda lengths: Ellipsoid(lengths("radii", 3)),  # type: ignore[arg-type]
    "capsule": lambda lengths: Capsule(*lengths("radius"), *lengths("length")),
}


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
    for name, read in _SHAPES.items():
        if (part := geometry.child(name)) is not None:
            return read(partial(lengths, part))
    return None


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with as many underscores behind it as it takes to be new."""
    while name in taken:
        name += "_"
    return name
