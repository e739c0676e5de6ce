"""Reading mesh files: STL and OBJ by trimesh, COLLADA by our own reader."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from .collada import read_collada
from .paint import SideFiles, texture_colors
from .surface import Surface, join, weld

__all__ = ["SUFFIXES", "needs_extra", "read_surface"]

SUFFIXES = (".stl", ".obj", ".dae")


def needs_extra(module: str) -> InputError:
    """The error that a package which meshes need is not there."""
    return InputError(f'meshes need the package {module}, which is not installed; pip install "kumitate[mesh]"')


def read_surface(data: bytes, path: Path, beside: SideFiles) -> Surface:
    """The surface that a mesh file holds, in metres, vertices at one place made one.

    Args:
        data: the file's bytes.
        path: its suffix says the format, in capitals or not; and it is named in messages.
        beside: the files beside it: materials, textures.

    Raises:
        InputError: if the format is unknown, the content broken or empty, or trimesh missing.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: meshes of the kind {path.suffix!r} are not read; convert it to one of {', '.join(SUFFIXES)}")
    surface = read_collada(data, str(path), beside.find) if suffix == ".dae" else _by_trimesh(data, path, beside)
    if not np.isfinite(surface.vertices).all():
        raise InputError(f"{path}: some of its vertices are not finite; export the mesh again")
    surface = weld(surface)
    if len(surface.faces) == 0:
        raise InputError(f"{path}: there is no triangle in it; export the mesh again")
    return surface


def _by_trimesh(data: bytes, path: Path, beside: SideFiles) -> Surface:
    try:
        import trimesh
    except ImportError:
        raise needs_extra("trimesh") from None
    try:
        scene = trimesh.load_scene(io.BytesIO(data), file_type=path.suffix.lower()[1:], process=False, resolver=beside)
        parts = [item for item in scene.dump(concatenate=False) if isinstance(item, trimesh.Trimesh)]
    except Exception as error:  # the loaders raise what they stumble on
        raise InputError(
            f"{path}: cannot be read as {path.suffix} ({type(error).__name__}: {error}); export it again"
        ) from None
    return join([Surface(part.vertices, part.faces, _colors(part)) for part in parts])


def _colors(part: Any) -> np.ndarray | None:
    """The colour of each face (m, 3): of its material, or its texture in the face's middle; None if the file says none."""
    material, uv = getattr(part.visual, "material", None), getattr(part.visual, "uv", None)
    if material is None:
        return part.visual.face_colors[:, :3] if part.visual.defined else None
    if getattr(material, "image", None) is not None and uv is not None and len(uv) == len(part.vertices):
        return texture_colors(material.image, uv[part.faces])
    if "kd" not in map(str.lower, getattr(material, "kwargs", ())):  # trimesh has a colour for materials without one
        return None
    return np.tile(material.main_color[:3], (len(part.faces), 1))
