"""The distance of two convex solids (Gilbert, Johnson, Keerthi, IEEE Journal of Robotics and Automation 4, 1988).

The point of a simplex closest to the origin is found as by Ericson, Real-Time Collision Detection, 2005, section 5.1.
"""

from __future__ import annotations

import math

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
    for k in range(4):
        weights[k] = 0.0
    weights[i] = 1.0
    for c in range(3):
        v[c] = W[i, c]
    return 1 << i


@procedure
def _on_segment(W: Floats[3], i: int, j: int, weights: Shaped[4], v: Shaped[3]) -> int:
    """The point of an edge; the corners that it depends on."""
    dx, dy, dz = W[j, 0] - W[i, 0], W[j, 1] - W[i, 1], W[j, 2] - W[i, 2]
    square = dx * dx + dy * dy + dz * dz
    along = -(W[i, 0] * dx + W[i, 1] * dy + W[i, 2] * dz)
    if along <= 0.0:
        return _on_point(W, i, weights, v)
    if along >= square:
        return _on_point(W, j, weights, v)
    part = along / square
    for k in range(4):
        weights[k] = 0.0
    weights[i], weights[j] = 1.0 - part, part
    v[0], v[1], v[2] = W[i, 0] + part * dx, W[i, 1] + part * dy, W[i, 2] + part * dz
    return 1 << i | 1 << j


@procedure
def _on_triangle(W: Floats[3], i: int, j: int, k: int, weights: Shaped[4], v: Shaped[3]) -> int:
    """The point of a triangle; the corners that it depends on."""
    ux, uy, uz = W[j, 0] - W[i, 0], W[j, 1] - W[i, 1], W[j, 2] - W[i, 2]
    tx, ty, tz = W[k, 0] - W[i, 0], W[k, 1] - W[i, 1], W[k, 2] - W[i, 2]
    nx, ny, nz = uy * tz - uz * ty, uz * tx - ux * tz, ux * ty - uy * tx
    square = nx * nx + ny * ny + nz * nz
    ax, ay, az = W[i, 0], W[i, 1], W[i, 2]
    # areas of the triangles of the origin's projection with two corners, times |n|
    of_j = (az * ty - ay * tz) * nx + (ax * tz - az * tx) * ny + (ay * tx - ax * ty) * nz
    of_k = (ay * uz - az * uy) * nx + (az * ux - ax * uz) * ny + (ax * uy - ay * ux) * nz
    of_i = square - of_j - of_k
    thin = square <= _THIN * (ux * ux + uy * uy + uz * uz) * (tx * tx + ty * ty + tz * tz)
    if not thin and of_i > 0.0 and of_j > 0.0 and of_k > 0.0:
        height = (nx * ax + ny * ay + nz * az) / square
        v[0], v[1], v[2] = height * nx, height * ny, height * nz
        for c in range(4):
            weights[c] = 0.0
        weights[i], weights[j], weights[k] = of_i / square, of_j / square, of_k / square
        return 1 << i | 1 << j | 1 << k
    mask = _on_segment(W, i, j, weights, v)
    best = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    other_v = local(3)
    other = local(4)
    for side in range(2):
        m = _on_segment(W, i if side == 0 else j, k, other, other_v)
        square = other_v[0] * other_v[0] + other_v[1] * other_v[1] + other_v[2] * other_v[2]
        if square < best:
            best = square
            mask = m
            for c in range(4):
                weights[c] = other[c]
            for c in range(3):
                v[c] = other_v[c]
    return mask


@procedure
def _beyond(W: Floats[3], i: int, j: int, k: int, m: int) -> bool:
    """Whether a face of a tetrahedron lies between the origin and the fourth corner m, or the tetrahedron is flat."""
    ux, uy, uz = W[j, 0] - W[i, 0], W[j, 1] - W[i, 1], W[j, 2] - W[i, 2]
    tx, ty, tz = W[k, 0] - W[i, 0], W[k, 1] - W[i, 1], W[k, 2] - W[i, 2]
    nx, ny, nz = uy * tz - uz * ty, uz * tx - ux * tz, ux * ty - uy * tx
    px, py, pz = W[m, 0] - W[i, 0], W[m, 1] - W[i, 1], W[m, 2] - W[i, 2]
    height = nx * px + ny * py + nz * pz
    origin = -(nx * W[i, 0] + ny * W[i, 1] + nz * W[i, 2])
    scale = (nx * nx + ny * ny + nz * nz) * (px * px + py * py + pz * pz)
    return origin * height < 0.0 or height * height <= _FLAT * _FLAT * scale


@procedure
def _nearest(W: Floats[3], count: int, weights: Shaped[4], v: Shaped[3]) -> int:
    """Writes the point v and its weights; the corners that it depends on, as bits: 15 if the origin is inside.

    Args:
        W: the corners.
        count: their number, 1 to 4.
    """
    if count == 1:
        return _on_point(W, 0, weights, v)
    if count == 2:
        return _on_segment(W, 0, 1, weights, v)
    if count == 3:
        return _on_triangle(W, 0, 1, 2, weights, v)
    mask = 15
    best = math.inf
    other = local(4)
    other_v = local(3)
    for m in range(4):
        i = 0 if m > 0 else 1
        j = 1 if m > 1 else 2
        k = 2 if m > 2 else 3
        if _beyond(W, i, j, k, m):
            found = _on_triangle(W, i, j, k, other, other_v)
            square = other_v[0] * other_v[0] + other_v[1] * other_v[1] + other_v[2] * other_v[2]
            if square < best:
                best = square
                mask = found
                for c in range(4):
                    weights[c] = other[c]
                for c in range(3):
                    v[c] = other_v[c]
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
    W, P, B = points.W, points.P, couple.B
    v = local(3)
    trial = local(4)
    x, y, z = B[9], B[10], B[11]
    length = math.sqrt(x * x + y * y + z * z)
    if length < 1e-9 * size:
        x, y, z, length = 1.0, 0.0, 0.0, 1.0
    count = 0
    square = math.inf
    status = APART
    for _ in range(_ROUNDS):
        nx, ny, nz = x / length, y / length, z / length
        bound = lift(couple, nx, ny, nz, points, count)
        if bound > most:
            found[0], found[1], found[2] = nx, ny, nz
            return FAR_APART
        if count > 0 and length - bound <= exact * length + _ROUNDING * size:
            break
        mask = _nearest(W, count + 1, trial, v)
        now = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
        if mask == 15 or now <= _CLOSE * _CLOSE * size * size:
            status = INSIDE if mask == 15 else TOUCHING
            break
        if now >= square:
            break
        square = now
        x, y, z = v[0], v[1], v[2]
        length = math.sqrt(square)
        found[0], found[1], found[2], found[3] = x / length, y / length, z / length, length
        kept = 0
        for i in range(count + 1):
            if mask >> i & 1 == 1:
                weights[kept] = trial[i]
                for c in range(3):
                    W[kept, c] = W[i, c]
                    P[kept, c] = P[i, c]
                kept += 1
        count = kept
        found[7] = float(count)
    return status
