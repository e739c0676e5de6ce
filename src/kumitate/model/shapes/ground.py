"""Grounds: the unbounded plane, the flat facet for floors and stairs, and uneven ground on a grid."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...errors import ModelError
from ..values import POSITIVE, checked_number, checked_numbers
from .contract import Facets, Shape, checked_points

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


@dataclass(frozen=True)
class HeightField(Shape):
    """Ground whose heights are given on a grid, with two triangles between four neighbors; solid below.

    Attributes:
        heights: z of the grid's points [m], a row per y, in the order of x; two rows and two columns at least.
        size: the lengths of the grid along x and y [m], centered on its frame.

    Raises:
        ModelError: if the rows are fewer than two, or not equally long, or numbers are not finite.

    >>> HeightField([[0.0, 0.0], [0.0, 0.5]], (2.0, 2.0)).facets().vertices.tolist()[-1]
    [1.0, 1.0, 0.5]
    """

    kind: ClassVar[str] = "height_field"
    heights: tuple[tuple[float, ...], ...] = field(repr=False)  # thousands of numbers
    size: tuple[float, float]

    def __post_init__(self) -> None:
        rows = tuple(self.heights) if isinstance(self.heights, Iterable) else ()
        width = len(rows[0]) if rows and hasattr(rows[0], "__len__") else 0
        if len(rows) < 2 or width < 2:
            raise ModelError(
                f"a height field has {len(rows)} rows of {width} heights; it needs two or more of each. Give a list of rows"
            )
        object.__setattr__(self, "heights", checked_points("a height field", rows, width))
        object.__setattr__(self, "size", checked_numbers("a height field", "the size [m]", self.size, 2, POSITIVE))

    @property
    def bounding_radius(self) -> float:
        return float(np.linalg.norm(self.points(), axis=1).max())

    @cached_property
    def _grid(self) -> np.ndarray:
        return np.array(self.heights)

    def points(self) -> np.ndarray:
        """The points (ny · nx, 3) of the grid, row by row [m]."""
        z = self._grid
        y, x = (np.linspace(-0.5 * length, 0.5 * length, count) for length, count in zip(self.size[::-1], z.shape, strict=True))
        return np.stack([*np.meshgrid(x, y), z], axis=-1).reshape(-1, 3)

    def height(self, x: Any, y: Any) -> np.ndarray:
        """The height of the ground at places (…) in its frame [m], on its triangles; beyond the grid, that at its edge.

        >>> float(HeightField([[0.0, 0.0], [0.0, 0.5]], (2.0, 2.0)).height(0.5, 0.0))
        0.25
        """
        z = self._grid
        u, w = (
            np.clip((np.asarray(place) / length + 0.5) * (count - 1), 0.0, count - 1.0)
            for place, length, count in zip((x, y), self.size, z.shape[::-1], strict=True)
        )
        i, k = (np.minimum(part.astype(int), count - 2) for part, count in ((u, z.shape[1]), (w, z.shape[0])))
        u, w = u - i, w - k
        near, far, ahead, aside = z[k, i], z[k + 1, i + 1], z[k, i + 1], z[k + 1, i]
        # two triangles of a cell, on either side of its diagonal from `near` to `far`
        return np.where(u >= w, near + u * (ahead - near) + w * (far - ahead), near + w * (aside - near) + u * (far - aside))

    def facets(self) -> Facets:
        rows, columns = len(self.heights), len(self.heights[0])
        first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
        cells = [(first, first + 1, first + columns + 1), (first, first + columns + 1, first + columns)]
        return Facets(self.points(), np.stack([np.stack(cell, axis=1) for cell in cells], axis=1).reshape(-1, 3))
