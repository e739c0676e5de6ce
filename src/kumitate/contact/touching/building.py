"""Rows of numbers from the shapes of a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import ModelError
from ...model import Box, Capsule, Plane, Shape, Sphere
from ...procedure import Floats, Ints
from ...spatial import Transform
from .solids import BOX, CAPSULE, MOST, PLANE, SPHERE, Points, Solids

__all__ = ["points_for", "pose_row", "solids_of"]


def solids_of(shapes: Sequence[Shape]) -> Solids:
    """Rows of numbers for shapes, in their order.

    Raises:
        ModelError: for shapes without size, and for those that are not solids.
    """
    kinds = np.zeros(len(shapes), dtype=np.int64)
    sizes = np.zeros((len(shapes), 8))
    for row, shape in enumerate(shapes):
        if isinstance(shape, Plane):
            kinds[row] = PLANE
        elif isinstance(shape, Sphere):
            kinds[row] = SPHERE
            sizes[row, 6] = shape.radius
        elif isinstance(shape, Capsule):
            kinds[row] = CAPSULE
            sizes[row, 2], sizes[row, 6] = 0.5 * shape.length, shape.radius
        elif isinstance(shape, Box):
            kinds[row] = BOX
            sizes[row, :3] = np.multiply(0.5, shape.size)
        else:
            raise ModelError(f"shape {row}, a {shape.kind}, is not a solid that can touch others; use a box or a sphere")
    return Solids(
        _ints(kinds), _floats(sizes), _ints(np.zeros((len(shapes), 4))), _floats(np.zeros((0, 3))),
        _floats(np.zeros((0, 4))), _ints(np.zeros((0, 2))), _ints(np.zeros(0)),
    )  # fmt: skip


def points_for(pairs: int) -> Points:
    """Room for the points of so many pairs."""
    rows = MOST * pairs
    return Points(
        _floats(np.zeros((rows, 3))), _floats(np.zeros((rows, 3))), _floats(np.zeros(rows)), _ints(np.zeros(rows))
    )  # fmt: skip


def pose_row(pose: Transform) -> np.ndarray:
    """A pose as twelve numbers: its rotation to the world row by row, then its position [m]."""
    return np.concatenate(
        [np.array(pose.rotation.matrix(), dtype=float).ravel(), np.array(list(pose.translation), dtype=float)]
    )


def _floats(array: np.ndarray) -> Floats:
    return np.ascontiguousarray(array, dtype=np.float64).view(Floats)


def _ints(array: np.ndarray) -> Ints:
    return np.ascontiguousarray(array, dtype=np.int64).view(Ints)
