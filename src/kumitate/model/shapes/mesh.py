"""The mesh: a surface from a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ...errors import ModelError
from ..values import checked_numbers, shown
from .contract import Shape
from .facets import Facets


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
        from ..meshes import load_mesh

        return load_mesh(self)
