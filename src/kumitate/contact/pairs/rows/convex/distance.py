"""The distance of two convex solids (Gilbert, Johnson, Keerthi, IEEE Journal of Robotics and Automation 4, 1988)."""

from __future__ import annotations

import math

from .....procedure import Floats, Shaped, local, procedure
from ..solids import Solids
from .simplex import nearest
from .support import lift

__all__ = ["APART", "FAR_APART", "INSIDE", "TOUCHING", "distance"]

#: What is found: further apart than asked, apart, so close that depth.py finds the direction, overlapping.
FAR_APART, APART, TOUCHING, INSIDE = 0, 1, 2, 3
_ROUNDS = 100
#: Rounding of distances, as a part of the size.
_ROUNDING = 4e-16
#: Solids closer than this part of their size have a direction too much in error.
_CLOSE = 1e-7


@procedure
def distance(
    solids: Solids, a: int, b: int, B: Shaped[12], size: float, most: float, exact: float, W: Floats[3], P: Floats[3],
    weights: Shaped[4], found: Shaped[8],
) -> int:  # fmt: skip
    """FAR_APART, APART, TOUCHING or INSIDE, for the solids without their balls.

    Args:
        B: pose of solid b in the frame of solid a.
        size: of both solids together [m].
        most: the largest distance of interest [m].
        exact: the distance is exact to this part of it.
        W, P: room for four points; those of a tetrahedron around the origin, if it is inside.
        weights: of the corners of the simplex in the point closest to the origin.
        found: where the normal from A to B and the distance are written, if they are apart, and in [7] the number of corners;
            if they are far apart, a direction along which they are.
    """
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
        bound = lift(solids, a, b, B, nx, ny, nz, W, P, count)
        if bound > most:
            found[0], found[1], found[2] = nx, ny, nz
            return FAR_APART
        if count > 0 and length - bound <= exact * length + _ROUNDING * size:
            break
        mask = nearest(W, count + 1, trial, v)
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
