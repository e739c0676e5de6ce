"""Surfaces of meshes: joined, merged, coloured by pictures, and reduced to fewer faces."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import numpy as np

from ...errors import needed
from .contract import Facets

#: Vertices closer than this fraction of a surface's size are merged: the resolution of files in single precision.
_GRID = 2**20


def box_of(points: np.ndarray) -> np.ndarray:
    """The lowest and the highest corner (2, 3) of the box around points (n, 3); by rows NumPy takes twenty times as long."""
    return np.array([[column.min() for column in points.T], [column.max() for column in points.T]])


def join(parts: Sequence[Facets]) -> Facets:
    """Several surfaces as one. Colours are kept if any has some; parts without are grey then."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    vertices = np.concatenate([part.vertices for part in parts] or [np.zeros((0, 3))])
    faces = np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=False)] or [np.zeros((0, 3))])
    if all(part.colors is None for part in parts):
        return Facets(vertices, faces)
    plain = [np.full((len(part.faces), 3), 200) if part.colors is None else part.colors for part in parts]
    return Facets(vertices, faces, np.concatenate(plain))


def weld(surface: Facets, cells: int = _GRID) -> Facets:
    """The surface with the vertices in each cell of a grid merged, and without faces and vertices that this makes useless.

    `cells`: along its longest side; by default so many that only coinciding vertices are in one.
    """
    if len(surface.vertices) == 0:
        return surface
    low, high = box_of(surface.vertices)
    size = float((high - low).max()) or 1.0
    cell = np.round((surface.vertices - low) * (cells / size)).astype(np.int64)
    keys = cell[:, 0] << 42 | cell[:, 1] << 21 | cell[:, 2]
    _, where = np.unique(keys, return_inverse=True)  # with the indices of the first, sorting takes four times as long
    first = np.empty(len(keys), dtype=int)
    first[where[::-1]] = np.arange(len(keys))[::-1]
    faces = where[surface.faces]
    keep = distinct(faces)
    used, faces = _used(faces[keep], len(keys))
    return Facets(surface.vertices[first[used]], faces, None if surface.colors is None else surface.colors[keep])


