"""The cylinder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .contract import Shape
from .facets import Facets, revolved


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along its z axis [m].

    >>> Cylinder(radius=0.3, length=0.8).bounding_radius
    0.5
    """

    kind: ClassVar[str] = "cylinder"
    radius: float
    length: float

    def __post_init__(self) -> None:
        self._check_lengths("radius", "length")

    @property
    def bounding_radius(self) -> float:
        return math.hypot(self.radius, 0.5 * self.length)

    def facets(self) -> Facets:
        half = 0.5 * self.length
        return revolved([(0.0, -half), (self.radius, -half), (self.radius, half), (0.0, half)])

    def support(self) -> tuple[np.ndarray, float]:
        return np.array([[0.0, 0.0, -0.5 * self.length], [0.0, 0.0, 0.5 * self.length]]), self.radius
