"""Colours of faces, and the files that they are in: materials and textures next to a mesh."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import numpy as np

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
        content = self.find(name)
        if content is None:
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

    Args:
        image: the bytes of a picture's file, or the picture as Pillow has it.
        uv: of the faces' corners, (m, 3, 2); v goes up, and both wrap around.
    """
    try:
        from PIL import Image

        picture = Image.open(io.BytesIO(image)) if isinstance(image, bytes) else image
        if picture.width * picture.height > _MOST_PIXELS:
            return None
        pixels = np.asarray(picture.convert("RGB"))
    except Exception:  # Pillow is not installed, or raises any error for a file that is not a picture: drawn without it
        return None
    middle = np.nan_to_num(uv.mean(axis=1)) % 1.0
    height, width = pixels.shape[:2]
    columns = np.minimum((middle[:, 0] * width).astype(int), width - 1)
    rows = np.minimum(((1.0 - middle[:, 1]) * height).astype(int), height - 1)
    return pixels[rows, columns]
