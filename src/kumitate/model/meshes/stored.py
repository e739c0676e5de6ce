"""Surfaces of meshes, and those cached on disk with the compiled code, named by the content of the file they were made from."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...compile.disk import cached
from ...errors import InputError
from ..read.content import file_bytes
from ..shapes import Facets, Hull, Mesh
from .corners import distance_from_hull, outermost
from .files import read_surface
from .paint import SideFiles
from .reduction import convex_hull, fewer_faces

#: The version of cached surfaces; another number invalidates all.
_VERSION = 1
#: The largest size of mesh files [bytes].
_LARGEST = 2**30


def load_mesh(mesh: Mesh) -> Facets:
    """The surface of a mesh, scaled, in metres, in the mesh's frame.

    STL, OBJ and COLLADA (.dae), by the suffix. Transforms and unit of a COLLADA scene are applied, its up-axis is not,
    as in ROS. Colours are those of the file's materials; a texture gives each face the colour in its middle.

    Raises:
        InputError: if the file was not found, or cannot be read.
    """
    path, data, beside = _content(mesh)
    return read_surface(data, path, beside).scaled(mesh.scale)


def hull(mesh: Mesh) -> Facets:
    """The convex hull of a mesh: vertices, a subset of the mesh's, and faces. Kept on disk.

    Raises:
        InputError: as `load_mesh`, or if the mesh lies on one line.
    """
    return stored(mesh, "hull", lambda surface: convex_hull(surface, mesh.path)).scaled(mesh.scale)


def touching_hull(mesh: Mesh, vertices: int = 32) -> Hull:
    """The convex hull of a mesh by few of its vertices, for contact; `left_out` gives the error. Cached on disk.

    The mesh need not be closed. Of the hull's vertices those furthest out along the axes are taken first, then the corners of
    flat sides, and then one by one the vertex that is furthest from the hull of those taken.

    Args:
        mesh: the mesh; vertices: how many are taken at most.

    Raises:
        InputError: as `hull`; or if `vertices` is less than 4.
    """
    if vertices < 4:
        raise InputError(f"{mesh.path}: vertices={vertices} are too few for a hull; give 4 or more")

    def reduced(surface: Facets) -> Facets:
        whole = convex_hull(surface, mesh.path).vertices
        return Facets(whole[outermost(whole, vertices)], np.zeros((0, 3)))

    kept = stored(mesh, f"corners of {vertices}", reduced).scaled(mesh.scale)
    return Hull(tuple((float(x), float(y), float(z)) for x, y, z in kept.vertices))


def left_out(mesh: Mesh, hull_of_few: Hull) -> float:
    """The largest distance by which a mesh extends beyond a hull [m].

    Raises:
        InputError: as `hull`.
    """
    kept = np.array(hull_of_few.vertices)
    return max(distance_from_hull(point, kept) for point in hull(mesh).vertices)


def decimated(mesh: Mesh, faces: int = 2000) -> Facets:
    """A copy of a mesh of about so many faces, or fewer, for drawing. Kept on disk.

    Raises:
        InputError: as `load_mesh`; or if `faces` is less than 4.
    """
    if faces < 4:
        raise InputError(f"{mesh.path}: faces={faces} is too few for a body; give 4 or more")
    return stored(mesh, f"decimated {faces}", lambda surface: fewer_faces(surface, faces)).scaled(mesh.scale)


def _content(mesh: Mesh) -> tuple[Path, bytes, SideFiles]:
    if mesh.resolved is None:
        raise InputError(f"the mesh {mesh.path!r} was not found; set ROS_PACKAGE_PATH to the folder that holds its package")
    data, path = file_bytes(mesh.resolved, _LARGEST, error=InputError)
    return path, data, SideFiles(path.parent)


def stored(mesh: Mesh, what: str, make: Callable[[Facets], Facets]) -> Facets:
    """What is made of a mesh's surface, before scaling, from the disk if it is there."""
    path, data, beside = _content(mesh)
    suffix = path.suffix.lower()
    digest = hashlib.sha256(data)
    for part in beside.named_in(data, suffix):
        digest.update(hashlib.sha256(part).digest())
    key = f"mesh {_VERSION} {what} {suffix} {digest.hexdigest()}"
    return _unpack(cached(key, lambda: _pack(make(read_surface(data, path, beside))), suffix=".npz").content)


def _pack(surface: Facets) -> bytes:
    file = io.BytesIO()
    if surface.colors is None:
        np.savez(file, vertices=surface.vertices, faces=surface.faces)
    else:
        np.savez(file, vertices=surface.vertices, faces=surface.faces, colors=surface.colors)
    return file.getvalue()


def _unpack(raw: bytes) -> Facets:
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        return Facets(**{name: arrays[name] for name in arrays.files})
