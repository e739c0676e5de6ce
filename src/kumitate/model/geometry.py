"""Shapes that bodies are drawn with and touch with. Lengths in metres, each shape centred on its own frame.

Each raises a `ModelError` for numbers that are not real, finite and, as lengths are, zero or more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ..errors import ModelError
from ..spatial import Transform
from .values import FRACTION, LENGTH, POSITIVE, checked_name, checked_number, checked_numbers, checked_pose, shown

__all__ = ["Box", "Capsule", "Cylinder", "Geometry", "Hull", "Mesh", "Plane", "Polygon", "Shape", "Sphere"]


@dataclass(frozen=True)
class Box:
    """A box with the edge lengths `size` = (x, y, z) [m]."""

    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", checked_numbers("a box", "the size [m]", self.size, 3, LENGTH))


@dataclass(frozen=True)
class Sphere:
    """A sphere [m]."""

    radius: float

    def __post_init__(self) -> None:
        _check_lengths(self, "radius")


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along its z axis [m]."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _check_lengths(self, "radius", "length")


@dataclass(frozen=True)
class Capsule:
    """A cylinder along its z axis with half spheres on its ends; `length` is the cylinder's [m]."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _check_lengths(self, "radius", "length")


@dataclass(frozen=True)
class Mesh:
    """A mesh file, scaled along its axes. `path` is as the model file has it; `resolved`: where it was found, or None."""

    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    resolved: str | None = None

    def __post_init__(self) -> None:
        for name, what in (("path", "path"), ("resolved", "path at which it was found")):
            value = getattr(self, name)
            if not (isinstance(value, str) or (value is None and name == "resolved")):
                raise ModelError(f"a mesh: the {what} is {shown(value)}; it must be a text. Give the path of a mesh file")
        object.__setattr__(self, "scale", checked_numbers(f"mesh {shown(self.path)}", "the scale", self.scale, 3))


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
        corners = _points("a polygon", self.vertices, 2)
        object.__setattr__(self, "vertices", corners)
        if len(corners) < 3:
            raise ModelError(f"a polygon has the corners {corners}; it needs three or more. List them counter-clockwise")
        object.__setattr__(self, "depth", checked_number("a polygon", "the depth [m]", self.depth, POSITIVE))
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
        points = _points("a hull", self.vertices, 3)
        object.__setattr__(self, "vertices", points)
        if not points:
            raise ModelError("a hull has no vertices; it needs one or more. Give points (x, y, z)")


def _check_lengths(shape: Sphere | Cylinder | Capsule, *names: str) -> None:
    for name in names:
        owner = f"a {type(shape).__name__.lower()}"
        object.__setattr__(shape, name, checked_number(owner, f"the {name} [m]", getattr(shape, name), LENGTH))


def _points(owner: str, vertices: Any, size: int) -> tuple[tuple[float, ...], ...]:
    try:
        rows = tuple(vertices)
    except TypeError:
        raise ModelError(f"{owner}: the vertices are {shown(vertices)}; they must be a list of points. Give one") from None
    return tuple(checked_numbers(owner, f"vertex {k} [m]", row, size) for k, row in enumerate(rows))


Shape = Box | Sphere | Cylinder | Capsule | Mesh | Plane | Polygon | Hull


@dataclass(frozen=True)
class Geometry:
    """A shape on a body: `pose` in the body's frame; `color`: red, green, blue, opacity in 0…1 (None: the viewer's choice)."""

    shape: Shape
    pose: Transform = field(default_factory=Transform)
    color: tuple[float, float, float, float] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Shape):
            raise ModelError(f"a geometry: the shape is {shown(self.shape)}; it must be a Box, a Sphere or the like. Make one")
        owner = f"a {type(self.shape).__name__.lower()}"
        checked_name(owner, self.name)
        checked_pose(owner, "the pose", self.pose)
        if self.color is not None:
            rgba = checked_numbers(owner, "the color (red, green, blue, opacity)", self.color, 4, FRACTION)
            object.__setattr__(self, "color", rgba)
