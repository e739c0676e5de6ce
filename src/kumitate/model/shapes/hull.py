"""The convex hull of some points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import ModelError
from .contract import Shape, checked_points
from .facets import Facets


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
        from ..meshes.reduction import on_one_line

        return not on_one_line(np.array(self.vertices))

    def facets(self) -> Facets:
        from ..meshes.reduction import convex_hull

        return convex_hull(Facets(np.array(self.vertices), np.zeros((0, 3))), "a hull")

    def support(self) -> tuple[np.ndarray, float]:
        return np.array(self.vertices), 0.0
