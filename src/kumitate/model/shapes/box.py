"""The box."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..values import LENGTH, checked_numbers
from .contract import Shape
from .facets import Facets

_CORNERS = np.stack(np.meshgrid(*[(-0.5, 0.5)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
#: Two triangles for each of the sides −x, +x, −y, +y, −z, +z.
_FACES = [
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
]  # fmt: skip


@dataclass(frozen=True)
class Box(Shape):
    """A box with the edge lengths `size` = (x, y, z) [m].

    >>> from kumitate import Body, Geometry
    >>> Body("table", 3.0, inertia=(0.1, 0.1, 0.1), collisions=(Geometry(Box((1.0, 0.6, 0.05))),)).collisions[0].shape.size
    (1.0, 0.6, 0.05)
    """

    kind: ClassVar[str] = "box"
    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", checked_numbers("a box", "the size [m]", self.size, 3, LENGTH))

    @property
    def bounding_radius(self) -> float:
        return 0.5 * math.hypot(*self.size)

    def facets(self) -> Facets:
        return Facets(_CORNERS * self.size, np.array(_FACES))