def _used(faces: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Which of so many vertices faces have, in ascending order, and the faces by their numbers among these."""
    there = np.zeros(count, dtype=bool)
    there[faces] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[faces]


def distinct(faces: np.ndarray) -> np.ndarray:
    """Which of the faces (m, 3) have three different corners, (m,)."""
    return (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])


#: The largest size of such files [bytes].
_LARGEST = 64 * 2**20
#: The largest number of pixels of a picture: a few kB can unpack to gigabytes.
_MOST_PIXELS = 2**25
_NAMES = {
    ".obj": (rb"^[ \t]*mtllib[ \t]+(.+?)[ \t\r]*$",),
    ".mtl": (rb"^[ \t]*map_Kd[ \t]+(.+?)[ \t\r]*$",),
    ".dae": (rb"<init_from>\s*([^<]+?)\s*</init_from>",),
}


class SideFiles:
    """The files that a mesh names, searched from its own folder; those that are missing or too large count as absent.

    As a mapping from name to bytes it serves as the resolver that trimesh asks.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._found: dict[str, bytes | None] = {}

    def find(self, name: str) -> bytes | None:
        """The content of a file; None if it is absent."""
        if name not in self._found:
            self._found[name] = self._read(name)
        return self._found[name]

    def get(self, name: str) -> bytes:
        """The content of a file; KeyError if it is absent."""
        if (content := self.find(name)) is None:
            raise KeyError(name)
        return content

    __getitem__ = get

    def named_in(self, data: bytes, suffix: str) -> Iterator[bytes]:
        """Names and contents of what a mesh file refers to, and of what that refers to: all that its colours depend on."""
        for pattern in _NAMES.get(suffix, ()):
            for name in dict.fromkeys(re.findall(pattern, data, re.MULTILINE | re.IGNORECASE)):
                content = self.find(name.decode(errors="replace"))
                yield name
                yield b"absent" if content is None else content
                if content is not None and suffix == ".obj":
                    yield from self.named_in(content, ".mtl")

    def _read(self, name: str) -> bytes | None:
        relative = PurePosixPath(unquote(name.removeprefix("file://")).replace("\\", "/"))
        try:
            place = self.folder / relative
            return place.read_bytes() if place.is_file() and place.stat().st_size <= _LARGEST else None
        except (OSError, ValueError):
            return None


def texture_colors(image: Any, uv: np.ndarray) -> np.ndarray | None:
    """The colours (m, 3) uint8 that a texture has in the middles of faces; None if it is not a picture, or a huge one.

    `image`: a picture's file, or Pillow's; `uv`: of the faces' corners (m, 3, 2), of which v goes up, and both wrap around.
    """
    pixels = (_of_file if isinstance(image, bytes) else _pixels)(image)
    if pixels is None:
        return None
    middle = np.nan_to_num(uv.mean(axis=1)) % 1.0
    height, width = pixels.shape[:2]
    columns = np.minimum((middle[:, 0] * width).astype(int), width - 1)
    rows = np.minimum(((1.0 - middle[:, 1]) * height).astype(int), height - 1)
    return pixels[rows, columns]


def _pixels(image: Any) -> np.ndarray | None:
    try:
        from PIL import Image

        picture = Image.open(io.BytesIO(image)) if isinstance(image, bytes) else image
        if picture.width * picture.height > _MOST_PIXELS:
            return None
        return np.asarray(picture.convert("RGB"))
    except Exception:  # Pillow is not installed, or raises any error for a file that is not a picture: drawn without it
        return None


_of_file = lru_cache(maxsize=2)(_pixels)  # the meshes of a robot share a few textures


def fewer_faces(surface: Facets, faces: int) -> Facets:
    """A similar surface with about `most` faces or fewer; faces keep their colours.

    Edges are collapsed in the order of their quadric errors (Garland and Heckbert). Before, vertices within cells of a grid are
    made one: collapsing alone is held up by loose screws and by edges that do not quite meet. Of several grids the finest is
    taken whose outcome has few enough faces and still fills the surface's box, else the one that comes nearest to that.
    """
    if len(surface.faces) <= faces:
        return surface
    fast_simplification = needed("fast_simplification", "meshes need the package fast-simplification", "mesh")
    best, best_fault, box = surface, np.inf, box_of(surface.vertices)
    for cells in _GRIDS:
        joined = weld(surface, cells)
        if len(joined.faces) > faces:
            points, _, collapses = fast_simplification.simplify(
                joined.vertices.copy(), joined.faces.copy(), target_count=faces, agg=5.0, return_collapses=True
            )
            joined = _collapsed(joined, points, collapses)
        if len(joined.faces) == 0:
            continue
        excess = max(len(joined.faces) / faces - 1.25, 0.0)
        fault = excess + float(np.abs(box_of(joined.vertices) - box).max() / np.ptp(box, axis=0).max())
        if fault < best_fault - _TOLERANCE:  # a coarser grid costs detail, and must be worth it
            best, best_fault = joined, fault
        if fault <= _TOLERANCE:
            break
    return best


#: Cells along the longest side of the grids that are tried, and the part of it that a reduced surface may be short by.
_GRIDS, _TOLERANCE = (400, 200, 100, 50, 25), 0.01


def _collapsed(surface: Facets, points: np.ndarray, collapses: np.ndarray) -> Facets:
    """The surface after collapses, of vertex [:, 1] into vertex [:, 0]; `points` are the vertices that are left, in order.

    Each of them is held to the box of those that it stands for: where quadrics are nearly singular, they send it far away.
    """
    root = np.arange(len(surface.vertices))
    root[collapses[:, 1]] = collapses[:, 0]
    while not np.array_equal(further := root[root], root):
        root = further
    low, high = surface.vertices.copy(), surface.vertices.copy()
    np.minimum.at(low, root, surface.vertices)
    np.maximum.at(high, root, surface.vertices)
    faces = root[surface.faces]
    keep = distinct(faces)
    used, faces = _used(faces[keep], len(root))
    vertices = np.clip(points, low[used], high[used]) if len(points) == len(used) else surface.vertices[used]
    return Facets(vertices, faces, None if surface.colors is None else surface.colors[keep])
