"""The capsule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .contract import Shape
from .facets import Facets, arc, revolved


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along its z axis with half spheres on its ends; `length` is the cylinder's [m].

    >>> Capsule(0.125, 0.5).bounding_radius
    0.375
    """

    kind: ClassVar[str] = "capsule"
    radius: float
    length: float

    def __post_init__(self) -> None:
        self._check_lengths("radius", "length")

    @property
    def bounding_radius(self) -> float:
        return self.radius + 0.5 * self.length

    def facets(self) -> Facets:
        half = 0.5 * self.length
        ends = arc(self.radius, -half, -math.pi / 2.0, 0.0, 8), arc(self.radius, half, 0.0, math.pi / 2.0, 8)
        return revolved([*ends[0], *ends[1]])

    def support(self) -> tuple[np.ndarray, float]:
        return np.array([[0.0, 0.0, -0.5 * self.length], [0.0, 0.0, 0.5 * self.length]]), self.radius
