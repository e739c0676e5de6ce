"""Mesh files as facets: reading, convex hulls, decimation for drawing. Needs `pip install "kumitate[mesh]"`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...errors import InputError, needed
from ..shapes import Facets, Hull, Mesh
from ..shapes.hulls import convex_hull, distances_from_hull, outermost
from ..shapes.mesh_files import stored
from ..shapes.surfaces import fewer_faces

__all__ = ["Facets", "decimated", "hull", "left_out", "load_mesh", "touching_hull", "touching_pieces"]


def load_mesh(mesh: Mesh) -> Facets:
    """The surface of a mesh, scaled, in metres, in the mesh's frame.

    STL, OBJ and COLLADA (.dae), by the suffix. Transforms and unit of a COLLADA scene are applied, its up-axis is not,
    as in ROS. Colours are those of the file's materials; a texture gives each face the colour in its middle.

    Raises:
        InputError: if the file was not found, or cannot be read.
    """
    return mesh.facets()


def hull(mesh: Mesh) -> Facets:
    """The convex hull of a mesh: vertices, a subset of the mesh's, and faces. Kept on disk.

    Raises:
        InputError: as `load_mesh`, or if the mesh lies on one line.
    """
    return _stored(mesh, "hull", lambda surface: convex_hull(surface, mesh.path))


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

    kept = _stored(mesh, f"corners of {vertices}", reduced)
    return Hull(tuple((float(x), float(y), float(z)) for x, y, z in kept.vertices))


def left_out(mesh: Mesh, hull_of_few: Hull) -> float:
    """The largest distance by which a mesh extends beyond a hull [m].

    Raises:
        InputError: as `hull`.
    """
    points = hull(mesh).vertices
    most = float(distances_from_hull(points, np.array(hull_of_few.vertices)).max())
    return most if most > 1e-12 * float(np.abs(points).max()) else 0.0


def decimated(mesh: Mesh, faces: int = 2000) -> Facets:
    """A copy of a mesh of about so many faces, or fewer, for drawing. Kept on disk.

    Raises:
        InputError: as `load_mesh`; or if `faces` is less than 4.
    """
    if faces < 4:
        raise InputError(f"{mesh.path}: faces={faces} is too few for a body; give 4 or more")
    return _stored(mesh, f"decimated {faces}", lambda surface: fewer_faces(surface, faces))


#: Bounds of the concavity that the decomposition takes.
_FINEST, _COARSEST = 0.01, 1.0


def touching_pieces(mesh: Mesh, vertices: int = 32, *, concavity: float = 0.05, pieces: int = 32) -> tuple[Hull, ...]:
    """A mesh as convex hulls, for contact where its hull would fill a hollow. Cached on disk.

    The decomposition is that of CoACD (Wei, Liu, Ling, Su, ACM Transactions on Graphics 41(4), 2022), by its own package.

    Args:
        mesh: the mesh; it need not be closed.
        vertices: how many vertices each hull has at most.
        concavity: how far the hulls may be from the mesh, as a part of its size: 0.01 (many hulls) to 1 (one).
        pieces: how many hulls there are at most.

    Raises:
        InputError: as `load_mesh`; if a number is out of its bounds; or if the package coacd is missing.
    """
    if vertices < 4 or pieces < 1 or not _FINEST <= concavity <= _COARSEST:
        raise InputError(
            f"{mesh.path}: vertices={vertices}, concavity={concavity}, pieces={pieces}; a hull needs at least 4 vertices, the "
            f"concavity is from {_FINEST} to {_COARSEST}, and there is at least one piece. Correct them"
        )

    def cut(surface: Facets) -> Facets:
        parts = [
            convex_hull(Facets(part, np.zeros((0, 3))), mesh.path) for part in _parts(surface, concavity, pieces, vertices)
        ]
        starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
        faces = [part.faces + start for part, start in zip(parts, starts, strict=True)]
        return Facets(np.concatenate([part.vertices for part in parts]), np.concatenate(faces))

    kept = _stored(mesh, f"pieces {vertices} {concavity!r} {pieces}", cut)
    owner = np.arange(len(kept.vertices))  # of every vertex the first of its piece: hulls share no vertices
    while (owner[kept.faces] != owner[kept.faces].min(axis=1, keepdims=True)).any():
        for corner in range(3):
            np.minimum.at(owner, kept.faces[:, corner], owner[kept.faces].min(axis=1))
    return tuple(Hull(tuple(map(tuple, kept.vertices[owner == first].tolist()))) for first in np.unique(owner))


def _parts(surface: Facets, concavity: float, pieces: int, vertices: int) -> list[np.ndarray]:
    """The vertices (n, 3) of every piece."""
    otherwise = ", or use the one hull of touching_hull"
    coacd = needed("coacd", "the decomposition of meshes needs the package coacd", "pieces", otherwise)
    coacd.set_log_level("error")
    found = coacd.run_coacd(
        coacd.Mesh(surface.vertices, surface.faces), threshold=concavity, max_convex_hull=pieces, max_ch_vertex=256, seed=0
    )
    whole = [np.array(points, dtype=float) for points, _ in found]
    return [points[outermost(points, vertices)] for points in whole]


def _stored(mesh: Mesh, what: str, make: Callable[[Facets], Facets]) -> Facets:
    """What is made of a mesh's surface, from the disk if it is there, scaled."""
    return stored(mesh.path, mesh.resolved, what, make).scaled(mesh.scale)
