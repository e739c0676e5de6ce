"""The distance of two convex solids (Gilbert, Johnson, Keerthi, IEEE Journal of Robotics and Automation 4, 1988).

The point of a simplex closest to the origin is found as by Ericson, Real-Time Collision Detection, 2005, section 5.1.
"""

from __future__ import annotations

import math

import numpy as np

from .....procedure import Floats, Shaped, local, procedure
from .support import Couple, Difference, lift

#: What is found: further apart than asked, apart, so close that depth.py finds the direction, overlapping.
FAR_APART, APART, TOUCHING, INSIDE = 0, 1, 2, 3
_ROUNDS = 100
#: Rounding of distances, as a part of the size.
_ROUNDING = 4e-16
#: Solids closer than this part of their size have a direction too much in error.
_CLOSE = 1e-7
#: A triangle with a smaller square of the sine is a line, and a tetrahedron with a smaller height over side is a triangle.
_THIN, _FLAT = 1e-22, 1e-12


@procedure
def _on_point(W: Floats[3], i: int, weights: Shaped[4], v: Shaped[3]) -> int:
    weights[:] = 0.0
    weights[i] = 1.0
    v[:] = W[i]
    return 1 << i


@procedure
def _on_segment(W: Floats[3], i: int, j: int, weights: Shaped[4], v: Shaped[3]) -> int:
    """The point of an edge; the corners that it depends on."""
    edge = W[j] - W[i]
    square, along = edge @ edge, -(W[i] @ edge)
    if along <= 0.0:
        return _on_point(W, i, weights, v)
    if along >= square:
        return _on_point(W, j, weights, v)
    part = along / square
    weights[:] = 0.0
    weights[i], weights[j] = 1.0 - part, part
    v[:] = W[i] + part * edge
    return 1 << i | 1 << j


@procedure
def _on_triangle(W: Floats[3], i: int, j: int, k: int, weights: Shaped[4], v: Shaped[3]) -> int:
    """The point of a triangle; the corners that it depends on."""
    u, t = W[j] - W[i], W[k] - W[i]
    n = np.cross(u, t)
    square = n @ n
    # areas of the triangles of the origin's projection with two corners, times |n|
    of_j, of_k = np.cross(t, W[i]) @ n, np.cross(W[i], u) @ n
    of_i = square - of_j - of_k
    if square > _THIN * (u @ u) * (t @ t) and of_i > 0.0 and of_j > 0.0 and of_k > 0.0:
        v[:] = (n @ W[i]) / square * n
        weights[:] = 0.0
        weights[i], weights[j], weights[k] = of_i / square, of_j / square, of_k / square
        return 1 << i | 1 << j | 1 << k
    mask, other, other_v = _on_segment(W, i, j, weights, v), local(4), local(3)
    best = v @ v
    for side in range(2):
        m = _on_segment(W, i if side == 0 else j, k, other, other_v)
        square = other_v @ other_v
        if square < best:
            best, mask = square, m
            weights[:] = other
            v[:] = other_v
    return mask


@procedure
def _beyond(W: Floats[3], i: int, j: int, k: int, m: int) -> bool:
    """Whether a face of a tetrahedron lies between the origin and the fourth corner m, or the tetrahedron is flat."""
    n, p = np.cross(W[j] - W[i], W[k] - W[i]), W[m] - W[i]
    height, origin = n @ p, -(n @ W[i])
    return origin * height < 0.0 or height * height <= _FLAT * _FLAT * (n @ n) * (p @ p)


@procedure
def _nearest(W: Floats[3], count: int, weights: Shaped[4], v: Shaped[3]) -> int:
    """Writes the point v and its weights of 1 to 4 corners; those that it depends on, as bits: 15 if the origin is inside."""
    if count == 1:
        return _on_point(W, 0, weights, v)
    if count == 2:
        return _on_segment(W, 0, 1, weights, v)
    if count == 3:
        return _on_triangle(W, 0, 1, 2, weights, v)
    mask, best, other, other_v = 15, math.inf, local(4), local(3)
    for m in range(4):
        i, j, k = 0 if m > 0 else 1, 1 if m > 1 else 2, 2 if m > 2 else 3
        if _beyond(W, i, j, k, m):
            found = _on_triangle(W, i, j, k, other, other_v)
            square = other_v @ other_v
            if square < best:
                best, mask = square, found
                weights[:] = other
                v[:] = other_v
    return mask


@procedure
def distance(
    couple: Couple, size: float, most: float, exact: float, points: Difference, weights: Shaped[4], found: Shaped[8]
) -> int:
    """FAR_APART, APART, TOUCHING or INSIDE, for the solids without their balls.

    Args:
        size: of both solids together [m].
        most: the largest distance of interest [m].
        exact: the distance is exact to this part of it.
        points: room for four points; those of a tetrahedron around the origin, if it is inside.
        weights: of the corners of the simplex in the point closest to the origin.
        found: where the normal from A to B and the distance are written, if they are apart, and in [7] the number of corners;
            if they are far apart, a direction along which they are.
    """
    v, trial = local(3), local(4)
    v[:] = couple.B[3]
    length = math.sqrt(v @ v)
    if length < 1e-9 * size:
        v[:] = 0.0
        v[0], length = 1.0, 1.0
    count, square, status = 0, math.inf, APART
    for _ in range(_ROUNDS):
        n = v / length
        bound = lift(couple, n, points, count)
        if bound > most:
            found[0:3] = n
            return FAR_APART
        if count > 0 and length - bound <= exact * length + _ROUNDING * size:
            break
        mask = _nearest(points.W, count + 1, trial, v)
        now = v @ v
        if mask == 15 or now <= _CLOSE * _CLOSE * size * size:
            status = INSIDE if mask == 15 else TOUCHING
            break
        if now >= square:
            break
        square = now
        length = math.sqrt(square)
        found[0:3] = v / length
        found[3] = length
        kept = 0
        for i in range(count + 1):
            if mask >> i & 1 == 1:
                weights[kept] = trial[i]
                points.W[kept] = points.W[i]
                points.P[kept] = points.P[i]
                kept += 1
        count = kept
        found[7] = float(count)
    return status
