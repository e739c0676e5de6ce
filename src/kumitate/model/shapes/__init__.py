"""Shapes for drawing and contact: one per file, under one contract.

Each raises a `ModelError` for numbers that are not real and finite, and for negative lengths.
"""

from .box import Box
from .capsule import Capsule
from .contract import Shape
from .cylinder import Cylinder
from .ellipsoid import Ellipsoid
from .facets import Facets
from .geometry import Geometry
from .height_field import HeightField
from .hull import Hull
from .mesh import Mesh
from .plane import Plane
from .polygon import Polygon
from .sphere import Sphere

__all__ = [
    "SHAPES", "Box", "Capsule", "Cylinder", "Ellipsoid", "Facets", "Geometry", "HeightField", "Hull", "Mesh", "Plane",
    "Polygon", "Shape", "Sphere",
]  # fmt: skip

#: All shapes by kind, their name in files.
SHAPES: dict[str, type[Shape]] = {
    shape.kind: shape for shape in (Box, Sphere, Cylinder, Capsule, Ellipsoid, Mesh, Plane, Polygon, Hull, HeightField)
}  # fmt: skip
