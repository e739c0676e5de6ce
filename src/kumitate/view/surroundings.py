"""The fixed surroundings of a mechanism as they are drawn: unbounded floors are bounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..model import Box, Geometry
from ..spatial import pose

#: The colour of ground shapes without their own.
GROUND_COLOR = (0.87, 0.88, 0.90, 1.0)
#: The slab drawn for a sloping plane: half its side and its thickness, relative to the extent of the motion.
_SIDE, _THICK = 0.75, 0.03
#: Planes whose normals are this close to the vertical are floors.
_LEVEL = 1e-9


@dataclass(frozen=True)
class DrawnSurroundings:
    """Shapes fixed in the world, and the height of the floor.

    Attributes:
        shapes: boxes, polygons and others, by their poses in the world.
        floor: the height of the highest level plane [m]; None without one.
    """

    shapes: tuple[Geometry, ...] = ()
    floor: float | None = None


def surroundings(ground: Sequence[Geometry], low: np.ndarray, high: np.ndarray) -> DrawnSurroundings:
    """The ground of a run as it is drawn.

    Args:
        ground: shapes by their poses in the world.
        low, high: corners of the bounding box of the motion (3,), (3,) [m]: sloping planes are drawn around it.
    """
    shapes, floors = [], []
    for item in ground:
        if not item.shape.has_surface:
            continue
        if not item.shape.endless:
            shapes.append(replace(item, color=item.color or GROUND_COLOR))
            continue
        X = np.array(item.pose.matrix(), dtype=float)
        if abs(X[2, 2] - 1.0) < _LEVEL:
            floors.append(float(X[2, 3]))
        else:
            shapes.append(replace(_slab(X, low, high), color=item.color or GROUND_COLOR))
    return DrawnSurroundings(tuple(shapes), max(floors, default=None))


def _slab(X: np.ndarray, low: np.ndarray, high: np.ndarray) -> Geometry:
    """A piece of the half space z ≤ 0 of the frame X (4, 4), under the middle of the motion."""
    reach = float(np.linalg.norm(high - low)) or 1.0
    normal, middle = X[:3, 2], 0.5 * (low + high)
    thick = _THICK * reach
    at = middle - ((middle - X[:3, 3]) @ normal + 0.5 * thick) * normal
    return Geometry(Box((2.0 * _SIDE * reach, 2.0 * _SIDE * reach, thick)), pose(at.tolist(), matrix=X[:3, :3].tolist()))
