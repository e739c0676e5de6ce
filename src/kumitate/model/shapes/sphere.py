"""The sphere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .contract import Shape
from .facets import Facets, arc, revolved


@dataclass(frozen=True)
class Sphere(Shape):
    """A sphere [m].

    >>> Sphere(0.1).bounding_radius
    0.1
    """

    kind: ClassVar[str] = "sphere"
    radius: float

    def __post_init__(self) -> None:
        self._check_lengths("radius")

    @property
    def bounding_radius(self) -> float:
        return self.radius

    def facets(self) -> Facets:
        return revolved(arc(self.radius, 0.0, -math.pi / 2.0, math.pi / 2.0, 16))

    def support(self) -> tuple[np.ndarray, float]:
        return np.zeros((1, 3)), self.radius
