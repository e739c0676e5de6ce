"""Joining surfaces of triangles, and merging their vertices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..shapes import Facets

#: Vertices closer than this fraction of a surface's size are merged: the resolution of files in single precision.
_GRID = 2**20


def join(parts: Sequence[Facets]) -> Facets:
    """Several surfaces as one. Colours are kept if any has some; parts without are grey then."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    vertices = np.concatenate([part.vertices for part in parts] or [np.zeros((0, 3))])
    faces = np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=False)] or [np.zeros((0, 3))])
    if all(part.colors is None for part in parts):
        return Facets(vertices, faces)
    plain = [np.full((len(part.faces), 3), 200) if part.colors is None else part.colors for part in parts]
    return Facets(vertices, faces, np.concatenate(plain))


def weld(surface: Facets) -> Facets:
    """The surface with coinciding vertices merged, and without the faces and vertices that this makes useless."""
    if len(surface.vertices) == 0:
        return surface
    low = surface.vertices.min(axis=0)
    size = float((surface.vertices.max(axis=0) - low).max()) or 1.0
    cells = np.round((surface.vertices - low) * (_GRID / size)).astype(np.int64)
    return merge(surface, cells[:, 0] << 42 | cells[:, 1] << 21 | cells[:, 2])


def merge(surface: Facets, keys: np.ndarray) -> Facets:
    """The surface with vertices of equal keys (n,) merged to the first of them."""
    _, first, where = np.unique(keys, return_index=True, return_inverse=True)
    faces = where.reshape(-1)[surface.faces]
    keep = distinct(faces)
    used, faces = np.unique(faces[keep], return_inverse=True)
    colors = None if surface.colors is None else surface.colors[keep]
    return Facets(surface.vertices[first[used]], faces.reshape(-1, 3), colors)


def distinct(faces: np.ndarray) -> np.ndarray:
    """Which of the faces (m, 3) have three different corners, (m,)."""
    return (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
