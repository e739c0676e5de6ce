"""Rows of numbers from the shapes of a model; faces of hulls are polygons instead of triangles."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from ....compile.disk import cached
from ....errors import ModelError, warn
from ....model import Box, Capsule, Cylinder, Ellipsoid, HeightField, Hull, Plane, Shape, Sphere
from ....model.shapes import Facets
from ....model.shapes.hulls import convex_hull
from ....spatial import Transform
from ...mesh_hulls import check_size
from .convex.support import LARGEST
from .solids import BOX, CAPSULE, CONVEX, COUNT, FIELD, MOST, PLANE, SPHERE, Points, Solids

#: Triangles whose normals differ by less, and whose planes are closer than this part of the size, are one face.
_ONE_FACE = 1e-7


@dataclass(frozen=True)
class _Faces:
    """Vertices and faces of a hull; empty for other solids."""

    vertices: tuple[tuple[float, ...], ...] = ()  # (x, y, z) of its corners [m]
    planes: tuple[tuple[float, ...], ...] = ()  # of every face, its outward normal and its distance from the origin along it
    loops: tuple[tuple[int, ...], ...] = ()  # of every face, its corners counter-clockwise as seen from outside
    extent: float = 0.0  # half the diagonal of the box around it [m]


@cache
def _faces_of(hull: Hull) -> _Faces:
    """The faces of a hull, kept on disk. A hull of one point, or of a line, has none; a flat one has two.

    Warns:
        KumitateWarning: if the hull is flat.
    """
    points = np.array(sorted(set(hull.vertices)))
    extent = 0.5 * float(np.linalg.norm(np.ptp(points, axis=0)))
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if len(points) < 3 or spread[1] <= 1e-9 * spread[0]:
        along = points @ (points[-1] - points[0])
        ends = points[[int(along.argmin()), int(along.argmax())]] if len(points) > 1 else points
        return _Faces(_points(ends), extent=extent)
    if len(spread) < 3 or len(points) < 4 or spread[2] <= 1e-9 * spread[0]:
        warn(
            f"a hull of {len(hull.vertices)} vertices is flat: it is touched from both sides, and what has passed its plane is "
            "pushed out on the other side; give it thickness"
        )
    kept = cached(f"faces 1 {hull.vertices}", lambda: _found_faces(points, extent), suffix=".json").content
    vertices, planes, loops = (tuple(map(tuple, rows)) for rows in json.loads(kept))
    return _Faces(vertices, planes, loops, extent)


def _found_faces(points: np.ndarray, extent: float) -> bytes:
    """Vertices, planes and loops as of `_Faces`."""
    surface = convex_hull(Facets(points, np.zeros((0, 3))), "a hull")
    corners = surface.vertices[surface.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    normals /= np.where(areas > 0.0, areas, 1.0)[:, None]
    planes, loops = [], []
    left = np.argsort(-areas, kind="stable")
    while len(left):
        n, offset = normals[left[0]], float(normals[left[0]] @ corners[left[0], 0])
        reach = surface.vertices @ n - offset
        on_plane = np.flatnonzero(np.abs(reach) <= _ONE_FACE * extent)
        same = (np.abs(corners[left] @ n - offset) <= _ONE_FACE * extent).all(axis=1) & (normals[left] @ n > 0.0)
        same[0] = True
        left = left[~same]
        planes.append((*n.tolist(), offset))
        loops.append(_loop(surface.vertices, on_plane, n))
    return json.dumps([surface.vertices.tolist(), planes, loops]).encode()


def _loop(vertices: np.ndarray, corners: np.ndarray, n: np.ndarray) -> tuple[int, ...]:
    """The corners of a face in order about its normal; of more than fit, some that are spread evenly."""
    points = vertices[corners] - vertices[corners].mean(axis=0)
    u = points[int((points * points).sum(axis=1).argmax())]
    order = corners[np.argsort(np.arctan2(points @ np.cross(n, u), points @ u), kind="stable")]
    if len(order) > LARGEST:
        order = order[np.linspace(0, len(order), LARGEST, endpoint=False).astype(int)]
    return tuple(order.tolist())


def _points(points: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, points.tolist()))


@dataclass(frozen=True)
class _Row:
    """The numbers of one solid; see `Solids`."""

    kind: int = CONVEX
    box: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ellipsoid: tuple[float, float, float] = (0.0, 0.0, 0.0)
    radius: float = 0.0
    faces: _Faces = field(default_factory=_Faces)
    grid: tuple[int, int] = (0, 0)


#: How shapes become rows: their kinds, and their numbers.
KINDS: dict[type[Shape], int] = {
    Plane: PLANE, HeightField: FIELD, Sphere: SPHERE, Capsule: CAPSULE, Box: BOX, Cylinder: CONVEX, Ellipsoid: CONVEX,
    Hull: CONVEX,
}  # fmt: skip
_ROWS: dict[type[Shape], Callable[..., _Row]] = {
    Plane: lambda shape: _Row(),
    Sphere: lambda shape: _Row(radius=shape.radius),
    Capsule: lambda shape: _Row(box=(0.0, 0.0, 0.5 * shape.length), radius=shape.radius),
    Box: lambda shape: _Row(box=tuple(0.5 * edge for edge in shape.size)),
    Cylinder: lambda shape: _Row(box=(0.0, 0.0, 0.5 * shape.length), ellipsoid=(shape.radius, shape.radius, 0.0)),
    Ellipsoid: lambda shape: _Row(ellipsoid=shape.half_axes),
    Hull: lambda shape: _Row(faces=_faces_of(shape)),
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
        np.zeros(COUNT * COUNT, dtype=np.int64),
    )


def _field(shape: HeightField) -> _Row:
    columns, lines = len(shape.heights[0]), len(shape.heights)
    cell = shape.size[0] / (columns - 1), shape.size[1] / (lines - 1), 0.0
    return _Row(box=cell, faces=_Faces(_points(shape.points())), grid=(columns, lines))


def surface_rows(solids: Solids, row: int) -> Sequence[int]:
    """The rows of which a solid's surface consists: of a height field its triangles."""
    first, (columns, lines) = int(solids.sizes[row, 7]), solids.spans[row, 2:].tolist()
    return range(first, first + 2 * (columns - 1) * (lines - 1)) if solids.kinds[row] == FIELD else (row,)


