"""The height field: uneven ground."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import ModelError
from ..values import POSITIVE, checked_numbers
from .contract import Shape, checked_points
from .facets import Facets


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
    heights: tuple[tuple[float, ...], ...]
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

    def points(self) -> np.ndarray:
        """The points (ny · nx, 3) of the grid, row by row [m]."""
        z = np.array(self.heights)
        y, x = (np.linspace(-0.5 * length, 0.5 * length, count) for length, count in zip(self.size[::-1], z.shape, strict=True))
        return np.stack([*np.meshgrid(x, y), z], axis=-1).reshape(-1, 3)

    def facets(self) -> Facets:
        rows, columns = len(self.heights), len(self.heights[0])
        first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
        cells = [(first, first + 1, first + columns + 1), (first, first + columns + 1, first + columns)]
        return Facets(self.points(), np.stack([np.stack(cell, axis=1) for cell in cells], axis=1).reshape(-1, 3))
