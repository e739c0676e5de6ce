"""Faces of convex hulls: polygons instead of triangles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ...errors import warn
from ...model import Hull
from ...model.meshes.reduction import convex_hull
from ...model.shapes import Facets
from .convex.features import LARGEST

__all__ = ["Faces", "faces_of"]

#: Triangles whose normals differ by less, and whose planes are closer than this part of the size, are one face.
_ONE_FACE = 1e-7


@dataclass(frozen=True)
class Faces:
    """Vertices and faces of a hull; empty for other solids.

    Attributes:
        vertices: (x, y, z) of its corners [m].
        planes: of every face, its outward normal and its distance from the origin along it.
        loops: of every face, its corners counter-clockwise as seen from outside.
        extent: half the diagonal of the box around it [m].
    """

    vertices: tuple[tuple[float, ...], ...] = ()
    planes: tuple[tuple[float, ...], ...] = ()
    loops: tuple[tuple[int, ...], ...] = ()
    extent: float = 0.0


@cache
def faces_of(hull: Hull) -> Faces:
    """The faces of a hull. A hull of one point, or of a line, has none; a flat one has two.

    Warns:
        KumitateWarning: if the hull is flat.
    """
    points = np.unique(np.array(hull.vertices), axis=0)
    extent = 0.5 * float(np.linalg.norm(np.ptp(points, axis=0)))
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if len(points) < 3 or spread[1] <= 1e-9 * spread[0]:
        along = points @ (points[-1] - points[0])
        ends = points[[int(along.argmin()), int(along.argmax())]] if len(points) > 1 else points
        return Faces(_rows(ends), extent=extent)
    if len(spread) < 3 or len(points) < 4 or spread[2] <= 1e-9 * spread[0]:
        warn(
            f"a hull of {len(hull.vertices)} vertices is flat: it is touched from both sides, and what has passed its plane is "
            "pushed out on the other side; give it thickness"
        )
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
    return Faces(_rows(surface.vertices), tuple(planes), tuple(loops), extent)


def _loop(vertices: np.ndarray, corners: np.ndarray, n: np.ndarray) -> tuple[int, ...]:
    """The corners of a face in order about its normal; of more than fit, some that are spread evenly."""
    points = vertices[corners] - vertices[corners].mean(axis=0)
    u = points[int((points * points).sum(axis=1).argmax())]
    order = corners[np.argsort(np.arctan2(points @ np.cross(n, u), points @ u), kind="stable")]
    if len(order) > LARGEST:
        order = order[np.linspace(0, len(order), LARGEST, endpoint=False).astype(int)]
    return tuple(order.tolist())


def _rows(points: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, points.tolist()))