def _triangles(shape: HeightField) -> list[_Row]:
    """The triangles of a height field, as hulls without faces."""
    surface = shape.facets()
    corners = surface.vertices[surface.faces]
    extents = 0.5 * np.linalg.norm(np.ptp(corners, axis=1), axis=1)
    return [_Row(faces=_Faces(_points(c), extent=float(e))) for c, e in zip(corners, extents, strict=True)]


def _row(shape: Shape, name: str) -> _Row:
    make = _ROWS.get(type(shape))
    if make is None:
        known = ", ".join(kind.kind for kind in _ROWS)
        raise ModelError(
            f"{name}: a {shape.kind} is not a convex solid; those that can touch any other are {known}. Use one of them, or "
            "several hulls"
        )
    check_size(shape, name)
    return replace(make(shape), kind=KINDS[type(shape)])


def points_for(pairs: int) -> Points:
    """Room for the points of so many pairs."""
    rows = MOST * pairs
    return Points(np.zeros((rows, 3)), np.zeros((rows, 3)), np.zeros(rows), np.zeros(rows, dtype=np.int64))


def pose_row(pose: Transform) -> np.ndarray:
    """A pose (4, 3): its rotation to the world, then its position [m]."""
    return np.array([*map(list, pose.rotation.matrix()), list(pose.translation)], dtype=float)


def _floats(rows: Sequence[object], width: int) -> np.ndarray:
    return np.array(rows, dtype=np.float64).reshape(-1, width)


def _ints(rows: Sequence[object], width: int = 0) -> np.ndarray:
    array = np.array(rows, dtype=np.int64)
    return array.reshape(-1, width) if width else array
