"""Reading mesh files: binary STL and COLLADA by our own readers, STL as text and OBJ by trimesh, whose import takes a second.

What is made of a surface is kept on disk with the compiled code, named by the content of the file it was made from.
"""

from __future__ import annotations

import hashlib
import io
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...compile.disk import cached
from ...errors import InputError, needed
from ..files import file_bytes
from .collada import read_collada
from .contract import Facets
from .surfaces import SideFiles, join, texture_colors, weld

SUFFIXES = (".stl", ".obj", ".dae")
#: The version of cached surfaces; another number invalidates all.
_VERSION = 1
#: A triangle in a binary STL: its normal, its corners, two bytes that writers use as they like.
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "V2")])
#: The largest size of mesh files [bytes].
_LARGEST = 2**30


@np.errstate(invalid="ignore", over="ignore")  # numbers that are not finite are told as an error
def read_surface(data: bytes, path: Path, beside: SideFiles) -> Facets:
    """The surface of a mesh file, in metres, with coinciding vertices merged.

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
    if suffix == ".dae":
        surface = read_collada(data, str(path), beside.find)
    else:
        surface = _binary_stl(data) if suffix == ".stl" and _is_binary(data) else _by_trimesh(data, path, beside)
    if not np.isfinite(surface.vertices).all():
        raise InputError(f"{path}: some of its vertices are not finite; export the mesh again")
    surface = weld(surface)
    if len(surface.faces) == 0:
        raise InputError(f"{path}: there is no triangle in it; export the mesh again")
    return surface


def _is_binary(data: bytes) -> bool:
    """Whether bytes have the length that a binary STL announces."""
    return len(data) >= 84 and len(data) == 84 + _TRIANGLE.itemsize * int.from_bytes(data[80:84], "little")


def _binary_stl(data: bytes) -> Facets:
    corners = np.frombuffer(data, _TRIANGLE, offset=84)["corners"].astype(float).reshape(-1, 3)
    return Facets(corners, np.arange(len(corners)).reshape(-1, 3))


def _by_trimesh(data: bytes, path: Path, beside: SideFiles) -> Facets:
    trimesh = needed("trimesh", "meshes need the package trimesh", "mesh")
    if path.suffix.lower() == ".obj":  # names in it may be in any encoding, and do not matter
        data = data.decode("utf-8", errors="replace").encode()
    if path.suffix.lower() == ".stl" and not _is_text(data):
        raise InputError(
            f"{path}: cannot be read as .stl (it is neither of the binary kind nor text in UTF-8); export it again"
        )
    try:
        with _silent("trimesh"):
            scene = trimesh.load_scene(io.BytesIO(data), file_type=path.suffix.lower()[1:], process=False, resolver=beside)
            parts = [item for item in scene.dump(concatenate=False) if isinstance(item, trimesh.Trimesh)]
            return join([_surface(part) for part in parts])
    except Exception as error:  # the loaders raise errors of any kind
        why = f"{type(error).__name__}: {error}"
    raise InputError(f"{path}: cannot be read as {path.suffix} ({why}); export it again")


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _surface(part: Any) -> Facets:
    for what, rows in (("vertices", part.vertices), ("faces", part.faces)):
        if np.ndim(rows) != 2 or np.shape(rows)[1] != 3:
            raise ValueError(f"its {what} have the shape {np.shape(rows)}, where three columns are expected")
    if len(part.faces) and not 0 <= np.min(part.faces) <= np.max(part.faces) < len(part.vertices):
        raise ValueError("a face names a vertex that is not there")
    return Facets(part.vertices, part.faces, _colors(part))


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Suppresses a package's messages about errors, which are raised anyway."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _colors(part: Any) -> np.ndarray | None:
    """The colour of each face (m, 3): of its material, or its texture in the face's middle; None if the file says none."""
    material, uv = getattr(part.visual, "material", None), getattr(part.visual, "uv", None)
    if material is None:
        return part.visual.face_colors[:, :3] if part.visual.defined else None
    textured = getattr(material, "image", None) is not None
    if textured and uv is not None and np.shape(uv) == (len(part.vertices), 2):
        return texture_colors(material.image, uv[part.faces])
    if "kd" not in map(str.lower, getattr(material, "kwargs", ())):  # trimesh has a colour for materials without one
        return None
    return np.tile(material.main_color[:3], (len(part.faces), 1))


def mesh_surface(name: str, place: str | None) -> Facets:
    """The surface of the mesh that a robot file calls `name`, at its place, in metres; errors as of `Mesh.facets`."""
    path, data, beside = _content(name, place)
    return read_surface(data, path, beside)


def _content(name: str, place: str | None) -> tuple[Path, bytes, SideFiles]:
    if place is None:
        raise InputError(f"the mesh {name!r} was not found; set ROS_PACKAGE_PATH to the folder that holds its package")
    data, path = file_bytes(place, _LARGEST, error=InputError)
    return path, data, SideFiles(path.parent)


def stored(name: str, place: str | None, what: str, make: Callable[[Facets], Facets]) -> Facets:
    """What is made of a mesh's surface, before scaling, from the disk if it is there."""
    path, data, beside = _content(name, place)
    suffix = path.suffix.lower()
    digest = hashlib.sha256(data)
    for part in beside.named_in(data, suffix):
        digest.update(hashlib.sha256(part).digest())
    key = f"mesh {_VERSION} {what} {suffix} {digest.hexdigest()}"
    return _unpack(cached(key, lambda: _pack(make(read_surface(data, path, beside))), suffix=".npz").content)


def _pack(surface: Facets) -> bytes:
    file = io.BytesIO()
    np.savez(file, **{name: array for name, array in vars(surface).items() if array is not None})
    return file.getvalue()


def _unpack(raw: bytes) -> Facets:
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        return Facets(**{name: arrays[name] for name in arrays.files})
