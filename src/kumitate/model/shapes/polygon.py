"""The polygon: a flat facet, for floors and stairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import ModelError
from ..values import POSITIVE, checked_number
from .contract import Shape, checked_points
from .facets import Facets


@dataclass(frozen=True)
class Polygon(Shape):
    """A flat convex facet in the plane z = 0 of its frame, solid on the side of −z, for floors and stairs.

    Attributes:
        vertices: (x, y) of three or more corners [m], counter-clockwise as seen from +z.
        depth: the largest depth below its face at which a point is in contact [m]; deeper points pass below.

    Raises:
        ModelError: if the corners are fewer than three, not convex, not counter-clockwise or not finite.

    >>> Polygon(((0, 0), (2, 0), (2, 1), (0, 1))).bounding_radius >= 1.25**0.5
    True
    """

    kind: ClassVar[str] = "polygon"
    vertices: tuple[tuple[float, float], ...]
    depth: float = 0.1

    def __post_init__(self) -> None:
        corners = checked_points("a polygon", self.vertices, 2)
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

    @property
    def bounding_radius(self) -> float:
        return math.inf  # it is open below, and contact evaluates it at any distance

    def facets(self) -> Facets:
        corners = np.array([(*corner, 0.0) for corner in self.vertices])
        return Facets(corners, np.array([[0, k, k + 1] for k in range(1, len(corners) - 1)]))
