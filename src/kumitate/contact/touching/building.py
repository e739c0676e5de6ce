"""Rows of numbers from the shapes of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import ModelError
from ...model import Box, Capsule, Cylinder, Ellipsoid, HeightField, Hull, Plane, Shape, Sphere
from ...spatial import Transform
from ..sizes import check_size
from .hulls import Faces, faces_of
from .solids import BOX, CAPSULE, CONVEX, FIELD, MOST, PLANE, SPHERE, Points, Solids

__all__ = ["points_for", "pose_row", "solids_of"]


@dataclass(frozen=True)
class _Row:
    """The numbers of one solid; see `Solids`."""

    kind: int
    box: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ellipsoid: tuple[float, float, float] = (0.0, 0.0, 0.0)
    radius: float = 0.0
    faces: Faces = field(default_factory=Faces)
    grid: tuple[int, int] = (0, 0)


#: How shapes become rows.
_ROWS: dict[type[Shape], Callable[..., _Row]] = {
    Plane: lambda shape: _Row(PLANE),
    Sphere: lambda shape: _Row(SPHERE, radius=shape.radius),
    Capsule: lambda shape: _Row(CAPSULE, (0.0, 0.0, 0.5 * shape.length), radius=shape.radius),
    Box: lambda shape: _Row(BOX, tuple(0.5 * edge for edge in shape.size)),
    Cylinder: lambda shape: _Row(CONVEX, (0.0, 0.0, 0.5 * shape.length), (shape.radius, shape.radius, 0.0)),
    Ellipsoid: lambda shape: _Row(CONVEX, ellipsoid=shape.half_axes),
    Hull: lambda shape: _Row(CONVEX, faces=faces_of(shape)),
    HeightField: lambda shape: _field(shape),
}


def solids_of(shapes: Sequence[Shape], names: Sequence[str] = ()) -> Solids:
    """Rows of numbers for shapes, in their order.

    Args:
        shapes: planes and convex solids; the hulls of a mesh (`model.meshes.touching_pieces`) are one row each.
        names: of the shapes, for messages; by default their places in the list.

    Raises:
        ModelError: for shapes without size, and for those that are not solids.

    Warns:
        KumitateWarning: for hulls that are flat.

    >>> solids_of([Sphere(0.5), Capsule(0.1, 0.4)]).sizes[:, 6].tolist()
    [0.5, 0.1]
    """
    rows = [_row(shape, names[k] if k < len(names) else f"shape {k}") for k, shape in enumerate(shapes)]
    firsts = {}
    for k, shape in enumerate(shapes):
        if isinstance(shape, HeightField):
            firsts[k] = len(rows)
            rows += _triangles(shape)
    spans, loops, vertices, faces, corners = [], [], 0, 0, 0
    for row in rows:
        beside = row.grid if row.kind == FIELD else (faces, len(row.faces.loops))
        spans.append((vertices, len(row.faces.vertices), *beside))
        for loop in row.faces.loops:
            loops.append((corners, len(loop)))
            corners += len(loop)
        vertices, faces = vertices + len(row.faces.vertices), faces + len(row.faces.loops)
    return Solids(
        _ints([row.kind for row in rows]),
        _floats([[*row.box, *row.ellipsoid, row.radius, firsts.get(k, row.faces.extent)] for k, row in enumerate(rows)], 8),
        _ints(spans, 4),
        _floats([vertex for row in rows for vertex in row.faces.vertices], 3),
        _floats([plane for row in rows for plane in row.faces.planes], 4),
        _ints(loops, 2),
        _ints([corner for row in rows for loop in row.faces.loops for corner in loop]),
    )


def _field(shape: HeightField) -> _Row:
    columns, lines = len(shape.heights[0]), len(shape.heights)
    cell = shape.size[0] / (columns - 1), shape.size[1] / (lines - 1), 0.0
    return _Row(FIELD, cell, faces=Faces(_points(shape.points())), grid=(columns, lines))


def _triangles(shape: HeightField) -> list[_Row]:
    """The triangles of a height field, as hulls without faces."""
    surface = shape.facets()
    corners = surface.vertices[surface.faces]
    extents = 0.5 * np.linalg.norm(np.ptp(corners, axis=1), axis=1)
    return [_Row(CONVEX, faces=Faces(_points(c), extent=float(e))) for c, e in zip(corners, extents, strict=True)]


def _points(points: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, points.tolist()))


def _row(shape: Shape, name: str) -> _Row:
    make = _ROWS.get(type(shape))
    if make is None:
        known = ", ".join(kind.kind for kind in _ROWS)
        raise ModelError(
            f"{name}: a {shape.kind} is not a convex solid; those that can touch any other are {known}. Use one of them, or "
            "several hulls"
        )
    check_size(shape, name)
    return make(shape)


def points_for(pairs: int) -> Points:
    """Room for the points of so many pairs."""
    rows = MOST * pairs
    return Points(np.zeros((rows, 3)), np.zeros((rows, 3)), np.zeros(rows), np.zeros(rows, dtype=np.int64))


def pose_row(pose: Transform) -> np.ndarray:
    """A pose as twelve numbers: its rotation to the world row by row, then its position [m]."""
    return np.array([*(part for row in pose.rotation.matrix() for part in row), *pose.translation], dtype=float)


def _floats(rows: Sequence[object], width: int) -> np.ndarray:
    return np.array(rows, dtype=np.float64).reshape(-1, width)


def _ints(rows: Sequence[object], width: int = 0) -> np.ndarray:
    array = np.array(rows, dtype=np.int64)
    return array.reshape(-1, width) if width else array
