"""The support polygon of a mechanism, and the distance of points from its edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError


@dataclass(frozen=True, eq=False)
class SupportPolygon:
    """The convex hull of contact points on horizontal ground.

    Attributes:
        vertices: (k, 2) [m], counter-clockwise as seen from above: two for points in a line, one for points that coincide.
    """

    vertices: np.ndarray

    @property
    def area(self) -> float:
        """[m²]."""
        x, y = self.vertices.T
        return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))

    @property
    def center(self) -> np.ndarray:
        """The mean of the vertices (2) [m]: a point inside."""
        return self.vertices.mean(axis=0)

    def margin(self, points: Any) -> np.ndarray:
        """The distance (...) of points (..., 2 or 3) to the polygon's edge [m]: positive inside, negative outside.

        A third component is ignored. A line or a point has no interior.
        """
        p = np.asarray(points, dtype=float)
        if p.ndim == 0 or p.shape[-1] not in (2, 3):
            raise InputError(f"points have shape {p.shape}; they need 2 or 3 components in the last axis")
        start, end = self.vertices, np.roll(self.vertices, -1, axis=0)
        edge = end - start
        lengths = np.maximum((edge * edge).sum(axis=-1), np.finfo(float).tiny)
        reach = p[..., None, :2] - start
        along = np.clip((reach * edge).sum(axis=-1) / lengths, 0.0, 1.0)
        away = reach - along[..., None] * edge
        distance = np.sqrt((away * away).sum(axis=-1)).min(axis=-1)
        left = edge[:, 0] * reach[..., 1] - edge[:, 1] * reach[..., 0]
        inside = (left >= 0.0).all(axis=-1) & (len(self.vertices) > 2)
        return np.where(inside, distance, -distance)

    def contains(self, points: Any) -> np.ndarray:
        """Whether points (..., 2 or 3) are inside or on the edge."""
        return self.margin(points) >= 0.0


def support_polygon(points: Any) -> SupportPolygon:
    """The convex hull of contact points (n, 2 or 3) in the world [m]; heights are ignored.

    Raises:
        InputError: if there is no point, or one is not finite.

    >>> square = support_polygon([(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5)])
    >>> square.area, float(square.margin((0.5, 0.4))), float(square.margin((2.0, 0.5)))
    (1.0, 0.4, -1.0)
    """
    array = np.asarray(points, dtype=float)
    if array.ndim != 2 or array.shape[0] == 0 or array.shape[1] not in (2, 3):
        raise InputError(f"contact points have shape {array.shape}; give at least one, as (n, 2) or (n, 3)")
    if not np.isfinite(array).all():
        raise InputError("a contact point is not finite; leave out those that are not in contact")
    rows = np.unique(array[:, :2], axis=0)  # sorted by x, then y
    if len(rows) < 3:
        return SupportPolygon(rows)
    hull = np.array([*_chain(rows)[:-1], *_chain(rows[::-1])[:-1]])
    return SupportPolygon(hull)


def _chain(rows: np.ndarray) -> list[np.ndarray]:
    """The half of the hull to the right of the line from the first point to the last (Andrew's monotone chain)."""
    found: list[np.ndarray] = []
    for p in rows:
        while len(found) > 1 and _turn(found[-2], found[-1], p) <= 0.0:
            found.pop()
        found.append(p)
    return found


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Twice the signed area of a triangle, positive if counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
