"""A subset of vertices whose convex hull is nearly as large as that of all."""

from __future__ import annotations

import numpy as np

from .files import needs_extra

#: Of the size of a shape: a side is flat if its points are this close to a plane, and it counts if it is this wide.
FLAT, WIDE = 1e-3, 0.1


def outermost(points: np.ndarray, most: int) -> np.ndarray:
    """The indices (k,), in ascending order, of at most `most` of the points (n, 3) whose hull approximates that of all.

    First the furthest along each axis, then the corners of flat sides across the axes, the largest side first, so that a
    foot stands on its sole: a quarter of the points; then repeatedly the point that is furthest from the hull of those taken.
    """
    ends = [int(pick(points[:, axis])) for axis in range(3) for pick in (np.argmin, np.argmax)]
    taken = list(dict.fromkeys([*ends, *_flat_corners(points)[: most // 4]]))[:most]
    # hulls only grow, so that distances only shrink: the largest is computed again until it stays the largest
    distance = np.full(len(points), np.inf)
    distance[taken] = 0.0
    size = float(np.ptp(points, axis=0).max())
    while len(taken) < min(most, len(points)):
        fresh: set[int] = set()
        while (furthest := int(distance.argmax())) not in fresh:
            distance[furthest] = distance_from_hull(points[furthest], points[taken])
            fresh.add(furthest)
        if distance[furthest] <= 1e-9 * size:
            break
        taken.append(furthest)
        distance[furthest] = 0.0
    return np.array(sorted(taken))


def _flat_corners(points: np.ndarray) -> list[int]:
    """The indices of up to four corners of each flat side across an axis: the furthest along its diagonals."""
    size = np.ptp(points, axis=0).max()
    found: list[tuple[float, list[int]]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            out = sign * points[:, axis]
            flat = np.flatnonzero(out > out.max() - FLAT * size)
            across = np.delete(points[flat], axis, axis=1)
            sides = np.ptp(across, axis=0)
            if sides.min() > WIDE * size:
                square = across / sides
                corners = [int(flat[(square @ diagonal).argmax()]) for diagonal in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
                found.append((float(np.prod(sides)), corners))
    return [index for _, corners in sorted(found, key=lambda side: -side[0]) for index in corners]


def distance_from_hull(point: np.ndarray, points: np.ndarray) -> float:
    """How far a point (3,) is from the convex hull of points (n, 3), 0 inside [m].

    By non-negative least squares (Lawson and Hanson 1974): over λ ≥ 0 and with the point as origin, the least of
    |Σ λ p|² + (Σ λ − 1)² is d²/(1 + d²), d being the distance of the hull.
    """
    try:
        from scipy.optimize import nnls
    except ImportError:
        raise needs_extra("scipy") from None
    offsets = points - point
    size = float(np.abs(offsets).max()) or 1.0
    rows = np.vstack([offsets.T / size, np.ones(len(offsets))])
    _, residual = nnls(rows, np.array([0.0, 0.0, 0.0, 1.0]), maxiter=100 * len(points))
    return size * residual / float(np.sqrt(max(1.0 - residual * residual, 1e-30))) if residual > 1e-12 else 0.0
