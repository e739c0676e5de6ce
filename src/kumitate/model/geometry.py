"""Shapes that bodies are drawn with and touch with. Lengths in metres, each shape centred on its own frame."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..errors import ModelError
from ..spatial import Transform

__all__ = ["Box", "Capsule", "Cylinder", "Geometry", "Hull", "Mesh", "Plane", "Polygon", "Shape", "Sphere"]


@dataclass(frozen=True)
class Box:
    """A box with the edge lengths `size` = (x, y, z) [m]."""

    size: tuple[float, float, float]


@dataclass(frozen=True)
class Sphere:
    """A sphere [m]."""

    radius: float


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along its z axis [m]."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule:
    """A cylinder along its z axis with half spheres on its ends; `length` is the cylinder's [m]."""

    radius: float
    length: float


@dataclass(frozen=True)
class Mesh:
    """A mesh file, scaled along its axes. `path` is as the model file has it; `resolved`: where it was found, or None."""

    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    resolved: str | None = None


@dataclass(frozen=True)
class Plane:
    """The half space z ≤ 0 of its own frame: a floor without end, whose outside is where z points."""


@dataclass(frozen=True)
class Polygon:
    """A flat convex facet in the plane z = 0 of its frame, solid on the side away from z: what floors and stairs are made of.

    Attributes:
        vertices: (x, y) of three or more corners [m], counter-clockwise as seen from +z.
        depth: how far beyond its face a point still counts as one that has sunk in [m]; what is deeper passes below.

    Raises:
        ModelError: if the corners are fewer than three, not convex, not counter-clockwise or not finite.
    """

    vertices: tuple[tuple[float, float], ...]
    depth: float = 0.1

    def __post_init__(self) -> None:
        corners = tuple((float(x), float(y)) for x, y in self.vertices)
        object.__setattr__(self, "vertices", corners)
        if len(corners) < 3 or not all(math.isfinite(x) for corner in corners for x in corner):
            raise ModelError(f"a polygon has the corners {corners}; give three or more (x, y), finite")
        if not self.depth > 0.0:
            raise ModelError(f"a polygon has the depth {self.depth}; give a length above 0")
        turned = 0.0
        for k, (bx, by) in enumerate(corners):
            (ax, ay), (cx, cy) = corners[k - 1], corners[(k + 1) % len(corners)]
            bend = math.atan2((bx - ax) * (cy - by) - (by - ay) * (cx - bx), (bx - ax) * (cx - bx) + (by - ay) * (cy - by))
            turned += bend
            if bend < -1e-9 or (bx, by) == (ax, ay):
                raise ModelError(
                    f"a polygon turns to the right, or not at all, at its corner {k} {bx, by}; list the corners of a convex "
                    "polygon counter-clockwise, each once, and cut others into convex ones"
                )
        if not abs(turned - 2.0 * math.pi) < 1e-6:
            raise ModelError(
                f"a polygon with {len(corners)} corners goes {turned / (2.0 * math.pi):.3g} times round; once is right"
            )


@dataclass(frozen=True)
class Hull:
    """The convex hull of some points in its frame: what stands for a mesh where bodies touch.

    `model.meshes.touching_hull` makes one from a mesh file.

    Attributes:
        vertices: (x, y, z) of its points [m], one or more.
    """

    vertices: tuple[tuple[float, float, float], ...]

    def __post_init__(self) -> None:
        points = tuple((float(x), float(y), float(z)) for x, y, z in self.vertices)
        object.__setattr__(self, "vertices", points)
        if not points or not all(math.isfinite(x) for point in points for x in point):
            raise ModelError(f"a hull has {len(points)} vertices, or one that is not finite; give finite points (x, y, z)")


Shape = Box | Sphere | Cylinder | Capsule | Mesh | Plane | Polygon | Hull


@dataclass(frozen=True)
class Geometry:
    """A shape on a body: `pose` in the body's frame; `color`: red, green, blue, opacity in 0…1 (None: the viewer's choice)."""

    shape: Shape
    pose: Transform = field(default_factory=Transform)
    color: tuple[float, float, float, float] | None = None
    name: str = ""
