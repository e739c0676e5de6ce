"""The mesh, a surface from a file, and the convex hull of some points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import ModelError
from ..values import checked_numbers, shown
from .contract import Facets, Shape, checked_points


@dataclass(frozen=True)
class Mesh(Shape):
    """A mesh file, scaled along its axes. `path` is that in the model file; `resolved`: where it was found, or None.

    >>> Mesh("package://arm/link.dae", scale=(0.001, 0.001, 0.001)).resolved is None
    True
    """

    kind: ClassVar[str] = "mesh"
    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    resolved: str | None = None

    def __post_init__(self) -> None:
        for name, what in (("path", "path"), ("resolved", "path at which it was found")):
            value = getattr(self, name)
            if not (isinstance(value, str) or (value is None and name == "resolved")):
                raise ModelError(f"a mesh: the {what} is {shown(value)}; it must be a text. Give the path of a mesh file")
        object.__setattr__(self, "scale", checked_numbers(f"mesh {shown(self.path)}", "the scale", self.scale, 3))

    @property
    def bounding_radius(self) -> float:
        return math.inf  # the file is not read for this; contact uses hulls of meshes

    def facets(self) -> Facets:
        from .mesh_files import mesh_surface

        return mesh_surface(self.path, self.resolved).scaled(self.scale)


@dataclass(frozen=True)
class Hull(Shape):
    """The convex hull of some points in its frame; it replaces a mesh for contact.

    `model.meshes.touching_hull` makes one from a mesh file. Points on one line, or a single one, touch others but are not
    drawn.

    Attributes:
        vertices: (x, y, z) of its points [m], one or more.

    >>> Hull(((0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1))).bounding_radius
    0.1
    """

    kind: ClassVar[str] = "hull"
    vertices: tuple[tuple[float, float, float], ...]

    def __post_init__(self) -> None:
        points = checked_points("a hull", self.vertices, 3)
        object.__setattr__(self, "vertices", points)
        if not points:
            raise ModelError("a hull has no vertices; it needs one or more. Give points (x, y, z)")

    @property
    def bounding_radius(self) -> float:
        return max(math.hypot(*vertex) for vertex in self.vertices)

    @property
    def has_surface(self) -> bool:
        from .hulls import on_one_line

        return not on_one_line(np.array(self.vertices))

    def facets(self) -> Facets:
        from .hulls import convex_hull

        return convex_hull(Facets(np.array(self.vertices), np.zeros((0, 3))), "a hull")

    def support(self) -> tuple[np.ndarray, float]:
        return np.array(self.vertices), 0.0
