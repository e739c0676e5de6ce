"""The ellipsoid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..values import LENGTH, checked_numbers
from .contract import Shape
from .facets import Facets
from .sphere import Sphere


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """An ellipsoid with the half axes `half_axes` along x, y, z [m].

    >>> Ellipsoid((0.1, 0.3, 0.2)).bounding_radius
    0.3
    """

    kind: ClassVar[str] = "ellipsoid"
    half_axes: tuple[float, float, float]

    def __post_init__(self) -> None:
        halves = checked_numbers("an ellipsoid", "the half_axes [m]", self.half_axes, 3, LENGTH)
        object.__setattr__(self, "half_axes", halves)

    @property
    def bounding_radius(self) -> float:
        return max(self.half_axes)

    def facets(self) -> Facets:
        return Sphere(1.0).facets().scaled(self.half_axes)
