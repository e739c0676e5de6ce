"""Shapes for drawing and contact, under one contract.

Each raises a `ModelError` for numbers that are not real and finite, and for negative lengths.
"""

from .contract import Facets, Geometry, Shape
from .kinds import Box, Capsule, Cylinder, Ellipsoid, HeightField, Hull, Mesh, Plane, Polygon, Sphere

__all__ = [
    "SHAPES", "Box", "Capsule", "Cylinder", "Ellipsoid", "Facets", "Geometry", "HeightField", "Hull", "Mesh", "Plane",
    "Polygon", "Shape", "Sphere",
]  # fmt: skip

#: All shapes by kind, their name in files.
SHAPES: dict[str, type[Shape]] = {
    shape.kind: shape for shape in (Box, Sphere, Cylinder, Capsule, Ellipsoid, Mesh, Plane, Polygon, Hull, HeightField)
}  # fmt: skip
