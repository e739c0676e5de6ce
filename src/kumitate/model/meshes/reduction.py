"""Reduction of surfaces: convex hulls, and decimated copies."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ..shapes import Facets
from .files import needs_extra
from .surface import distinct, merge


def on_one_line(points: np.ndarray) -> bool:
    """Whether points (n, 3) lie on one line, up to rounding; two points and a single one do."""
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(len(spread) < 3 or spread[1] <= 1e-9 * spread[0])


def convex_hull(surface: Facets, name: str) -> Facets:
    """The convex hull; its vertices are a subset of the surface's. A flat surface has a flat hull with faces on both sides.

    Raises:
        InputError: if all vertices lie on one line; `name` is the mesh's in the message.
    """
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError:
        raise needs_extra("scipy") from None
    points = surface.vertices
    if on_one_line(points):
        raise InputError(
            f"{name}: its vertices lie on one line, so that it has no hull; use a sphere, a capsule or a box instead"
        )
    middle = points.mean(axis=0)
    _, spread, axes = np.linalg.svd(points - middle, full_matrices=False)
    if spread[2] > 1e-9 * spread[0]:
        try:
            found = ConvexHull(points)
        except QhullError:  # so flat that a volume cannot be told from rounding
            pass
        else:
            simplices = np.array(found.simplices)
            a, b, c = (points[simplices[:, k]] for k in range(3))
            inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
            simplices[inward] = simplices[inward][:, [0, 2, 1]]
            used, faces = np.unique(simplices, return_inverse=True)
            return Facets(points[used], faces.reshape(-1, 3))
    rim = ConvexHull((points - middle) @ axes[:2].T).vertices
    fan = np.array([[0, k, k + 1] for k in range(1, len(rim) - 1)])
    return Facets(points[rim], np.concatenate([fan, fan[:, ::-1]]))


def fewer_faces(surface: Facets, faces: int) -> Facets:
    """A similar surface with about `most` faces or fewer; faces keep their colours.

    Edges are collapsed in the order of their quadric errors (Garland and Heckbert). Before, vertices within cells of a grid are
    made one: collapsing alone is held up by loose screws and by edges that do not quite meet. Of several grids the finest is
    taken whose outcome has few enough faces and still fills the surface's box, else the one that comes nearest to that.
    """
    if len(surface.faces) <= faces:
        return surface
    try:
        import fast_simplification
    except ImportError:
        raise needs_extra("fast-simplification") from None
    best, best_fault = surface, np.inf
    for cells in _GRIDS:
        joined = _clustered(surface, cells)
        if len(joined.faces) > faces:
            points, _, collapses = fast_simplification.simplify(
                joined.vertices.copy(), joined.faces.copy(), target_count=faces, agg=5.0, return_collapses=True
            )
            joined = _collapsed(joined, points, collapses)
        if len(joined.faces) == 0:
            continue
        excess = max(len(joined.faces) / faces - 1.25, 0.0)
        fault = excess + float(np.abs(_box(joined) - _box(surface)).max() / np.ptp(_box(surface), axis=0).max())
        if fault < best_fault - _TOLERANCE:  # a coarser grid costs detail, and must be worth it
            best, best_fault = joined, fault
        if fault <= _TOLERANCE:
            break
    return best


#: Cells along the longest side of the grids that are tried, and the part of it that a reduced surface may be short by.
_GRIDS, _TOLERANCE = (400, 200, 100, 50, 25), 0.01


def _box(surface: Facets) -> np.ndarray:
    """The lowest and the highest corner, (2, 3)."""
    return np.array([surface.vertices.min(axis=0), surface.vertices.max(axis=0)])


def _clustered(surface: Facets, cells: int) -> Facets:
    low, high = _box(surface)
    cell = np.round((surface.vertices - low) * (cells / float((high - low).max()))).astype(np.int64)
    return merge(surface, cell[:, 0] << 42 | cell[:, 1] << 21 | cell[:, 2])


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
    used, faces = np.unique(faces[keep], return_inverse=True)
    vertices = np.clip(points, low[used], high[used]) if len(points) == len(used) else surface.vertices[used]
    return Facets(vertices, faces.reshape(-1, 3), None if surface.colors is None else surface.colors[keep])
