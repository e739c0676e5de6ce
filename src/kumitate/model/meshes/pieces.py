"""Meshes that are not convex, as sets of convex hulls."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ..shapes import Facets, Hull, Mesh
from .corners import outermost
from .reduction import convex_hull
from .stored import stored

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

    kept = stored(mesh, f"pieces {vertices} {concavity!r} {pieces}", cut).scaled(mesh.scale)
    owner = np.arange(len(kept.vertices))  # of every vertex the first of its piece: hulls share no vertices
    while (owner[kept.faces] != owner[kept.faces].min(axis=1, keepdims=True)).any():
        for corner in range(3):
            np.minimum.at(owner, kept.faces[:, corner], owner[kept.faces].min(axis=1))
    return tuple(Hull(tuple(map(tuple, kept.vertices[owner == first].tolist()))) for first in np.unique(owner))


def _parts(surface: Facets, concavity: float, pieces: int, vertices: int) -> list[np.ndarray]:
    """The vertices (n, 3) of every piece."""
    try:
        import coacd
    except ImportError:
        raise InputError(
            'the decomposition of meshes needs the package coacd, which is not installed; pip install "kumitate[pieces]", or '
            "use the one hull of touching_hull"
        ) from None
    coacd.set_log_level("error")
    found = coacd.run_coacd(
        coacd.Mesh(surface.vertices, surface.faces), threshold=concavity, max_convex_hull=pieces, max_ch_vertex=256, seed=0
    )
    whole = [np.array(points, dtype=float) for points, _ in found]
    return [points[outermost(points, vertices)] for points in whole]
