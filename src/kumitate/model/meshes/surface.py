"""A surface of triangles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Surface", "distinct", "join", "merge", "weld"]

#: Vertices closer than this part of a surface's size are one; files of single precision cannot say more.
_GRID = 2**20


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles. The arrays cannot be written to.

    Attributes:
        vertices: (n, 3) [m].
        faces: (m, 3) int32, indices of vertices, counter-clockwise as seen from outside.
        colors: (m, 3) uint8, red, green and blue of each face (sRGB); None where the file says none.
    """

    vertices: np.ndarray
    faces: np.ndarray
    colors: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name, kind in (("vertices", np.float64), ("faces", np.int32), ("colors", np.uint8)):
            if getattr(self, name) is not None:
                array = np.array(getattr(self, name), dtype=kind).reshape(-1, 3)
                array.setflags(write=False)
                object.__setattr__(self, name, array)

    def scaled(self, scale: Sequence[float]) -> Surface:
        """The surface stretched along its axes; mirrored by negative factors, with its outside outside.

        >>> Surface([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).scaled((-2, 1, 1)).faces.tolist()
        [[0, 2, 1]]
        """
        if tuple(scale) == (1.0, 1.0, 1.0):
            return self
        faces = self.faces[:, [0, 2, 1]] if np.prod(scale) < 0.0 else self.faces
        return Surface(self.vertices * np.asarray(scale, dtype=float), faces, self.colors)


def join(parts: Sequence[Surface]) -> Surface:
    """Several surfaces as one. Colours are kept if any has some; parts without are grey then."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    vertices = np.concatenate([part.vertices for part in parts] or [np.zeros((0, 3))])
    faces = np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=False)] or [np.zeros((0, 3))])
    if all(part.colors is None for part in parts):
        return Surface(vertices, faces)
    plain = [np.full((len(part.faces), 3), 200) if part.colors is None else part.colors for part in parts]
    return Surface(vertices, faces, np.concatenate(plain))


def weld(surface: Surface) -> Surface:
    """The surface with vertices at one place made one, and without faces and vertices that this leaves without use."""
    if len(surface.vertices) == 0:
        return surface
    low = surface.vertices.min(axis=0)
    size = float((surface.vertices.max(axis=0) - low).max()) or 1.0
    cells = np.round((surface.vertices - low) * (_GRID / size)).astype(np.int64)
    return merge(surface, cells[:, 0] << 42 | cells[:, 1] << 21 | cells[:, 2])


def merge(surface: Surface, keys: np.ndarray) -> Surface:
    """The surface with vertices of equal keys (n,) made one: the first of them."""
    _, first, where = np.unique(keys, return_index=True, return_inverse=True)
    faces = where.reshape(-1)[surface.faces]
    keep = distinct(faces)
    used, faces = np.unique(faces[keep], return_inverse=True)
    colors = None if surface.colors is None else surface.colors[keep]
    return Surface(surface.vertices[first[used]], faces.reshape(-1, 3), colors)


def distinct(faces: np.ndarray) -> np.ndarray:
    """Which of the faces (m, 3) have three different corners, (m,)."""
    return (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
