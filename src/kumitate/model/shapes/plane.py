"""The plane: an unbounded floor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .contract import Shape
from .facets import Facets

#: Half the side of the piece that is drawn [m], and its depth below the plane, so that drawings on the plane are visible.
_PATCH, _BELOW = 2.0, 0.001


@dataclass(frozen=True)
class Plane(Shape):
    """The half space z ≤ 0 of its own frame: an unbounded floor with the outward normal z.

    >>> from kumitate import Contact, Geometry, Surface
    >>> Contact(ground=(Geometry(Plane()),), surface=Surface(friction=0.5)).ground[0].shape
    Plane()
    """

    kind: ClassVar[str] = "plane"
    endless: ClassVar[bool] = True

    @property
    def bounding_radius(self) -> float:
        return math.inf

    def facets(self) -> Facets:
        corners = [(x * _PATCH, y * _PATCH, -_BELOW) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        return Facets(np.array(corners), np.array([[0, 1, 2], [0, 2, 3]]))

    def support(self) -> tuple[np.ndarray, float]:
        return np.zeros((1, 3)), math.inf
